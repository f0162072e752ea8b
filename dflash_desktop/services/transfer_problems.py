"""What can go wrong with a transfer besides what the hub says, in words that lead on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from pathlib import Path


def disk_full(
    folder: Path, *, needed_bytes: int | None, free_bytes: int | None, detail: str = ""
) -> Problem:
    """There is no room for the rest; None where a number is not known."""
    if needed_bytes is None or free_bytes is None:
        room = "Make room, then resume."
    elif needed_bytes > free_bytes:
        room = (
            f"It still needs {format_bytes(needed_bytes)}, and {format_bytes(free_bytes)} are "
            f"free: make room for {format_bytes(needed_bytes - free_bytes)} more, then resume."
        )
    else:
        room = (
            f"It still needs {format_bytes(needed_bytes)}, and the disk takes no more, perhaps "
            "because of a quota: make room, then resume."
        )
    return Problem(
        code="disk_full",
        headline="The download is paused: the disk is full.",
        advice=f"{room} Everything that arrived is kept in {folder}.",
        detail=detail,
        remedies=(Remedy.RETRY,),
    )


def busy_elsewhere() -> Problem:
    """Another window, or a command, owns the queue."""
    return Problem(
        code="downloads_busy",
        headline="Another window or command of this program is downloading.",
        advice="Wait until it has finished, or close it, then try again.",
        remedies=(Remedy.RETRY,),
    )


def no_such_transfer() -> Problem:
    """It was removed meanwhile."""
    return Problem(
        code="no_such_transfer",
        headline="This download is no longer in the queue.",
        advice="Start it again if you still want it. What arrived before is found.",
    )


def failed(code: str, raw: str) -> Problem:
    """A failure that nothing more is known about."""
    return Problem(
        code=code,
        headline="The download failed.",
        advice="Try again. Everything that arrived is kept.",
        detail=raw,
        remedies=(Remedy.RETRY, Remedy.OPEN_LOG),
    )


def stalled(seconds: float) -> Problem:
    """The hub accepts connections, and nothing comes."""
    return Problem(
        code="stalled",
        headline="The download failed: nothing arrives any more.",
        advice=(
            f"Each attempt was silent for {seconds:g} s. Check the network, a proxy or a virus "
            "scanner, then try again. Everything that arrived is kept."
        ),
        remedies=(Remedy.RETRY,),
    )
