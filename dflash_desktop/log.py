"""Log files: one for each process, one line format, old ones kept and bounded."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import sys
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import BinaryIO

LINE_FORMAT: Final = "%(asctime)s %(levelname)-7s %(process)d %(name)s: %(message)s"
MAX_LOG_BYTES: Final = 2_000_000
KEPT_LOGS: Final = 4
TAIL_LINES: Final = 200
TAIL_BYTES: Final = 64 * 1024


def log_to_file(path: Path) -> logging.Handler:
    """Send this process's log to `path`, which rotates; the handler is for closing it at the end.

    Raises `OSError` when the folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handler = _LogFile(
        path, maxBytes=MAX_LOG_BYTES, backupCount=KEPT_LOGS, encoding="utf-8", errors="replace"
    )
    return _install(handler)


class _LogFile(logging.handlers.RotatingFileHandler):
    """Keeps silent when the disk refuses, where logging would print a traceback for every line."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - as logging calls it
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)


def log_to_stderr() -> logging.Handler:
    """Send this process's log to standard error; in a worker that is the worker's log file."""
    return _install(logging.StreamHandler(sys.stderr))


def _install(handler: logging.Handler) -> logging.Handler:
    handler.setFormatter(logging.Formatter(LINE_FORMAT))
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    return handler


def fresh_log(path: Path) -> Path:
    """Make room at `path` for the log of a process that starts; the last few stay as `path`.1, .2…

    Returns the file to use: another name when a running program of ours keeps `path` open and
    the system (Windows) does not let it be renamed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        for number in range(KEPT_LOGS, 0, -1):
            older = _numbered(path, number - 1)
            if older.exists():
                older.replace(_numbered(path, number))
    except OSError:
        return path.with_stem(f"{path.stem}-{os.getpid()}")
    return path


def open_fresh_log(path: Path) -> tuple[Path, BinaryIO]:
    """The log of a process that starts, open for writing, and its name.

    On a disk that refuses it goes nowhere: a process without a log is better than none.
    """
    try:
        file = fresh_log(path)
        return file, file.open("ab")
    except OSError:
        nowhere = Path(os.devnull)
        return nowhere, nowhere.open("ab")


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.name}.{number}") if number else path


def read_tail(path: Path) -> tuple[str, ...]:
    """The last lines of a log, oldest first; empty when there is none."""
    with contextlib.suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - TAIL_BYTES))
        text = file.read().decode("utf-8", "replace")
        return tuple(deque(text.splitlines(), TAIL_LINES))
    return ()
