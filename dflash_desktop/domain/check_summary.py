"""What is kept of a measured check: the verdict, why, and the numbers behind it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from dflash_desktop.domain.benchmark import FirstDifference
from dflash_desktop.domain.check_numbers import TextVerdict
from dflash_desktop.domain.check_verdict import Cause, CheckVerdict

if TYPE_CHECKING:
    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.check_report import CheckReport


@dataclass(frozen=True, slots=True)
class CheckSummary:
    """One check of one pair. `text` is None when the pair could not run at all.

    Both rates are over all answers, at the setting that was fastest. `accepted` is the share of
    steps for each position, 0 to 1.
    """

    pair_id: str
    title: str
    checked_at: datetime
    verdict: CheckVerdict
    causes: tuple[Cause, ...] = ()
    device_name: str = ""
    driver: str = ""
    runtime: str = ""
    kv_cache_precision: str = ""
    assistant_tokens: int = 0
    baseline_tokens_per_second: float | None = None
    tokens_per_second: float | None = None
    speedup: float | None = None
    tokens_per_step: float | None = None
    accepted: tuple[float, ...] = ()
    text: TextVerdict | None = None
    difference: FirstDifference | None = None


def summary_of(check: CheckReport, *, pair_id: str, checked_at: datetime) -> CheckSummary:
    """What of a check is worth keeping."""
    verdict, causes = check.judgement.verdict, check.judgement.causes
    report, numbers = check.report, check.numbers
    if report is None or numbers is None:
        return CheckSummary(pair_id, check.title, checked_at, verdict, causes)
    baseline, rate = _rates(report, numbers.assistant_tokens)
    return CheckSummary(
        pair_id,
        check.title,
        checked_at,
        verdict,
        causes,
        device_name=report.key.device_name,
        driver=report.key.driver,
        runtime=report.key.runtime,
        kv_cache_precision=report.kv_cache_precision.value,
        assistant_tokens=numbers.assistant_tokens,
        baseline_tokens_per_second=baseline,
        tokens_per_second=rate,
        speedup=numbers.speedup,
        tokens_per_step=numbers.tokens_per_step,
        accepted=numbers.acceptance.rates,
        text=numbers.text,
        difference=numbers.difference,
    )


def _rates(report: BenchReport, assistant_tokens: int) -> tuple[float | None, float | None]:
    """Both rates over all answers together, so that one over the other is the speed-up."""
    runs = [
        (max(1, run.tokens - 1), run.baseline_tokens_per_second, run.tokens_per_second)
        for result in report.prompts
        for run in result.runs
        if run.assistant_tokens == assistant_tokens
    ]
    both = [(tokens, base, rate) for tokens, base, rate in runs if base and rate]
    if not both:
        return None, None
    tokens = sum(count for count, _, _ in both)
    without_seconds = sum(count / base for count, base, _ in both)
    with_seconds = sum(count / rate for count, _, rate in both)
    return tokens / without_seconds, tokens / with_seconds
