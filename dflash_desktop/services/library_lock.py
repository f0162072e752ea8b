"""One change of the library at a time, in all processes: installing, removing, moving."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.library_place import require_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.paths import AppPaths

_PATIENCE_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.05


@contextmanager
def library_changing(paths: AppPaths) -> Iterator[None]:
    """Hold the library's lock. Blocking: never in the window's thread.

    Raises `AppError`: "library_busy" when another change takes longer than ten seconds, which
    only moving the whole library does, and "library_absent" when its disk is not there; `OSError`
    when the lock cannot be made.
    """
    require_place(paths)
    lock = InstallLock(paths.library_lock_file)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not lock.acquire():
        if time.monotonic() > deadline:
            raise AppError(
                Problem(
                    code="library_busy",
                    headline="The models are being moved to another place.",
                    advice="Wait until that is done, then try again.",
                    remedies=(Remedy.RETRY,),
                )
            )
        time.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        lock.release()
