"""How far a long work on files is, on standard error: one line that changes, or few lines."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from dflash_desktop.domain.library import WorkProgress

_PERCENT_STEP: Final = 10
_QUIET_SECONDS: Final = 1.0
"""Work that is done before anybody wonders needs no progress."""


class ByteProgress:
    """Tells people on a terminal all the time, and a log for every tenth."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._is_terminal = sys.stderr.isatty()
        self._began = time.monotonic()
        self._told_percent = -_PERCENT_STEP
        self._width = 0

    def show(self, progress: WorkProgress) -> None:
        """Print what is new."""
        if time.monotonic() - self._began < _QUIET_SECONDS or not progress.total_bytes:
            return
        percent = 100 * progress.done_bytes // progress.total_bytes
        amount = f"{format_bytes(progress.done_bytes)} of {format_bytes(progress.total_bytes)}"
        text = f"{self._what}  {percent} %, {amount}"
        if self._is_terminal:
            print(f"\r{text.ljust(self._width)}", end="", file=sys.stderr, flush=True)
            self._width = len(text)
        elif percent >= self._told_percent + _PERCENT_STEP:
            self._told_percent = percent - percent % _PERCENT_STEP
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line to what comes next."""
        if self._width:
            print(f"\r{' ' * self._width}\r", end="", file=sys.stderr, flush=True)
            self._width = 0
