"""What the commands really print is what docs/json.md says, field by field."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import ANY

import pytest

from dflash_desktop import cli
from dflash_desktop.paths import app_paths
from dflash_desktop.services.fastest_way import measured_ways
from dflash_desktop.services.measurement_store import MeasurementStore
from tests.fakes.vision_models import vision_pair, write_picture
from tests.starter_fixture import starter_paths

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import PairFolders

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
    """Every printed field has its row, and every row its field unless what holds it is null."""
    documented, found = documented_fields(form), printed_fields(printed)
    empty = {name for name in found if parts_of(name, documented)}
    absent = {part for name in empty for part in parts_of(name, documented)}
    values = {name for name in documented if not parts_of(name, documented)}
    assert found <= documented
    assert found - empty == values - absent
    assert printed["json_version"] == 1


def parts_of(name: str, fields: set[str]) -> set[str]:
    return {field for field in fields if field.startswith((f"{name}.", f"{name}[]."))}


@pytest.mark.openvino
def test_doctor() -> None:
    code, printed = run("doctor")

    assert code == 0
    assert_documented("doctor", printed)
    assert printed["chosen_device"]


@pytest.mark.openvino
def test_self_test() -> None:
    code, printed = run("self-test", "--no-window")

    assert code == 0
    assert_documented("self-test", printed)
    assert printed["passed"] is True


@pytest.mark.starter
def test_self_test_asks_the_starter_pair(home_with_starter: dict[str, str]) -> None:
    code, printed = run("self-test", "--no-window", env=home_with_starter)

    assert code == 0
    checks = printed["checks"]
    assert isinstance(checks, list)
    (starter,) = (check for check in checks if check["code"] == "starter")
    assert starter["detail"].startswith("It answers")


@pytest.mark.parametrize("machine", ["arc_130v_16gb", "arc_pro_b60", "cpu_only"])
def test_doctor_and_recommend_of_a_recorded_machine(machine: str) -> None:
    file = str(REPOSITORY / "tests" / "data" / "machines" / f"{machine}.json")

    code, printed = run("doctor", "--hardware", file)
    assert code == 0
    assert_documented("doctor", printed)

    code, printed = run("recommend", "--hardware", file)
    assert code == 0
    assert_documented("recommend", printed)


def test_starter_status_before_anything_was_fetched() -> None:
    code, printed = run("starter", "status")

    assert code == 0
    assert_documented("starter", printed)
    assert printed["state"] == "missing"


@pytest.fixture
def home_with_starter(starter_pair: PairFolders, tmp_path: Path) -> dict[str, str]:
    """An installation of its own that shares only the models with other tests."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "models").symlink_to(starter_paths().models_dir)
    return {"DFLASH_HOME": str(tmp_path)}


@pytest.mark.starter
def test_starter_status_when_it_is_ready(home_with_starter: dict[str, str]) -> None:
    code, printed = run("starter", "status", env=home_with_starter)

    assert code == 0
    assert_documented("starter", printed)
    assert printed["state"] == "ready"


@pytest.mark.starter
def test_verify_knows_the_pairs_of_the_library(home_with_starter: dict[str, str]) -> None:
    code, printed = run("verify", "starter", env=home_with_starter)

    assert code == 0
    assert_documented("verify", printed)
    assert printed["verdict"] == "good"


@pytest.mark.starter
def test_chat(home_with_starter: dict[str, str]) -> None:
    question = ("chat", "--prompt", "Count from one to twenty.", "--assistant-tokens", "3")
    code, printed = run(*question, "--max-tokens", "48", env=home_with_starter)

    assert code == 0
    assert_documented("chat", printed)
    assert printed["draft"] == {"state": "on", "reason": ANY, "assistant_tokens": 3}
    assert printed["text"]
    stats = printed["stats"]
    assert isinstance(stats, dict)
    assert stats["tokens"] - stats["steps"] == stats["accepted_tokens"] > 0
    assert stats["speedup"] is None


