"""A script tells a fault from a warning by the exit code alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop import cli
from tests.cli.test_json_forms import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

GRADED = ("verify", "check", "repair", "ovms", "record", "import", "models")
WORDS = "A fault is 2 as well: nothing says that it is good."


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        *((f"{command} nowhere", 2) for command in GRADED[:-1]),
        ("record --compare no.json no.json", 2),
        ("ovms --check-log no.log", 2),
        ("models verify no/such", 2),
        ("models repair no/such", 2),
        ("models remove no/such", 1),
        ("chat --prompt Hello", 1),
    ],
)
def test_a_fault_is_never_the_code_of_a_warning(
    arguments: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DFLASH_HOME", str(tmp_path / "home"))
    assert cli.main([*arguments.split(), "--json"]) == code
    assert '"error": {' in capsys.readouterr().out


@pytest.mark.parametrize("command", GRADED)
def test_the_help_of_what_grades_says_so(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([command, "--help"]) == 0
    assert WORDS in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("document", ["README.md", "docs/json.md"])
def test_the_documents_say_the_same(document: str) -> None:
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    assert WORDS in " ".join(text.split())
