"""`export plan` as programs and people meet it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_json_forms import assert_documented, run
from tests.exporting.checkpoints import write_checkpoint

if TYPE_CHECKING:
    from pathlib import Path


def test_a_plan_in_the_documented_form(tmp_path: Path) -> None:
    target = write_checkpoint(tmp_path / "qwen", "text")
    draft = write_checkpoint(tmp_path / "draft", "draft", own_code=True)

    code, printed = run(
        *("export", "plan", "--target", str(target), "--draft", str(draft)),
        *("--draft-weights", "int4", "--all-layers"),
    )

    assert code == 0
    assert_documented("export plan", printed)
    assert printed["verdict"] == "fits"
    steps = printed["steps"]
    assert isinstance(steps, list)
    assert [step["name"] for step in steps] == [
        *("environment", "convert-target", "prepare-draft", "convert-draft"),
        *("check-target", "check-draft", "measure", "finish"),
    ]
    assert str(tmp_path) not in json.dumps(steps)
    assert "qwen-int4-ov" in steps[1]["command"]
    assert "--all-layers" in steps[3]["command"]
    assert "draft.py" in str(printed["warnings"])


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("nowhere", "export_source_unknown"),
        ("../../etc/passwd", "export_source_unknown"),
        ("a/b/c", "export_source_unknown"),
    ],
)
def test_what_is_no_checkpoint_is_told(source: str, code: str) -> None:
    exit_code, printed = run("export", "plan", "--target", source)

    assert exit_code == 2
    error = printed["error"]
    assert isinstance(error, dict)
    assert error["code"] == code
