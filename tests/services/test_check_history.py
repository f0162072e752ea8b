"""Checks are kept, few of them, and a damaged file never stands in the way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.benchmark import FirstDifference
from dflash_desktop.domain.check_numbers import TextVerdict
from dflash_desktop.domain.check_summary import CheckSummary
from dflash_desktop.domain.check_verdict import Cause, CheckVerdict
from dflash_desktop.domain.pair_contract import ContractResult, Finding, Subject, Weight
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.check_history import IN_ALL, PER_PAIR, CheckHistory
from dflash_desktop.services.diagnostics import PrivateFacts
from dflash_desktop.services.pair_report import pair_report

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 28, 15, 4, tzinfo=UTC)
CHECK = CheckSummary(
    "mine",
    "My pair",
    NOW,
    CheckVerdict.WRONG_TEXT,
    (Cause("wrong_token", "It | differs.", "Report it."),),
    device_name="CPU",
    accepted=(0.5, 0.25),
    text=TextVerdict.WRONG_TOKEN,
    difference=FirstDifference(4, " one", " two", 2.5, 0.01),
)


@pytest.fixture
def history(tmp_path: Path) -> CheckHistory:
    return CheckHistory(tmp_path / "checks.json")


def test_what_is_kept_comes_back_whole_and_the_newest_first(history: CheckHistory) -> None:
    later = replace(CHECK, checked_at=NOW + timedelta(hours=1), verdict=CheckVerdict.WORKING)
    for one in (CHECK, later, replace(CHECK, pair_id="other")):
        history.add(one)
    assert history.of_pair("mine") == (later, CHECK)


def test_it_stays_small(history: CheckHistory) -> None:
    for number in range(PER_PAIR + 3):
        history.add(replace(CHECK, checked_at=NOW + timedelta(hours=number)))
    kept = history.of_pair("mine")
    assert len(kept) == PER_PAIR
    assert kept[0].checked_at == NOW + timedelta(hours=PER_PAIR + 2)
    for number in range(IN_ALL):
        history.add(replace(CHECK, pair_id=f"pair {number}"))
    assert history.of_pair("mine") == ()


@pytest.mark.parametrize("content", ["", "{", '{"version": 99}', "[" * 100_000])
def test_a_damaged_file_is_put_aside(history: CheckHistory, tmp_path: Path, content: str) -> None:
    (tmp_path / "checks.json").write_text(content)
    assert history.of_pair("mine") == ()
    history.add(CHECK)
    assert history.of_pair("mine") == (CHECK,)
    others = [file for file in tmp_path.iterdir() if file.name != "checks.json"]
    assert [file.read_text() for file in others] == [content]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(AppError):
        CheckHistory(tmp_path / "taken" / "checks.json").add(CHECK)


def test_a_report_names_no_person_and_no_folder(tmp_path: Path) -> None:
    finding = Finding(
        "config_missing",
        Weight.WARN,
        Subject.TARGET,
        "a file",
        "/home/ada/models/Märchen/config.json, C:\\Users\\ada\\models\\x.xml of ada_l@example.org",
        "/mnt/disk/ada_l/openvino_model.xml",
    )
    private = PrivateFacts(tmp_path, "ada_l", "adas-laptop")
    contract = ContractResult((finding,), ())
    report = pair_report("ada_l on adas-laptop", contract, (CHECK, CHECK), private=private)
    for word in ("ada_l", "ada\\_l", "/home", "/mnt", "Users", "adas-laptop", "example.org"):
        assert word not in report
    assert "openvino\\_model.xml" in report
    assert "It \\| differs." in report
    assert "Without the draft: “one”" in report.replace("\\", "")
    assert "Acceptance: Ordinary" in report
