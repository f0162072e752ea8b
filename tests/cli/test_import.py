"""`import` as programs meet it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.test_json_forms import assert_documented, run
from tests.fakes.gguf_files import STRING, small_gguf

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.openvino
def test_a_small_file_in_the_documented_form(tmp_path: Path) -> None:
    file = small_gguf("qwen3")
    file.metadata["tokenizer.ggml.pre"] = (STRING, "unheard-of")
    home = {"DFLASH_HOME": str(tmp_path / "home")}
    path = str(file.write(tmp_path / "tiny.gguf"))

    code, printed = run("import", path, "--weights", "keep", env=home)

    assert code == 1  # the runtime cuts its text another way
    notes = printed["notes"]
    assert isinstance(notes, list)
    assert "unheard-of" in notes[0]
    assert (printed["id"], printed["weights"], printed["precision"]) == ("Tiny", "keep", "int8")
    assert_documented("import", printed)
    code, verified = run("verify", "Tiny", env=home)
    assert (code, verified["verdict"]) == (0, "good")
    code, refused = run("import", path, env=home)
    assert code == 2
    assert_documented("error", refused)
    assert refused["error"]["code"] == "name_taken"  # type: ignore[index]


def test_a_file_that_is_no_gguf_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"<html>")
    code, printed = run("import", str(tmp_path / "x.gguf"))
    assert code == 2
    assert_documented("error", printed)
