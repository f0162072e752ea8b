"""What can stand in the way of a change of the library, in words."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.atomic_file import write_problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def written(what: str) -> Iterator[None]:
    """Turns an `OSError` of what is written inside into an `AppError` about `what`."""
    try:
        yield
    except OSError as error:
        raise AppError(write_problem(error, what=what, kept="Nothing is lost.")) from error


def unknown(model_id: str) -> Problem:
    """An id that no model has."""
    return Problem(
        code="model_unknown",
        headline=f"There is no model “{model_id[:200]}” in the library.",
        advice="See which there are: dflash-desktop models list",
        remedies=(Remedy.CHOOSE_MODEL,),
    )


def already_ours(folder: Path) -> Problem:
    """A folder that is in the library anyway."""
    return Problem(
        code="already_ours",
        headline=f"“{folder.name[:100]}” is in the library already.",
        advice="It can be used as it is.",
        detail=str(folder),
    )


def not_deleted(title: str, error: OSError) -> Problem:
    """The disk did not let something go."""
    return Problem(
        code="not_deleted",
        headline=f"“{title}” could not be removed completely.",
        advice="What is left is shown under leftovers, where it can be removed again.",
        detail=str(error),
        remedies=(Remedy.RETRY,),
    )


def in_use(title: str, *, detail: str = "") -> Problem:
    """A model that is loaded, here or in another program."""
    return Problem(
        code="model_in_use",
        headline=f"“{title}” is in use now.",
        advice="Load another model, or close the program that uses it, then try again.",
        detail=detail,
        remedies=(Remedy.RETRY,),
    )


def not_removable(title: str, *, detail: str = "") -> Problem:
    """The library's folder may not be written."""
    return Problem(
        code="not_removable",
        headline=f"“{title}” could not be removed: its folder does not allow it.",
        advice="Check the rights of the folder shown in the details. Nothing has changed.",
        detail=detail,
        remedies=(Remedy.RETRY,),
    )
