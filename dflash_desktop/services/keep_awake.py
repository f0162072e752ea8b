"""Keeps the machine from falling asleep while something long is on its way."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from contextlib import suppress
from typing import Final

_log = logging.getLogger(__name__)

_WHY: Final = "A model is being downloaded or exported"

if sys.platform == "win32":
    import ctypes

    _ES_CONTINUOUS: Final = 0x80000000
    _ES_SYSTEM_REQUIRED: Final = 0x00000001

    class KeepAwake:
        """Between `hold` and `release` the machine does not sleep by itself; the screen may.

        Windows remembers it for the thread that asks, and forgets it when that thread ends.
        """

        def __init__(self) -> None:
            self._is_held = False

        def hold(self) -> None:
            """Stay awake from now on; a system that refuses is named in the log."""
            if self._is_held:
                return
            state = _ES_CONTINUOUS | _ES_SYSTEM_REQUIRED
            if ctypes.windll.kernel32.SetThreadExecutionState(ctypes.c_uint(state)):
                self._is_held = True
            else:
                _log.info("the system does not promise to stay awake")

        def release(self) -> None:
            """The machine may sleep again."""
            if self._is_held:
                self._is_held = False
                ctypes.windll.kernel32.SetThreadExecutionState(ctypes.c_uint(_ES_CONTINUOUS))

else:

    class KeepAwake:
        """Between `hold` and `release` the machine does not sleep by itself; the screen may."""

        def __init__(self, program: str = "systemd-inhibit") -> None:
            self._program = program
            self._child: subprocess.Popen[bytes] | None = None
            self._has_complained = False

        def hold(self) -> None:
            """Stay awake from now on; a system that cannot is named in the log once."""
            if self._child is not None and self._child.poll() is None:
                return
            self.release()
            program = shutil.which(self._program)
            if program is None:
                self._complain(f"{self._program} is not installed")
                return
            try:
                # `cat` ends with our end of the pipe, so the promise dies with us in every case.
                self._child = subprocess.Popen(
                    (program, "--what=sleep:idle", "--who=DFlash Desktop", f"--why={_WHY}", "cat"),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except OSError as error:
                self._complain(str(error))

        def release(self) -> None:
            """The machine may sleep again."""
            child, self._child = self._child, None
            if child is None:
                return
            refusal = child.poll()
            if refusal:
                self._complain(f"{self._program} answered {refusal}")
            with suppress(OSError):
                child.communicate(timeout=0.5)
            if child.poll() is None:
                child.kill()
                child.wait()

        def _complain(self, why: str) -> None:
            if not self._has_complained:
                self._has_complained = True
                _log.info("the machine may fall asleep during long work: %s", why)
