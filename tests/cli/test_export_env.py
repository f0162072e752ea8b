"""`export-env`: what it prints for programs and people, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.test_json_forms import documented_fields, printed_fields
from tests.export_environment_fixture import CACHE_DIR
from tests.fakes.export_tools import index_settings

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str, home: Path, env: dict[str, str] | None = None) -> tuple[int, str, str]:
    finished = subprocess.run(
        [sys.executable, "-m", "dflash_desktop", "export-env", *arguments],
        env=os.environ | {"DFLASH_HOME": str(home)} | (env or {}),
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )
    return finished.returncode, finished.stdout, finished.stderr


def test_the_status_is_documented_and_names_what_is_for_what(tmp_path: Path) -> None:
    code, output, _ = run("status", "--json", home=tmp_path)
    printed = json.loads(output)
    assert code == 0
    assert printed_fields(printed) == documented_fields("export-env status") - {"environments"}
    states = {one["id"]: one["state"] for one in printed["environments"]}
    assert set(states.values()) == {"absent"}
    assert next(iter(states)) == "transformers-5.5"

    code, output, _ = run("status", "development", home=tmp_path)
    assert code == 0
    assert "nobody has checked" in output


@pytest.mark.export
def test_an_installation_prints_documented_objects_one_a_line(export_python: Path) -> None:
    code, output, _ = run("install", "--json", home=CACHE_DIR)
    lines = [json.loads(line) for line in output.splitlines()]
    assert code == 0
    assert [line["event"] for line in lines] == ["progress", "done"]
    assert lines[1]["environments"][0]["state"] == "ready"
    assert not {f for line in lines for f in printed_fields(line)} - documented_fields(
        "export-env install"
    )


def test_a_failure_is_one_object_for_programs_and_two_sentences_for_people(
    tmp_path: Path,
) -> None:
    code, output, _ = run("install", "--json", home=tmp_path, env=index_settings(None))
    *_, last = (json.loads(line) for line in output.splitlines())
    assert code == 1
    assert (last["event"], last["code"]) == ("failed", "no_network")

    code, output, errors = run("install", home=tmp_path, env=index_settings(None))
    assert (code, output) == (1, "")
    assert "there is no connection" in errors


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("remove",), "export_environment_unnamed"),
        (("remove", "transformers-5.5", "--all"), "export_environment_unnamed"),
        (("install", "transformers-9"), "export_environment_unknown"),
    ],
)
def test_what_makes_no_sense_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], code: str
) -> None:
    exit_code, output, _ = run(*arguments, "--json", home=tmp_path)
    assert exit_code == 1
    assert json.loads(output)["code"] == code
