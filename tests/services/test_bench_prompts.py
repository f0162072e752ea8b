from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pytest

from dflash_desktop.domain.benchmark import PromptKind
from dflash_desktop.paths import resources_dir
from dflash_desktop.services.bench_picture import draw_bench_picture
from dflash_desktop.services.bench_prompts import load_bench_prompts

if TYPE_CHECKING:
    from pathlib import Path


def test_every_kind_has_two_prompts_and_one_of_them_is_fast() -> None:
    prompts = load_bench_prompts()
    full = Counter(prompt.kind for prompt in prompts.full)
    of_text = set(PromptKind) - {PromptKind.PICTURE}
    assert set(full) == of_text
    assert min(full.values()) >= 2
    assert Counter(prompt.kind for prompt in prompts.fast) == dict.fromkeys(of_text, 1)
    assert set(prompts.fast) <= set(prompts.full)


def test_questions_about_a_picture_are_asked_apart() -> None:
    prompts = load_bench_prompts()
    assert {prompt.kind for prompt in prompts.pictures} == {PromptKind.PICTURE}
    assert prompts.of_pictures(fast=False) == prompts.pictures
    assert prompts.of_pictures(fast=True) == prompts.pictures[:1]
    assert len(prompts.pictures) >= 2


def test_the_picture_that_is_asked_about_is_drawn_as_it_is_described(tmp_path: Path) -> None:
    from PIL import Image

    with Image.open(draw_bench_picture(tmp_path / "shapes.png")) as image:
        assert (image.size, image.mode, image.format) == ((448, 448), "RGB", "PNG")
        colours = {image.getpixel(place) for place in ((120, 130), (320, 140), (224, 350), (9, 9))}
    assert len(colours) == 4


def test_no_prompt_is_asked_twice_and_the_warm_up_is_not_measured() -> None:
    prompts = load_bench_prompts()
    texts = [prompt.text for prompt in prompts.full]
    assert len(set(texts)) == len(texts)
    assert prompts.warm_up.strip()
    assert prompts.warm_up not in texts


@pytest.mark.parametrize(
    ("old", "new"),
    [('"version": 1', '"version": 2'), ('"prose"', '"poetry"'), ('"fast"', '"quick"')],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, old: str, new: str) -> None:
    text = (resources_dir() / "bench_prompts.json").read_text(encoding="utf-8")
    assert old in text
    file = tmp_path / "prompts.json"
    file.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(msgspec.ValidationError):
        load_bench_prompts(file)
