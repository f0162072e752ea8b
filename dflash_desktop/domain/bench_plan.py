"""Which runs a measurement makes, in which order, and how long its answers may get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LADDER: Final = (1, 2, 3, 4, 5, 7, 10, 15)
"""Assistant tokens to try: finer where most optima were measured, then in steps of about 1.4."""

SHORT_LADDER: Final = (3, 7)
"""Small drafts on CPUs are best near 3 and large ones on graphics near 7 (measured)."""

ROUNDS: Final = 2
"""There and back: the second round runs in mirrored order, so that a steady drift cancels out."""

SETTINGS_PER_BASELINE: Final = 3
"""The baseline is in every ratio, so it runs more often than any single setting."""

FAST_BUDGET_SECONDS: Final = 16.0
FULL_BUDGET_SECONDS: Final = 330.0
"""Time for the timed runs; loading, warming up and long contexts come on top."""

FAST_MIN_TOKENS: Final = 24
FULL_MIN_TOKENS: Final = 96
"""Answers accept more of a draft the longer they get, so short ones are unfair to it, and a full
measurement is to be compared with others: the starter pair brings 2.0 tokens a step over 24
tokens, 2.3 over 96 and 2.5 over 128."""

FULL_TOKENS: Final = 128
"""What a full measurement makes of each answer where time allows it."""


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


def make_plan(
    *,
    prompts: int,
    block_size: int,
    wanted: Sequence[int] | None,
    first_token_seconds: float,
    seconds_per_token: float,
    fast: bool,
    keeps_both: bool,
) -> BenchPlan:
    """A plan that fits its time budget on a machine of this speed, as far as that makes sense.

    A machine that is too slow for all settings tries the short ladder, then shortens the answers,
    but never leaves out prompts or rounds: kinds of text and repeats make the result true.
    `wanted` settings are tried in place of a ladder's.
    """
    settings = within_block(wanted or (SHORT_LADDER if fast else LADDER), block_size)
    make_runs = _side_by_side if keeps_both else _in_groups
    runs = tuple(make_runs(prompts, settings))
    budget_seconds = FAST_BUDGET_SECONDS if fast else FULL_BUDGET_SECONDS
    spare_seconds = budget_seconds / len(runs) - first_token_seconds
    affordable = max(0, int(spare_seconds / seconds_per_token))
    if affordable < FULL_TOKENS and not (fast or wanted):
        return make_plan(
            prompts=prompts,
            block_size=block_size,
            wanted=SHORT_LADDER,
            first_token_seconds=first_token_seconds,
            seconds_per_token=seconds_per_token,
            fast=fast,
            keeps_both=keeps_both,
        )
    least = FAST_MIN_TOKENS if fast else FULL_MIN_TOKENS
    return BenchPlan(settings, min(FULL_TOKENS, max(least, affordable)), runs)


def within_block(settings: Sequence[int], block_size: int) -> tuple[int, ...]:
    """The settings in rising order, none beyond what the draft's block holds."""
    most = max(1, block_size - 1)
    return tuple(sorted({min(max(1, count), most) for count in settings}))


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
