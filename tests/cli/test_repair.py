"""`repair` as programs and people meet it."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.cli.repair import RepairResult
from dflash_desktop.services.model_inspection import inspect_model
from tests.cli.test_json_forms import assert_documented, run
from tests.fakes.damaged_pairs import strip_locators
from tests.fakes.ir_models import write_draft, write_target

if TYPE_CHECKING:
    from pathlib import Path


def test_a_repair_and_its_undo_in_the_documented_form(tmp_path: Path) -> None:
    target, draft = write_target(tmp_path / "target"), write_draft(tmp_path / "draft")
    strip_locators(target)
    target.remove("openvino_tokenizer.xml")
    names = (str(target.folder), str(draft.folder))

    code, printed = run("repair", *names)
    assert code == 2  # the tokenizer is still missing
    assert_documented("repair", printed)
    assert printed["undo"] == f"dflash-desktop repair --undo {' '.join(names)}"
    assert inspect_model(target.folder).is_annotated()

    code, printed = run("repair", "--undo", *names)
    assert code == 2
    assert printed["undo"] is None
    assert printed["changed"] == [
        {"subject": "target", "file": "openvino_model.xml", "written": "as before the repair"}
    ]
    assert not inspect_model(target.folder).is_annotated()


def test_an_undo_without_a_repair_says_that_there_is_nothing_to_take_back() -> None:
    result = RepairResult((), (), (), (), undo="", is_undo=True)
    assert result.as_text() == "Nothing was repaired here, so there is nothing to take back."


@pytest.mark.skipif(sys.platform == "win32", reason="cmd reads quotes its own way")
def test_the_undo_can_be_pasted_whatever_the_folder_is_called(tmp_path: Path) -> None:
    target = write_target(tmp_path / "$HOME `it's` größe")
    strip_locators(target)
    _, printed = run("repair", str(target.folder))
    line = str(printed["undo"])
    assert shlex.split(line) == ["dflash-desktop", "repair", "--undo", str(target.folder)]
    assert f"'{tmp_path}" in line  # so that the shell replaces nothing in it


def test_a_check_that_nothing_can_be_checked_with_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    target = write_target(tmp_path / "target")
    strip_locators(target)
    code, printed = run("repair", str(target.folder), "--check")
    assert code == 2
    assert_documented("error", printed)
    assert not inspect_model(target.folder).is_annotated()
