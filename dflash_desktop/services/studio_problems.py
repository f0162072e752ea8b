"""What stands in the way of making pictures, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.picture_request import MAX_COUNT
from dflash_desktop.domain.problems import Problem, Remedy

if TYPE_CHECKING:
    from dflash_desktop.domain.image_models import ImageModel


def bad_count(count: int) -> Problem:
    """None, or far too many."""
    return Problem(
        code="picture_count",
        headline=f"{count} pictures cannot be asked for at once.",
        advice=f"Choose between 1 and {MAX_COUNT}.",
    )


def too_large(model: ImageModel, problem: Problem) -> Problem:
    """In place of the words about loading a pair, which speak of drafts."""
    return Problem(
        code=problem.code,
        headline="This was stopped: the machine was about to run out of memory.",
        advice=f"Choose a smaller size, close other programs, or take a smaller model than "
        f"{model.title}.",
        detail=problem.detail,
        remedies=(Remedy.CHOOSE_MODEL,),
    )
