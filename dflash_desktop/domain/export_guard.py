"""When an export must be slowed down or stopped, so that the machine stays usable: a pure rule.

What is measured gets three thresholds each, and the worst of all measures decides. A reading that
is worse never gives a milder verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_GIB: Final = 1 << 30

_STOP_FLOOR_BYTES: Final = 3 * _GIB // 2
_STOP_FLOOR_SHARE: Final = 0.08
_WARN_FLOOR_BYTES: Final = 3 * _GIB
_WARN_FLOOR_SHARE: Final = 0.15
"""What a desktop with a browser needs to stay quick; on small machines a share of the memory.

A fixed number alone would forbid every export on 8 GB, a share alone would waste 5 GB of 64.
"""
_REACTION_SECONDS: Final = 0.25
"""From a look at the memory until a stopped tree has given its memory back, with room to spare."""
_PRESSURE_SECONDS: Final = 2.0
"""Shorter stalls are what starting any large program does."""
_PRESSURE_SHARES: Final = (0.10, 0.20, 0.40)
"""Of the time, in which everything waited for memory; at 0.4 a mouse pointer jumps."""
_TREE_SHARES: Final = (0.80, 0.90, 1.0)
_SWAP_SHARES: Final = (0.25, 0.50, 1.0)
_MAX_SWAP_GROWTH_BYTES: Final = 4 * _GIB
_BLAMED_SHARE: Final = 0.05
"""A tree with less than this of the memory is not what makes others wait."""

_DEFAULT_LIMIT_SHARE: Final = 0.90
_MAX_LIMIT_SHARE: Final = 0.95
"""Of all memory, what an export may take: with more the system itself would have to swap."""
_RATE_SECONDS: Final = 0.1
"""Two looks that follow each other at once would make a rate out of noise."""


class GuardVerdict(IntEnum):
    """What to do now; a higher one contains the lower ones."""

    CONTINUE = 0
    WARN = 1
    LOWER_PRIORITY = 2
    STOP = 3


class GuardReason(StrEnum):
    """Which measure asks for it."""

    NONE = ""
    LIMIT = "limit"  # the export itself takes too much
    FLOOR = "floor"  # too little is available, whoever has it
    COMMIT = "commit"  # Windows: memory may not be promised beyond RAM plus paging file
    SWAP = "swap"  # other programs are being moved out to the disk
    PRESSURE = "pressure"  # everything waits for memory


@dataclass(frozen=True, slots=True)
class MemorySample:
    """One look at the export's processes and at the system; None is what this system hides."""

    at_seconds: float
    tree_bytes: int  # of all its processes, what they share counted once
    available_bytes: int  # of the system, without swapping
    swap_used_bytes: int = 0
    commit_free_bytes: int | None = None
    stalled_seconds: float | None = None  # in which all tasks waited for memory, since the start


@dataclass(frozen=True, slots=True)
class GuardLimits:
    """Where it warns and where it stops; made by `guard_limits`."""

    total_bytes: int  # of the machine
    tree_bytes: int  # stopped above
    floor_bytes: int  # stopped when less is available
    warn_floor_bytes: int
    swap_from_bytes: int = 0  # what was in use at the start
    swap_growth_bytes: int = 0  # stopped above; 0: there is no swap


@dataclass(frozen=True, slots=True)
class GuardDecision:
    """The verdict and its reason."""

    verdict: GuardVerdict
    reason: GuardReason = GuardReason.NONE


