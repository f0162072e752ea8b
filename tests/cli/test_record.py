"""`record` as programs and people meet it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.record_comparison import compare_records
from dflash_desktop.services.diagnostics import PrivateFacts
from dflash_desktop.services.record_file import read_record, write_record
from tests.cli.test_json_forms import assert_documented, run
from tests.domain.records import record
from tests.fakes.damaged_pairs import strip_locators
from tests.fakes.ir_models import write_draft, write_target

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.openvino
def test_a_pair_in_the_documented_form(tmp_path: Path) -> None:
    target = write_target(tmp_path / "target")
    draft = write_draft(tmp_path / "draft")
    names = str(target.folder), str(draft.folder)
    file = tmp_path / "mine.json"

    code, printed = run("record", *names, "--output", str(file))

    assert code == 0
    assert_documented("record", printed)
    assert printed["file"] == str(file)
    made = read_record(file)
    assert [model.name for model in made.models] == ["target", "draft"]
    assert {one.path for one in made.models[1].files} == {
        "config.json",
        "openvino_model.bin",
        "openvino_model.xml",
    }
    assert made.versions["openvino"]
    assert made.machine.devices
    assert str(tmp_path) not in file.read_text("utf-8")

    draft.edit('type="ReadValue"', 'type="Other"')
    other = tmp_path / "other.json"
    assert run("record", *names, "--output", str(other))[0] == 1  # doubtful, and written
    code, compared = run("record", "--compare", str(file), str(other))
    assert code == 1
    comparison = compared["comparison"]
    assert isinstance(comparison, dict)
    assert {one["what"] for one in comparison["differences"]} == {
        "draft openvino_model.xml",
        "contract draft_stateless",
    }


@pytest.mark.openvino
def test_the_last_check_and_a_repair_are_in_the_record(tmp_path: Path) -> None:
    target, draft = write_target(tmp_path / "target"), write_draft(tmp_path / "draft")
    names = str(target.folder), str(draft.folder)
    file, later = tmp_path / "mine.json", tmp_path / "later.json"
    run("record", *names, "--output", str(file))
    assert read_record(file).check is None

    strip_locators(target)
    assert run("repair", *names)[0] == 0
    draft.edit("1,2,3", "1,2,48")
    assert run("check", *names)[0] == 2
    _, printed = run("record", *names, "--output", str(later))

    assert_documented("record", printed)
    kept = printed["check"]
    assert isinstance(kept, dict)
    assert kept["verdict"] == "not_attached"
    made = read_record(later)
    assert made.check is not None
    assert made.check.causes
    assert [model.repaired for model in made.models] == [("openvino_model.xml",), ()]
    differences = compare_records(read_record(file), made)
    assert {"check", "target repaired"} <= {one.what for one in differences}


def test_two_records_in_the_documented_form(tmp_path: Path) -> None:
    private = PrivateFacts(tmp_path, "nobody", "nowhere")
    for name in ("a.json", "b.json"):
        write_record(tmp_path / name, record(), private)
    a, b = str(tmp_path / "a.json"), str(tmp_path / "b.json")

    code, printed = run("record", "--compare", a, b)
    assert code == 0
    comparison = printed["comparison"]
    assert isinstance(comparison, dict)
    assert comparison["differences"] == []
    assert comparison["left"]["speedup"] == 2.5

    text = (tmp_path / "b.json").read_text("utf-8").replace("2026.4.1", "2026.5.0")
    (tmp_path / "b.json").write_text(text, encoding="utf-8")
    code, printed = run("record", "--compare", a, b)
    assert code == 1
    assert_documented("record", printed)
    assert json.dumps(printed).count("likely") == 2  # the version, and what was measured with it


def test_what_is_no_record_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    for arguments in (["--compare", str(tmp_path / "x.json"), "no.json"], ["nowhere"]):
        code, printed = run("record", *arguments)
        assert code == 2
        assert_documented("error", printed)
    assert run("record")[0] == 2
