"""One process at a time reads, changes and writes a file that the window and commands share."""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from dflash_desktop.services.install_lock import InstallLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PATIENCE_SECONDS: Final = 0.2
_PAUSE_SECONDS: Final = 0.001


@contextmanager
def turn_with(file: Path) -> Iterator[None]:
    """Hold the turn while `file` is changed, which takes milliseconds.

    Where no lock can be made, or whoever has it was stopped in the middle, it goes on without:
    a setting that cannot be changed any more would be worse than one that is lost.
    """
    lock = InstallLock(file.with_name(f"{file.name}.lock"))
    deadline = time.monotonic() + _PATIENCE_SECONDS
    with suppress(OSError):
        while not lock.acquire() and time.monotonic() < deadline:
            time.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        lock.release()
