from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pytest

from dflash_desktop.domain.benchmark import PromptKind
from dflash_desktop.paths import resources_dir
from dflash_desktop.services.bench_prompts import load_bench_prompts

if TYPE_CHECKING:
    from pathlib import Path


def test_every_kind_has_two_prompts_and_one_of_them_is_fast() -> None:
    prompts = load_bench_prompts()
    full = Counter(prompt.kind for prompt in prompts.full)
    assert set(full) == set(PromptKind)
    assert min(full.values()) >= 2
    assert Counter(prompt.kind for prompt in prompts.fast) == dict.fromkeys(PromptKind, 1)
    assert set(prompts.fast) <= set(prompts.full)


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
