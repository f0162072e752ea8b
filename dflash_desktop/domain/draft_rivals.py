"""Two ways of drafting for one target, a DFlash draft and its own head: which was faster here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.units import format_speedup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.pair import MeasurementKey


def are_rivals(one: MeasurementKey, other: MeasurementKey) -> bool:
    """Whether these are two drafts of one target under the same conditions."""
    ours, theirs = one.fingerprint, other.fingerprint
    return (
        ours.target == theirs.target
        and ours.draft != theirs.draft
        and None not in (ours.draft, theirs.draft)
        and _conditions(one) == _conditions(other)
    )


def speedup_of(report: BenchReport) -> float:
    """What the draft is worth over text, 1.0 where it stays off."""
    return report.chosen.speedup or 1.0


def rival_words(report: BenchReport, rivals: Iterable[BenchReport]) -> str:
    """How the best of the others compares, as a sentence; empty without any."""
    best = max(rivals, key=speedup_of, default=None)
    if best is None:
        return ""
    theirs, ours = speedup_of(best), speedup_of(report)
    if theirs > ours:
        return f"“{best.pair_title}” was faster here ({format_speedup(theirs)})."
    return f"It was faster here than “{best.pair_title}” ({format_speedup(theirs)})."


def _conditions(key: MeasurementKey) -> tuple[str, ...]:
    return (key.device_name, key.driver, key.runtime, key.kv_cache_precision)
