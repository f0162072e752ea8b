"""What the measure page says about a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.benchmark import tried_assistant_tokens
from dflash_desktop.domain.units import format_rate, format_speedup

if TYPE_CHECKING:
    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.services.benchmark import BenchProgress

_SHARE_THAT_TELLS = 0.1
_POWER_WORDS = {"mains": "mains", "battery": "battery: numbers are lower than on mains"}


def verdict_number(report: BenchReport) -> str:
    """The one large number: the chosen setting's speed-up, or that the draft stays off."""
    if report.chosen.assistant_tokens == 0:
        return "Draft off"
    return format_speedup(report.chosen.speedup)


def verdict_line(report: BenchReport) -> str:
    """What the number is for, and against what."""
    against = f"{format_rate(report.baseline_tokens_per_second)} without a draft"
    if report.chosen.assistant_tokens == 0:
        return f"The target alone is faster here: {against}."
    tokens = report.chosen.assistant_tokens
    return f"with {tokens} assistant token{'s' * (tokens != 1)}, against {against}"


def identical_line(report: BenchReport) -> str:
    """How many of the texts were the same with and without the draft."""
    runs = [run for result in report.prompts for run in result.runs]
    same = sum(run.identical for run in runs)
    if same == len(runs):
        return f"All {len(runs)} texts were identical with and without the draft."
    ties = sum(
        run.first_difference is not None and run.first_difference.is_numeric_tie is True
        for run in runs
    )
    words = f"{same} of {len(runs)} texts were identical with and without the draft."
    if ties == len(runs) - same:
        return f"{words} The others part where the target finds two words equally likely."
    if ties:
        return f"{words} {ties} of the others part at a numeric tie."
    return words


def conditions(report: BenchReport) -> tuple[tuple[str, str], ...]:
    """When and how it was measured, as names and values."""
    key = report.key
    tried = ", ".join(map(str, tried_assistant_tokens(report.prompts)))
    kind = "Fast" if report.is_fast else "Full"
    facts = [
        ("Model", report.pair_title),
        ("Measured", f"{report.measured_at.astimezone():%d %B %Y, %H:%M}"),
        ("Kind", f"{kind}: {len(report.prompts)} prompts, {tried} assistant tokens"),
        ("Device", key.device_name),
        ("Runtime", key.runtime),
        ("KV cache", key.kv_cache_precision.value),
        ("Power", _POWER_WORDS.get(report.power_source, "not known")),
    ]
    if key.driver:
        facts.insert(4, ("Driver", key.driver))
    return tuple(facts)


def long_context_facts(report: BenchReport) -> tuple[tuple[str, str], ...]:
    """What the chosen setting is worth behind long prompts, as names and values."""
    facts = []
    for point in report.long_context:
        alone = format_rate(point.baseline_tokens_per_second)
        words = f"{format_speedup(point.speedup)}, against {alone} without a draft"
        facts.append((f"{point.context_tokens:,} tokens", words))
    return tuple(facts)


def progress_numbers(progress: BenchProgress, seconds: float) -> str:
    """How many runs are done, and the time left once it can be known: the first say little.

    `seconds` is how long it takes until now.
    """
    share = progress.done / progress.total if progress.total else 0.0
    runs = f"{progress.done} of {progress.total} answers" if progress.total > 1 else ""
    if share < _SHARE_THAT_TELLS:
        return runs
    left = round(seconds / share - seconds)
    words = f"about {left} s left" if left < 90 else f"about {round(left / 60)} min left"
    return f"{runs} · {words}"
