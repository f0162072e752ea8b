"""What counts as a checkpoint's own code: all that transformers would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.workers.checkpoint_code import own_code

if TYPE_CHECKING:
    from pathlib import Path

MAP = '{"auto_map": {"AutoModel": "draft.Draft"}}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("draft.py", ""),
        ("custom_generate/generate.py", ""),
        ("config.json", MAP),
        ("tokenizer_config.json", MAP),
        ("config.json", MAP.replace("auto_map", "auto\\u005fmap")),
        ("config.json", MAP.replace("auto_map", "\\u0061uto\\u005Fm\\u0061p")),
        ("config.json", MAP + " " * (64 << 20)),
    ],
    ids=["a file", "in a folder", "named", "of the tokenizer", "escaped", "more so", "padded"],
)
def test_code_is_found_wherever_transformers_finds_it(
    tmp_path: Path, name: str, text: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")
    assert own_code(tmp_path) == (name,)


def test_a_checkpoint_without_code_has_none(tmp_path: Path) -> None:
    (tmp_path / "original").mkdir()
    for name in ("config.json", "original/params.json"):
        (tmp_path / name).write_text('{"architectures": ["Qwen3ForCausalLM"]}', encoding="utf-8")
    assert own_code(tmp_path) == ()