def guard_limits(
    total_bytes: int,
    *,
    limit_bytes: int | None = None,
    swap_used_bytes: int = 0,
    swap_free_bytes: int = 0,
) -> GuardLimits:
    """The limits for a machine; a wish of `limit_bytes` is moved within what is safe."""
    wished = _DEFAULT_LIMIT_SHARE * total_bytes if limit_bytes is None else limit_bytes
    return GuardLimits(
        total_bytes=total_bytes,
        tree_bytes=int(min(max(wished, 1), _MAX_LIMIT_SHARE * total_bytes)),
        floor_bytes=int(min(_STOP_FLOOR_BYTES, _STOP_FLOOR_SHARE * total_bytes)),
        warn_floor_bytes=int(min(_WARN_FLOOR_BYTES, _WARN_FLOOR_SHARE * total_bytes)),
        swap_from_bytes=swap_used_bytes,
        swap_growth_bytes=min(_MAX_SWAP_GROWTH_BYTES, swap_free_bytes // 2),
    )


def decide(samples: Sequence[MemorySample], limits: GuardLimits) -> GuardDecision:
    """What to do after the last of `samples`, which are in order; without any: continue."""
    if not samples:
        return GuardDecision(GuardVerdict.CONTINUE)
    predicted = _predicted_available(samples)
    worst, reason = GuardVerdict.CONTINUE, GuardReason.NONE
    for name, value, thresholds in _measures(samples, limits, predicted):
        verdict = GuardVerdict(sum(value >= threshold for threshold in thresholds))
        if verdict > worst:
            worst, reason = verdict, name
    return GuardDecision(worst, reason)


def next_look_seconds(sample: MemorySample, limits: GuardLimits) -> float:
    """How long nothing can happen even if 1 GB is taken a second: 10 to 100 ms."""
    room = min(limits.tree_bytes - sample.tree_bytes, sample.available_bytes - limits.floor_bytes)
    return min(max(room / 8e9, 0.01), 0.1)


_Measure = tuple[GuardReason, float, tuple[float, ...]]


def _measures(
    samples: Sequence[MemorySample], limits: GuardLimits, predicted_bytes: int
) -> list[_Measure]:
    """Each with its value and three rising thresholds."""
    last = samples[-1]
    floors = _falling(limits)
    measures: list[_Measure] = [
        (GuardReason.LIMIT, last.tree_bytes, _shares(limits.tree_bytes, _TREE_SHARES)),
        (GuardReason.FLOOR, -predicted_bytes, floors),
    ]
    if last.commit_free_bytes is not None:
        measures.append((GuardReason.COMMIT, -last.commit_free_bytes, floors))
    if limits.swap_growth_bytes:
        grown = last.swap_used_bytes - limits.swap_from_bytes
        thresholds = _shares(limits.swap_growth_bytes, _SWAP_SHARES)
        measures.append((GuardReason.SWAP, grown, thresholds))
    if last.tree_bytes >= _BLAMED_SHARE * limits.total_bytes:
        measures.append((GuardReason.PRESSURE, _stalled_share(samples), _PRESSURE_SHARES))
    return measures


def _falling(limits: GuardLimits) -> tuple[float, float, float]:
    """The floors as thresholds of a value that rises while memory falls."""
    middle = (limits.warn_floor_bytes + limits.floor_bytes) / 2
    return -limits.warn_floor_bytes, -middle, -limits.floor_bytes


def _shares(whole: float, shares: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(share * whole for share in shares)


def _predicted_available(samples: Sequence[MemorySample]) -> int:
    """What is available when a stop that is decided now has had its effect."""
    last = samples[-1]
    before = _before(samples, _RATE_SECONDS)
    if before is None:
        return last.available_bytes
    lost = max(0, before.available_bytes - last.available_bytes)
    seconds = last.at_seconds - before.at_seconds
    return int(last.available_bytes - lost * _REACTION_SECONDS / seconds)


def _stalled_share(samples: Sequence[MemorySample]) -> float:
    """Of at least the last two seconds; 0 before, and where the system does not tell."""
    last, before = samples[-1], _before(samples, _PRESSURE_SECONDS)
    if before is None or last.stalled_seconds is None or before.stalled_seconds is None:
        return 0.0
    stalled = max(0.0, last.stalled_seconds - before.stalled_seconds)
    return stalled / (last.at_seconds - before.at_seconds)


def _before(samples: Sequence[MemorySample], seconds: float) -> MemorySample | None:
    """The newest sample that is at least so much older than the last one."""
    latest = samples[-1].at_seconds - seconds
    return next((one for one in reversed(samples) if one.at_seconds <= latest), None)
