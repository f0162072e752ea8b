"""A lock between processes, so that two of them never install the same thing at once."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_ATTEMPTS: Final = 10
_PAUSE_SECONDS: Final = 0.05
_HELD: Final = (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
"""What the two systems say when somebody else has it."""


class InstallLock:
    """Held by one holder at a time; the system frees it when a process ends, however it ends."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Take the lock if nobody holds it; never waits.

        Raises `OSError` if it cannot be made, also where the file system knows no locks.
        """
        self._file.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _try_lock(handle)
        except OSError as error:
            os.close(handle)
            if error.errno in _HELD:
                return False
            raise
        self._handle = handle
        return True

    async def take(self) -> bool:
        """Like `acquire`, for half a second: whoever asks about it has it for an instant."""
        import asyncio  # no command that only reads should wait for it

        for _ in range(_ATTEMPTS):
            if self.acquire():
                return True
            await asyncio.sleep(_PAUSE_SECONDS)
        return False

    def release(self) -> None:
        """Let go; harmless when it is not held. The file stays, since others may wait on it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    @property
    def is_mine(self) -> bool:
        """Whether this holder has it."""
        return self._handle is not None

    def is_held_by_anyone(self) -> bool:
        """Whether an installation runs now, here or in another process."""
        if self._handle is not None:
            return True
        if not self._file.exists():
            return False
        with contextlib.suppress(OSError):
            if self.acquire():
                self.release()
                return False
        return True
