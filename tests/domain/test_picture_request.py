"""What is asked of a model for pictures is checked before the runtime sees it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.image_models import ImageKind, ImageModel, kind_of_class
from dflash_desktop.domain.picture_request import (
    MAX_SEED,
    MAX_SIDE_PX,
    PictureRequest,
    allowed_size,
    checked_request,
    new_seed,
    size_presets,
)
from dflash_desktop.domain.problems import AppError
from tests.fakes.image_models import MODEL

QWEN = replace(MODEL, kind=ImageKind.QWEN_IMAGE, size_step_px=16, native_px=1024)
FLUX = replace(MODEL, kind=ImageKind.FLUX, has_picture_encoder=False)
REQUEST = PictureRequest("a cat", 512, 512, steps=20, guidance=7.5, seed=1)
PNG = Path("in.png")


def refusal(request: PictureRequest, model: ImageModel = MODEL) -> str:
    with pytest.raises(AppError) as caught:
        checked_request(request, model)
    assert caught.value.problem.advice
    return caught.value.problem.code


def test_a_good_request_stays_as_it_is() -> None:
    assert checked_request(REQUEST, MODEL) == REQUEST


@pytest.mark.parametrize(("width", "height"), [(513, 512), (0, 512), (512, -64), (512, 4096)])
def test_a_size_that_the_model_does_not_make_is_refused(width: int, height: int) -> None:
    assert refusal(replace(REQUEST, width=width, height=height)) == "picture_size"


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (replace(REQUEST, steps=0), "picture_steps"),
        (replace(REQUEST, steps=100_000), "picture_steps"),
        (replace(REQUEST, guidance=float("nan")), "picture_guidance"),
        (replace(REQUEST, guidance=-1.0), "picture_guidance"),
        (replace(REQUEST, seed=-1), "picture_seed"),
        (replace(REQUEST, seed=MAX_SEED + 1), "picture_seed"),
        (replace(REQUEST, prompt=" \n"), "message_blank"),
        (replace(REQUEST, negative_prompt="fog", guidance=1.0), "negative_prompt"),
        (replace(REQUEST, mask=PNG), "picture_mask"),
        (replace(REQUEST, source=PNG, strength=0.0), "picture_strength"),
        (replace(REQUEST, source=PNG, strength=0.01), "picture_strength"),
        (replace(REQUEST, source=PNG, strength=1.5), "picture_strength"),
    ],
)
def test_numbers_that_make_no_picture_are_refused(request_: PictureRequest, code: str) -> None:
    assert refusal(request_) == code


def test_what_a_kind_cannot_do_is_refused_before_it_is_loaded() -> None:
    assert refusal(replace(REQUEST, negative_prompt="fog"), FLUX) == "negative_prompt"
    assert refusal(replace(REQUEST, source=PNG), FLUX) == "picture_source"
    assert refusal(replace(REQUEST, source=PNG, mask=PNG), QWEN) == "picture_mask"
    assert (
        refusal(replace(REQUEST, source=PNG), replace(MODEL, has_picture_encoder=False))
        == "picture_source"
    )


def test_words_are_made_safe_and_a_blank_negative_prompt_is_none() -> None:
    checked = checked_request(
        replace(REQUEST, prompt=" a\0 c\ud83d ", negative_prompt="  "), MODEL
    )
    assert checked.prompt == "a c\N{REPLACEMENT CHARACTER}"
    assert checked.negative_prompt == ""


def test_a_source_saves_the_steps_that_would_undo_it() -> None:
    assert REQUEST.run_steps == 20
    assert replace(REQUEST, source=PNG, strength=0.5).run_steps == 10


@pytest.mark.parametrize("model", [MODEL, QWEN, replace(MODEL, native_px=64, size_step_px=4)])
def test_every_preset_can_be_made_and_has_about_the_usual_number_of_pixels(
    model: ImageModel,
) -> None:
    for preset in size_presets(model):
        assert allowed_size(model, preset.width, preset.height) == (preset.width, preset.height)
        across, down = (int(part) for part in preset.name.split(":"))
        assert (preset.width >= preset.height) == (across >= down)
        assert preset.width * preset.height == pytest.approx(model.native_px**2, rel=0.9)


@given(st.integers(-(10**6), 10**6), st.sampled_from([4, 8, 16, 32, 64]))
def test_the_nearest_size_is_always_a_possible_one(side: int, step: int) -> None:
    width, _ = allowed_size(replace(MODEL, size_step_px=step), side, 512)
    assert width % step == 0
    assert 64 <= width <= MAX_SIDE_PX


def test_seeds_are_not_all_the_same() -> None:
    seeds = {new_seed() for _ in range(20)}
    assert len(seeds) > 1
    assert all(0 <= seed <= MAX_SEED for seed in seeds)


def test_a_pipeline_that_only_fills_masks_is_not_one_of_the_kinds() -> None:
    assert kind_of_class("FluxFillPipeline") is None
    assert kind_of_class("QwenImagePipeline") is ImageKind.QWEN_IMAGE
