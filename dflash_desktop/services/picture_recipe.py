"""What is kept of how a picture was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.made_picture import PictureRecipe
from dflash_desktop.domain.model_facts import parse_version
from dflash_desktop.services.model_inspection import installed_runtime

if TYPE_CHECKING:
    from dflash_desktop.domain.picture_queue import QueuedPicture


def recipe_of(item: QueuedPicture, device_name: str) -> PictureRecipe:
    """All settings of a picture that was just made, without any path."""
    request = item.request
    uses_guidance = item.model.facts.uses_guidance(
        has_negative_prompt=bool(request.negative_prompt)
    )
    return PictureRecipe(
        prompt=request.prompt,
        negative_prompt=request.negative_prompt,
        width=request.width,
        height=request.height,
        steps=request.steps,
        guidance=request.guidance if uses_guidance else None,
        seed=request.seed,
        model_id=item.model.id,
        model_title=item.model.title,
        kind=item.model.kind,
        runtime=_runtime(),
        device_name=device_name,
        strength=None if request.source is None else request.strength,
        source_id=item.source_id,
        has_mask=request.mask is not None,
    )


def _runtime() -> str:
    version = parse_version(installed_runtime() or "")
    return "" if version is None else ".".join(str(part) for part in version)
