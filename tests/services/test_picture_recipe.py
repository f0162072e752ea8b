"""A recipe says what a picture was made with, and nothing that had no part in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dflash_desktop.domain.image_models import ImageKind
from dflash_desktop.domain.picture_queue import QueuedPicture
from dflash_desktop.domain.picture_request import PictureRequest
from dflash_desktop.services.gallery_store import parameters_text
from dflash_desktop.services.picture_recipe import recipe_of
from tests.fakes.image_models import MODEL


@pytest.mark.parametrize(
    ("kind", "negative", "guidance"),
    [
        (ImageKind.QWEN_IMAGE, "", None),
        (ImageKind.QWEN_IMAGE, "fog", 7.5),
        (ImageKind.STABLE_DIFFUSION, "", 7.5),
    ],
)
def test_guidance_that_had_no_effect_is_not_said_to_be_used(
    kind: ImageKind, negative: str, guidance: float | None
) -> None:
    request = PictureRequest(
        "a cat", 512, 512, steps=2, guidance=7.5, seed=1, negative_prompt=negative
    )
    recipe = recipe_of(QueuedPicture(1, 1, replace(MODEL, kind=kind), request), "CPU")
    assert recipe.guidance == guidance
    assert ("CFG scale: 7.5" in parameters_text(recipe)) == (guidance is not None)
