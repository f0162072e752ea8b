"""Which KV cache precision keeps the text of a pair exactly the target's own on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.generation import KvCachePrecision

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.domain.benchmark import BenchReport

_FINEST_FIRST: Final = (KvCachePrecision.F32, KvCachePrecision.F16, KvCachePrecision.U8)


@dataclass(frozen=True, slots=True)
class ExactChoice:
    """The precision to load with; `reason` is a sentence for people."""

    precision: KvCachePrecision
    is_proven: bool
    reason: str


def exact_choice(reports: Iterable[BenchReport]) -> ExactChoice:
    """From the measurements of this pair on this device with this driver and runtime.

    Of those that were proven identical the finest is taken: a proof over some questions is none
    for all others, and finer caches leave less to rounding. Without a proof it is f32.
    """
    by_precision = {report.kv_cache_precision: report for report in reports}
    for precision in _FINEST_FIRST:
        report = by_precision.get(precision)
        if report is not None and is_identical(report):
            return ExactChoice(
                precision,
                is_proven=True,
                reason=f"With {precision} all texts of {_questions(report)} questions were "
                f"identical with and without the draft, measured here on "
                f"{report.measured_at:%Y-%m-%d}.",
            )
    if KvCachePrecision.F32 in by_precision:
        reason = "Even with f32 texts differed here; nothing finer exists."
    else:
        reason = (
            "Nothing was measured with f32 here yet, which is the finest. Measure to prove it."
        )
    return ExactChoice(KvCachePrecision.F32, is_proven=False, reason=reason)


def is_identical(report: BenchReport) -> bool:
    """Whether every text with the draft was the same as without it, token by token."""
    results = (*report.prompts, *report.pictures)
    runs = [run for result in results for run in result.runs if run.assistant_tokens]
    return bool(runs) and all(run.identical for run in runs)


def _questions(report: BenchReport) -> int:
    return len(report.prompts) + len(report.pictures)
