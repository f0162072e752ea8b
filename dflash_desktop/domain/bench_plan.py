"""Which runs a measurement makes, in which order, and how long its answers may get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LADDER: Final = (1, 2, 3, 4, 5, 7, 10, 15)
"""Assistant tokens to try: finer where most optima were measured, then in steps of about 1.4."""

FAST_LADDER: Final = (2, 3, 7)
"""Small drafts on CPUs are best at 2 or 3 and large ones on graphics near 7 (measured)."""

ROUNDS: Final = 2
"""There and back: the second round runs in mirrored order, so that a steady drift cancels out."""

SETTINGS_PER_BASELINE: Final = 3
"""The baseline is in every ratio, so it runs more often than any single setting."""

FAST_BUDGET_SECONDS: Final = 14.0
FULL_BUDGET_SECONDS: Final = 150.0
"""Time for the timed runs; loading, warming up and long contexts come on top."""

MIN_NEW_TOKENS: Final = 24
"""Fewer tokens are over in a few steps, and their rate says nothing."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """One answer to be timed; 0 assistant tokens is the baseline."""

    prompt: int  # index into the prompts of the measurement
    assistant_tokens: int
    round: int


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """All timed runs in order."""

    settings: tuple[int, ...]
    max_new_tokens: int
    runs: tuple[PlannedRun, ...]


def settings_to_try(
    block_size: int, *, fast: bool, wanted: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Numbers of assistant tokens in rising order, none beyond what the draft's block holds."""
    most = max(1, block_size - 1)
    tokens = wanted or (FAST_LADDER if fast else LADDER)
    return tuple(sorted({min(max(1, count), most) for count in tokens}))


def make_plan(
    *,
    prompts: int,
    settings: tuple[int, ...],
    seconds_per_token: float,
    fast: bool,
    keeps_both: bool,
) -> BenchPlan:
    """A plan that fits its time budget on a machine of this speed, as far as that makes sense.

    A slow machine shortens the answers, not the number of prompts or rounds: kinds of text and
    repeats are what makes the result true.
    """
    make_runs = _side_by_side if keeps_both else _in_groups
    runs = tuple(make_runs(prompts, settings))
    budget_seconds = FAST_BUDGET_SECONDS if fast else FULL_BUDGET_SECONDS
    affordable = int(budget_seconds / len(runs) / seconds_per_token)
    return BenchPlan(settings, max(MIN_NEW_TOKENS, affordable), runs)


def _side_by_side(prompts: int, settings: tuple[int, ...]) -> Iterator[PlannedRun]:
    """Both pipelines are in memory: all runs of a prompt stand next to each other in time."""
    there = _with_baselines(settings)
    for prompt in range(prompts):
        for number in range(ROUNDS):
            order = there if number % 2 == 0 else there[::-1]
            for assistant_tokens in order:
                yield PlannedRun(prompt, assistant_tokens, number)


def _in_groups(prompts: int, settings: tuple[int, ...]) -> Iterator[PlannedRun]:
    """Only one pipeline fits: few changes between them, still there and back."""
    for number in range(ROUNDS):
        with_draft = [
            PlannedRun(prompt, assistant_tokens, number)
            for prompt in range(prompts)
            for assistant_tokens in settings
        ]
        without = [PlannedRun(prompt, 0, number) for prompt in range(prompts)]
        yield from (*without, *with_draft) if number % 2 == 0 else (*with_draft[::-1], *without)


def _with_baselines(settings: tuple[int, ...]) -> tuple[int, ...]:
    order: list[int] = []
    for start in range(0, len(settings), SETTINGS_PER_BASELINE):
        order += (0, *settings[start : start + SETTINGS_PER_BASELINE])
    return tuple(order)
