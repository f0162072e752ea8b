"""Two ways of drafting for one target, a DFlash draft and its own head: which was faster here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.benchmark import BenchReport
from dflash_desktop.domain.units import format_speedup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflash_desktop.domain.pair import MeasurementKey

USED_WHERE: Final = "It is used where a target is chosen and no draft is named."


@dataclass(frozen=True, slots=True)
class WaysCompared:
    """Several ways for one target under the same conditions, the one that was asked for first."""

    reports: tuple[BenchReport, ...]

    @property
    def fastest(self) -> BenchReport:
        """The one that is worth most; of equals the one that was asked for."""
        return max(self.reports, key=speedup_of)

    @property
    def pays(self) -> bool:
        """Whether any of them is faster than the target alone."""
        return speedup_of(self.fastest) > 1

    @property
    def statement(self) -> str:
        """How they compare, and what follows from it, as a sentence."""
        fastest = self.fastest
        if not self.pays:
            return "No draft pays here: the target answers faster alone."
        others = ", ".join(
            f"“{report.pair_title}” ({worth_words(report)})"
            for report in self.reports
            if report is not fastest
        )
        return f"“{fastest.pair_title}” is faster here ({worth_words(fastest)}) than {others}."


def are_rivals(one: MeasurementKey, other: MeasurementKey) -> bool:
    """Whether these are two drafts of one target under the same conditions."""
    ours, theirs = one.fingerprint, other.fingerprint
    return (
        ours.target == theirs.target
        and ours.draft != theirs.draft
        and None not in (ours.draft, theirs.draft)
        and _conditions(one) == _conditions(other)
    )


def compare_ways(reports: Sequence[BenchReport]) -> WaysCompared | None:
    """The comparison of the first one with its rivals among the others; None without any."""
    first, *others = reports
    rivals = [report for report in others if are_rivals(first.key, report.key)]
    return WaysCompared((first, *rivals)) if rivals else None


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


def worth_words(report: BenchReport) -> str:
    """What the draft of this report is worth, "2.00x", or that it is not worth having."""
    if report.chosen.assistant_tokens == 0:
        return "does not pay"
    return format_speedup(report.chosen.speedup)


def _conditions(key: MeasurementKey) -> tuple[str, ...]:
    return (key.device_name, key.driver, key.runtime, key.kv_cache_precision)
