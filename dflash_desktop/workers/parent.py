"""How a worker knows who started it, and ends with it.

Apart, since starting one needs nothing else of workers.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

PARENT_PID_VARIABLE: Final = "DFLASH_PARENT_PID"
"""Set by the launcher, so that a worker notices a parent that died before it could watch it."""

EXIT_ORPHANED: Final = 0
"""The parent closed the pipe, said `Shutdown`, or is gone."""

_PR_SET_PDEATHSIG: Final = 1


def end_with_parent() -> None:
    """Linux: let the kernel end this process with its parent, even while frozen in native code.

    Windows does the same through the job object that the launcher puts the worker in.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        parent = os.environ.get(PARENT_PID_VARIABLE)
        if parent is not None and int(parent) != os.getppid():
            os._exit(EXIT_ORPHANED)
