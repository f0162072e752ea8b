"""Reads what a step prints: all of it into a file, the readable part to the window."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from dflash_desktop.domain.export_log import LogReader
from dflash_desktop.workers.guard_messages import StepSaid

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_log import LogNews

_BLOCK_BYTES: Final = 65_536
_MAX_LOG_BYTES: Final = 16_000_000
_MAX_LINES: Final = 500
"""At once to the window, which keeps no more; the file has them all."""
_TOLD_SECONDS: Final = 0.1
_END_SECONDS: Final = 5.0


class StepOutput:
    """A thread reads until nobody can write any more; `tell` sends what came since."""

    def __init__(
        self, stream: IO[bytes], log_file: Path, *, send: Callable[[StepSaid], None], job: int
    ) -> None:
        self._stream = stream
        self._log_file = log_file
        self._send = send
        self._job = job
        self._reader = LogReader()
        self._lock = threading.Lock()
        self._lines: list[str] = []
        self._reports: list[dict[str, object]] = []
        self._open_line = self._told_open_line = ""
        self._told_at = 0.0
        self._thread = threading.Thread(target=self._read, name="step output", daemon=True)
        self._thread.start()

    def tell(self, *, is_last: bool = False) -> None:
        """Send what is new, at most ten times a second."""
        now = time.monotonic()
        if now - self._told_at < _TOLD_SECONDS and not is_last:
            return
        with self._lock:
            lines, self._lines = self._lines, []
            reports, self._reports = self._reports, []
            open_line = self._open_line
        if lines or reports or open_line != self._told_open_line:
            self._told_at, self._told_open_line = now, open_line
            self._send(StepSaid(self._job, tuple(lines[-_MAX_LINES:]), open_line, tuple(reports)))

    def finish(self) -> None:
        """Send the last words; every process that could write must be gone."""
        self._thread.join(_END_SECONDS)
        self.tell(is_last=True)

    def _read(self) -> None:
        with self._opened_log() as log:
            left = _MAX_LOG_BYTES
            while data := self._next_block():
                with contextlib.suppress(OSError, ValueError):  # a full disk is told elsewhere
                    log.write(data[:left])
                    log.flush()
                left = max(0, left - len(data))
                self._take(self._reader.feed(data))
        self._take(self._reader.feed(b"", is_last=True))

    def _next_block(self) -> bytes:
        with contextlib.suppress(OSError, ValueError):
            return os.read(self._stream.fileno(), _BLOCK_BYTES)
        return b""

    def _take(self, news: LogNews) -> None:
        with self._lock:
            self._lines = [*self._lines, *news.lines][-_MAX_LINES:]
            self._reports += news.reports
            self._open_line = news.open_line

    def _opened_log(self) -> IO[bytes]:
        try:
            self._log_file.parent.mkdir(parents=True, exist_ok=True)
            return self._log_file.open("ab")
        except OSError:
            return Path(os.devnull).open("ab")  # a step without a log is better than none
