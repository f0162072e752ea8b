"""How far a long work is, on standard error: one line that changes, or few lines."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.units import format_byte_rate, format_bytes

if TYPE_CHECKING:
    from dflash_desktop.domain.export_environment import EnvironmentProgress
    from dflash_desktop.domain.gguf_import import ImportProgress
    from dflash_desktop.domain.library import WorkProgress
    from dflash_desktop.domain.starter import InstallProgress

_PERCENT_STEP: Final = 10
_QUIET_SECONDS: Final = 1.0
"""Work that is done before anybody wonders needs no progress."""


class Tenths:
    """Tells when another tenth is done: a log of each percent would be read by nobody."""

    def __init__(self, *, told_percent: int = 0) -> None:
        self._told_percent = told_percent

    def is_new(self, percent: int) -> bool:
        """Whether this many percent are in a tenth that was not told yet."""
        if percent < self._told_percent + _PERCENT_STEP:
            return False
        self._told_percent = percent - percent % _PERCENT_STEP
        return True


class ByteProgress:
    """Tells people on a terminal all the time, and a log for every tenth."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._is_terminal = sys.stderr.isatty()
        self._began = time.monotonic()
        self._tenths = Tenths(told_percent=-_PERCENT_STEP)
        self._width = 0

    def show(self, progress: WorkProgress) -> None:
        """Print what is new."""
        if time.monotonic() - self._began < _QUIET_SECONDS or not progress.total_bytes:
            return
        percent = 100 * progress.done_bytes // progress.total_bytes
        amount = _amount(progress.done_bytes, progress.total_bytes)
        text = f"{self._what}  {percent} %, {amount}"
        if self._is_terminal:
            print(f"\r{text.ljust(self._width)}", end="", file=sys.stderr, flush=True)
            self._width = len(text)
        elif self._tenths.is_new(percent):
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Leave the line to what comes next."""
        if self._width:
            print(f"\r{' ' * self._width}\r", end="", file=sys.stderr, flush=True)
            self._width = 0


class StepProgress:
    """Each new sentence once, and while bytes are counted a line for every tenth of them."""

    def __init__(self) -> None:
        self._sentence = ""
        self._tenths = Tenths()

    def show(
        self,
        progress: InstallProgress | ImportProgress | EnvironmentProgress,
        bytes_per_second: float | None = None,
    ) -> None:
        """Print what is new."""
        if progress.sentence != self._sentence:
            self._sentence, self._tenths = progress.sentence, Tenths()
            print(progress.sentence, file=sys.stderr, flush=True)
        if not progress.done_bytes or not progress.total_bytes:
            return
        percent = 100 * progress.done_bytes // progress.total_bytes
        if self._tenths.is_new(percent):
            amount = _amount(progress.done_bytes, progress.total_bytes)
            rate = "" if bytes_per_second is None else f", {format_byte_rate(bytes_per_second)}"
            print(f"  {percent} %, {amount}{rate}", file=sys.stderr, flush=True)


def _amount(done_bytes: int, total_bytes: int) -> str:
    return f"{format_bytes(done_bytes)} of {format_bytes(total_bytes)}"
