"""What the commands really print is what docs/json.md says, field by field."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dflash_desktop import cli

REPOSITORY = Path(__file__).parents[2]
DOCUMENTS = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "docs/json.md")]


def documented_fields(form: str) -> set[str]:
    """The fields in the table under the heading `form`."""
    text = (REPOSITORY / "docs" / "json.md").read_text(encoding="utf-8")
    section = re.split(r"^## ", text, flags=re.MULTILINE)
    (body,) = (part for part in section if part.startswith(f"{form}\n"))
    return set(re.findall(r"^\| `([\w.\[\]]+)` \|", body, flags=re.MULTILINE))


def printed_fields(value: object, name: str = "") -> set[str]:
    """The names of everything in a JSON object, as the tables write them."""
    match value:
        case dict():
            dot = f"{name}." if name else ""
            return {f for key in value for f in printed_fields(value[key], f"{dot}{key}")}
        case [dict(), *_]:
            return {f for item in value for f in printed_fields(item, f"{name}[]")}
        case _:
            return {name}


def without_parts_of_null(fields: set[str], printed: set[str]) -> set[str]:
    """A field that is null, or an empty list, does not print the fields inside it."""
    return {f for f in fields if not any(f.startswith((f"{p}.", f"{p}[]")) for p in printed)}


def run(*arguments: str, env: dict[str, str] | None = None) -> tuple[int, dict[str, object]]:
    """One command in a process of its own; its exit code and the one object it printed."""
    finished = subprocess.run(
        [sys.executable, "-m", "dflash_desktop", *arguments, "--json"],
        env={**os.environ, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=170,
    )
    assert finished.stdout, finished.stderr
    printed = json.loads(finished.stdout)
    assert isinstance(printed, dict)
    return finished.returncode, printed


def assert_documented(form: str, printed: dict[str, object]) -> None:
    fields = printed_fields(printed)
    documented = documented_fields(form)
    assert fields <= documented
    assert without_parts_of_null(documented, fields) == fields
    assert printed["json_version"] == 1


@pytest.mark.openvino
def test_doctor() -> None:
    code, printed = run("doctor")

    assert code == 0
    assert_documented("doctor", printed)
    assert printed["chosen_device"]


def test_starter_status_before_anything_was_fetched() -> None:
    code, printed = run("starter", "status")

    assert code == 0
    assert_documented("starter", printed)
    assert printed["state"] == "missing"


def test_usage_error() -> None:
    code, printed = run("doctor", "--nonsense")

    assert code == 2
    assert_documented("error", printed)


def commands_in(document: Path) -> list[str]:
    """Every command line in the code of a document."""
    code = re.findall(
        r"```\w*\n(.*?)```|`([^`\n]+)`", document.read_text(encoding="utf-8"), re.DOTALL
    )
    lines = [line.strip() for block in code for part in block for line in part.splitlines()]
    return [line for line in lines if re.search(r"(?:^|/|\\)dflash-desktop(?: |$)", line)]


def test_every_command_in_the_documents_exists() -> None:
    lines = {line for document in DOCUMENTS for line in commands_in(document)}
    lines |= {line.strip() for line in cli.EXAMPLES.splitlines() if line.startswith("  dflash")}
    assert len(lines) > 5
    for line in lines:
        words = shlex.split(line.split("   ")[0].replace("\\", "/"), comments=True)
        arguments = words[1:]
        if arguments and "--help" not in arguments:
            cli.build_parser().parse_args(arguments)  # raises UsageError for what does not exist
