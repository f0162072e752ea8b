"""`check` as programs and people meet it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.cli.check import CheckResult
from dflash_desktop.domain.acceptance import Acceptance
from dflash_desktop.domain.benchmark import FirstDifference
from dflash_desktop.domain.check_numbers import numbers_of
from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_verdict import CheckVerdict, judge
from dflash_desktop.domain.precision_question import PrecisionCheck, compare_precisions
from tests.cli.test_json_forms import assert_documented, run
from tests.domain.measurements import bench_run, report, result
from tests.fakes.ir_models import write_draft, write_target

if TYPE_CHECKING:
    from pathlib import Path


def checked(rate: float, accepted: Acceptance, difference: FirstDifference | None) -> CheckResult:
    made = replace(bench_run(3, rate, difference=difference), acceptance=accepted)
    measured = report(result(made))
    numbers = numbers_of(measured)
    return CheckResult(CheckReport("Pair", judge(numbers, ()), (), measured, numbers))


WRONG = FirstDifference(4, " Paris", " London", gap_nats=2.0, noise_nats=0.001)
PRECISIONS = compare_precisions(
    [
        PrecisionCheck("fine", "fp16", CheckVerdict.WORKING, 2.5, 1.2),
        PrecisionCheck("rough", "", CheckVerdict.USELESS, 1.1, 0.7),
    ]
)
GOOD = Acceptance(50, (40, 20, 10))


@pytest.mark.parametrize(
    ("result", "verdict", "code"),
    [
        (checked(60.0, GOOD, None), CheckVerdict.WORKING, 0),
        (checked(40.0, GOOD, None), CheckVerdict.SLOWER, 1),
        (checked(40.0, Acceptance(50, (0, 0, 0)), None), CheckVerdict.USELESS, 1),
        (checked(60.0, GOOD, WRONG), CheckVerdict.WRONG_TEXT, 2),
    ],
)
def test_the_form_is_documented_and_the_exit_code_tells_the_verdict(
    result: CheckResult, verdict: CheckVerdict, code: int
) -> None:
    compared = replace(result, precisions=PRECISIONS)
    printed = {"json_version": 1, **json.loads(json.dumps(compared.as_json()))}
    printed["causes"] = printed["causes"] or [{"code": "", "cause": "", "remedy": ""}]
    assert_documented("check", printed)
    assert (printed["verdict"], result.exit_code) == (verdict, code)


def test_the_words_begin_with_the_verdict_and_number_the_causes() -> None:
    text = checked(60.0, GOOD, WRONG).as_text()
    assert text.startswith("With the draft the text is not the target's own.")
    assert "80%, 40%, 20% by position" in text
    assert "1. At token 5 the text with the draft goes on with “London”" in text


def test_the_question_of_precision_is_answered_in_words() -> None:
    text = replace(checked(60.0, GOOD, None), precisions=PRECISIONS).as_text()
    assert "It is the precision: fine (fp16) brings 2.50 tokens a step, rough only 1.10." in text


def test_a_question_of_precision_with_nothing_to_compare_is_not_left_unanswered() -> None:
    text = replace(checked(60.0, GOOD, None), lacks_precisions=True).as_text()
    assert "in no other precision" in text


def test_a_pair_that_cannot_run_is_told_without_loading_it(tmp_path: Path) -> None:
    target, draft = write_target(tmp_path / "target"), write_draft(tmp_path / "draft")
    draft.edit("1,2,3", "1,2,48")
    code, printed = run("check", str(target.folder), str(draft.folder))

    assert code == 2
    assert_documented("check", printed)
    assert printed["verdict"] == "not_attached"
    assert printed["measurements"] is None
