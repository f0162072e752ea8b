"""What a broken-off download means: try again by itself, plan anew, or ask a person."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

FIRST_WAIT_SECONDS: Final = 2.0
LONGEST_WAIT_SECONDS: Final = 120.0
LONGEST_ASKED_WAIT_SECONDS: Final = 900.0
"""A hub may ask for more patience than we have by ourselves, but not for a day."""

GIVE_UP_AFTER_FAILURES: Final = 10
"""Failures in a row without a new byte: about ten minutes of waiting."""

STALLED: Final = "stalled"
"""The code of an attempt that we ended because nothing arrived."""

_TRANSIENT: Final = frozenset(
    {
        STALLED,
        "offline",
        "hub_unreachable",
        "connection_lost",
        "timeout",
        "server_error",
        "rate_limited",
        "truncated",
        "worker_error",
    }
)


class FaultKind(StrEnum):
    """What follows from a failure."""

    TRANSIENT = "transient"  # it may pass: wait and try again
    DISK_FULL = "disk_full"  # goes on after a person made space
    COMMIT_GONE = "commit_gone"  # what was planned is no longer there: plan anew
    PERMANENT = "permanent"  # the same would happen again


def fault_kind(code: str) -> FaultKind:
    """The kind of a failure by the code that the fetch process gave it."""
    if code == "disk_full":
        return FaultKind.DISK_FULL
    if code in ("revision_gone", "commit_changed"):
        return FaultKind.COMMIT_GONE
    return FaultKind.TRANSIENT if code in _TRANSIENT else FaultKind.PERMANENT


def wait_seconds(failures: int, *, jitter: float, asked_seconds: float | None = None) -> float:
    """How long to wait after `failures` (from 1) in a row.

    It doubles each time. `jitter`, from 0 to 1, spreads the attempts of many people over half of
    that time, so that a hub which comes back is not knocked over again. What the hub asked for
    (Retry-After) is the least.
    """
    longest = min(FIRST_WAIT_SECONDS * 2.0 ** (failures - 1), LONGEST_WAIT_SECONDS)
    waited = longest * (0.5 + 0.5 * jitter)
    if asked_seconds is None:
        return waited
    return max(waited, min(asked_seconds, LONGEST_ASKED_WAIT_SECONDS))