@pytest.mark.starter
def test_bench_and_the_speedup_that_the_chat_shows_after_it(
    home_with_starter: dict[str, str],
) -> None:
    code, printed = run("bench", "--fast", "--assistant-tokens", "2", env=home_with_starter)

    assert code == 0
    assert_documented("bench", printed)
    _, answer = run("chat", "--prompt", "Say hello.", env=home_with_starter)
    stats = answer["stats"]
    assert isinstance(stats, dict)
    assert stats["baseline_tokens_per_second"] > 0


@pytest.mark.openvino
def test_chat_and_bench_with_a_model_that_sees(tmp_path: Path) -> None:
    pair = vision_pair(tmp_path, "qwen2_5_vl")
    photo = str(write_picture(tmp_path / "photo.jpg", 300, 200))
    models = ("--target", str(pair.target_dir), "--draft", str(pair.draft_dir))
    question = ("chat", "--prompt", "What is this?", "--image", photo, "--max-tokens", "24")

    code, printed = run(*question, *models)

    assert code == 0
    assert_documented("chat", printed)
    stats, pictures = printed["stats"], printed["pictures"]
    assert isinstance(stats, dict)
    assert isinstance(pictures, list)
    assert (pictures[0]["title"], pictures[0]["original_width"]) == ("photo.jpg", 300)
    assert stats["picture_tokens"] > 0
    assert 0 < stats["picture_seconds"] < stats["first_token_seconds"]
    assert stats["accepted_tokens"] > 0

    code, printed = run("bench", "--fast", "--assistant-tokens", "3", *models)

    assert code == 0
    assert_documented("bench", printed)
    assert printed["chosen_with_pictures"]


@pytest.mark.openvino
def test_a_draft_and_the_targets_own_head_are_measured_in_one_go(tmp_path: Path) -> None:
    pair = vision_pair(tmp_path, "qwen3_5")
    models = ("--target", str(pair.target_dir), "--draft", str(pair.draft_dir))

    code, printed = run("bench", "--fast", "--assistant-tokens", "3", "--rivals", *models)

    assert code == 0
    assert_documented("bench", printed)
    rivals = printed["rivals"]
    assert isinstance(rivals, dict)
    titles = [way["pair"] for way in rivals["ways"]]
    assert titles == ["qwen3_5_target with qwen3_5_draft", "qwen3_5_target with its own head"]
    fastest = max(rivals["ways"], key=lambda way: way["speedup"] or 1.0)
    assert rivals["used"] == fastest["pair"]
    store = MeasurementStore(app_paths().measurements_file)
    ways = (pair, replace(pair, draft_dir=pair.target_dir))
    compared = measured_ways(ways, store)
    assert compared is not None
    assert [report.pair_title for report in compared.reports] == titles
    assert compared.statement == rivals["statement"]
    for report in compared.reports:
        runs = [run for result in report.prompts for run in result.runs]
        assert any(run.tokens_per_step and run.tokens_per_step > 1 for run in runs), "accepted"


@pytest.mark.starter
def test_a_picture_for_a_model_of_text_is_refused_before_it_is_loaded(
    home_with_starter: dict[str, str], tmp_path: Path
) -> None:
    photo = str(write_picture(tmp_path / "photo.png", 30, 20))

    code, printed = run("chat", "--prompt", "What?", "--image", photo, env=home_with_starter)

    assert code == 1
    assert_documented("error", printed)
    error = printed["error"]
    assert isinstance(error, dict)
    assert error["code"] == "model_sees_no_pictures"
    assert "--target" in str(error["advice"])  # in the terminal nothing waits, as in the window


def test_a_command_that_needs_the_starter_pair_says_how_to_get_it() -> None:
    code, printed = run("chat", "--prompt", "Hello")

    assert code == 1
    assert_documented("error", printed)
    error = printed["error"]
    assert isinstance(error, dict)
    assert error["code"] == "starter_missing"


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
