"""Log files: one for each process, one line format, old ones kept and bounded."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import os
import sys
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

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
    handler = logging.handlers.RotatingFileHandler(
        path, maxBytes=MAX_LOG_BYTES, backupCount=KEPT_LOGS, encoding="utf-8", errors="replace"
    )
    return _install(handler)


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
