"""What one answer's speed says against the stored baseline, and when the draft should go off."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.units import format_rate, format_speedup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.generation import GenerationStats

MIN_ANSWER_TOKENS: Final = 16
"""A shorter answer is over in a handful of steps, and one hiccup decides its rate."""

WINDOW_TURNS: Final = 8
"""Long enough to hold more than one kind of question, short enough to notice a change of topic."""

MIN_WINDOW_TURNS: Final = 3
MIN_WINDOW_TOKENS: Final = 256
"""One odd answer must not switch the draft off: at least three, and some paragraphs in all."""

COSTS_BELOW: Final = 0.97
"""Rates of the same text differ by 1 to 2 % from run to run on a quiet machine (measured)."""


@dataclass(frozen=True, slots=True)
class SpeedVerdict:
    """How fast one answer was against this machine's own measurement without the draft.

    `speedup` is None before a baseline exists, for answers without the draft and for answers too
    short to say; `comparison` says in words what the number compares with, and is empty without
    a baseline.
    """

    speedup: float | None
    baseline_tokens_per_second: float | None
    measured_at: datetime | None
    comparison: str = ""


NOT_MEASURED: Final = SpeedVerdict(None, None, None)


def baseline_rate(report: BenchReport, context_tokens: int) -> float | None:
    """The rate without the draft behind a context of this length, in tokens per second.

    Attention reads the whole context for each token, so the time for one token grows in a
    straight line with the context: between two measured lengths it is interpolated, and beyond
    the longest one that one's rate is used. None if nothing was measured.
    """
    short = report.baseline_tokens_per_second
    if short is None:
        return None
    points = [(0, 1 / short)]
    points += [(p.context_tokens, 1 / p.baseline_tokens_per_second) for p in report.long_context]
    for (left, left_seconds), (right, right_seconds) in pairwise(points):
        if context_tokens <= right:
            share = (context_tokens - left) / (right - left)
            return 1 / (left_seconds + share * (right_seconds - left_seconds))
    return 1 / points[-1][1]


def pays_up_to_tokens(report: BenchReport) -> int | None:
    """The context length from which the chosen setting was slower than no draft, or None.

    The crossing is interpolated between the last measured length where the draft paid and the
    first where it did not; it is 0 when it never paid behind a long prompt.
    """
    before, gain_before = 0, report.chosen.speedup or 1.0
    for point in report.long_context:
        gain = point.speedup
        if gain < 1.0:
            share = max(0.0, (gain_before - 1.0) / (gain_before - gain))
            return round(before + share * (point.context_tokens - before))
        before, gain_before = point.context_tokens, gain
    return None


def speed_verdict(
    stats: GenerationStats, report: BenchReport | None, *, power_source: str = "unknown"
) -> SpeedVerdict:
    """One answer against the stored baseline; `power_source` is that of the answer.

    The answer's middle decides which part of the baseline it is compared with.
    """
    if report is None:
        return NOT_MEASURED
    baseline = baseline_rate(report, stats.prompt_tokens + stats.tokens // 2)
    if stats.picture_tokens:
        # Decoding behind a picture was measured by itself; an older report says nothing of it.
        baseline = report.picture_baseline_tokens_per_second
    rate = stats.tokens_per_second
    if baseline is None:
        return NOT_MEASURED
    comparison = _comparison(baseline, report, power_source)
    if rate is None or stats.tokens < MIN_ANSWER_TOKENS or not stats.assistant_tokens:
        return SpeedVerdict(None, baseline, report.measured_at, comparison)
    return SpeedVerdict(rate / baseline, baseline, report.measured_at, comparison)


def is_comparable(report: BenchReport, power_source: str) -> bool:
    """Whether an answer given now says anything about the draft when held against the baseline.

    On battery a laptop is slower with and without a draft, so only equal power sources compare.
    """
    return power_source == report.power_source


def window_speedup(recent: Sequence[GenerationStats], report: BenchReport) -> float | None:
    """Time without the draft over time with it, for the last `WINDOW_TURNS` answers that count.

    None while these are too few or too short to judge by.
    """
    turns = _counted(recent, report)
    tokens = sum(count for count, _ in turns)
    if len(turns) < MIN_WINDOW_TURNS or tokens < MIN_WINDOW_TOKENS:
        return None
    return tokens / sum(count / speedup for count, speedup in turns)


def switch_off_reason(recent: Sequence[GenerationStats], report: BenchReport) -> str | None:
    """Why the draft should be switched off now, as a sentence, or None to leave it on.

    `recent` are the comparable answers with the draft on since the last measurement, the newest
    last; all of them with pictures, or none.
    """
    speedup = window_speedup(recent, report)
    if speedup is None or speedup >= COSTS_BELOW:
        return None
    turns = _counted(recent, report)
    where = " for pictures" if recent[-1].picture_tokens else ""
    return (
        f"The draft was switched off{where}: over the last {len(turns)} answers "
        f"({sum(count for count, _ in turns)} tokens) it gave {format_speedup(speedup)} of the "
        f"speed measured without it."
    )


def _counted(
    recent: Sequence[GenerationStats], report: BenchReport
) -> tuple[tuple[int, float], ...]:
    """Tokens and speed-up of the last answers that say something."""
    turns = ((stats.tokens, speed_verdict(stats, report).speedup) for stats in recent)
    return tuple((tokens, speedup) for tokens, speedup in turns if speedup)[-WINDOW_TURNS:]


def _comparison(baseline: float, report: BenchReport, power_source: str) -> str:
    # ISO dates read the same in every country.
    words = (
        f"compared with {format_rate(baseline)} without the draft, measured here on "
        f"{report.measured_at:%Y-%m-%d}"
    )
    if report.power_source == "unknown" or power_source == report.power_source:
        return words
    measured = "mains power" if report.power_source == "mains" else "battery"
    now = {"mains": "you are on mains power", "battery": "you are on battery"}.get(power_source)
    return f"{words} on {measured}; {now} now" if now else f"{words} on {measured}"
