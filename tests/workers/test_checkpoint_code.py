"""What counts as a checkpoint's own code: all that transformers would run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.workers.checkpoint_code import own_code, without_code

if TYPE_CHECKING:
    from pathlib import Path

MAP = '{"auto_map": {"AutoModel": "draft.Draft"}}'


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("draft.py", ""),
        ("DRAFT.Py", ""),
        ("custom_generate/generate.py", ""),
        ("custom_generate/GENERATE.PY", ""),
        ("config.json", MAP),
        ("CONFIG.JSON", MAP),
        ("tokenizer_config.json", MAP),
        ("config.json", MAP.replace("auto_map", "auto\\u005fmap")),
        ("config.json", MAP.replace("auto_map", "\\u0061uto\\u005Fm\\u0061p")),
        ("config.json", MAP + " " * (64 << 20)),
    ],
    ids=[
        "a file",
        "a file, as Windows reads its name",
        "in a folder",
        "in a folder, as Windows reads its name",
        "named",
        "named, as Windows reads its name",
        "of the tokenizer",
        "escaped",
        "more so",
        "padded",
    ],
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


def test_code_behind_a_link_to_a_folder_is_found(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "draft"
    elsewhere.mkdir()
    (elsewhere / "generate.py").touch()
    folder.mkdir()
    try:
        (folder / "custom_generate").symlink_to(elsewhere, target_is_directory=True)
    except OSError:
        pytest.skip("this account may not make links")
    assert own_code(folder) == ("custom_generate/generate.py",)


def test_what_names_code_is_left_out_at_any_depth(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    part = {"auto_map": {"AutoModel": "draft.Draft"}, "hidden_size": 8}
    file.write_text(json.dumps({**part, "text_config": part, "parts": [part]}), encoding="utf-8")
    left = {"hidden_size": 8}
    assert without_code(file) == {**left, "text_config": left, "parts": [left]}


@pytest.mark.parametrize("text", ["[]", "7", "[" * 100_000], ids=["a list", "a number", "deep"])
def test_what_holds_no_object_is_said_to(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.json"):
        without_code(file)
