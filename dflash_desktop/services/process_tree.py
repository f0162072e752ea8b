"""Child processes that never outlive us: each in a group of its own, ended as a tree."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from typing import IO, TYPE_CHECKING, BinaryIO, Final, cast

import psutil

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_POLL_SECONDS: Final = 0.005


class ProcessTree:
    """One child and everything that it starts; `pipe_in` and `pipe_out` are its standard pipes.

    Start it from the main thread: Linux ends a worker with the *thread* that started it.
    `memory_limit_bytes` is enforced on Windows, for each process; on Linux a worker limits itself.
    Raises `OSError` when the program cannot be started.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        error_output: IO[bytes],
        memory_limit_bytes: int | None = None,
    ) -> None:
        self._process = _start(argv, env, error_output)
        self._job = _job_of(self._process, memory_limit_bytes)
        self._lock = threading.Lock()
        self._is_reaped = False
        self.pipe_in = cast("BinaryIO", self._process.stdin)
        self.pipe_out = cast("BinaryIO", self._process.stdout)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def wait(self, *, grace_seconds: float) -> int:
        """Block until the child has ended, end what it left behind, return its exit code.

        A child that is still there after `grace_seconds` is killed. Call it once, from one
        thread. As in `subprocess`, a negative code is a signal's number.
        """
        if not self._has_ended(grace_seconds):
            self.kill()
            self._has_ended(None)
        with self._lock:
            # Until it is reaped its number still names its group, and nobody else's.
            self._kill_group()
            self._is_reaped = True
            self._process.wait()
        self._job.close()
        return self._process.returncode

    def terminate(self) -> None:
        """Ask the child to end; Windows knows no asking and ends it."""
        with self._lock:
            if self._is_reaped:
                return
            if sys.platform == "win32":
                self._process.terminate()
            else:
                # Not Popen.terminate, which may reap the child behind the back of `wait`.
                os.kill(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End the child and all its descendants at once; does not wait, harmless when gone."""
        with self._lock:
            if self._is_reaped:
                return
            # Descendants that left the group (a daemon) are found while their parents live.
            with contextlib.suppress(psutil.Error):
                for process in psutil.Process(self.pid).children(recursive=True):
                    with contextlib.suppress(psutil.Error):
                        process.kill()
            self._kill_group()

    def _kill_group(self) -> None:
        if sys.platform == "win32":
            self._job.terminate()
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    if sys.platform == "win32":

        def _has_ended(self, timeout_seconds: float | None) -> bool:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout_seconds)
            return self._process.returncode is not None

    else:

        def _has_ended(self, timeout_seconds: float | None) -> bool:
            """Wait for the end without reaping."""
            if timeout_seconds is None:
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
                return True
            deadline = time.monotonic() + timeout_seconds
            options = os.WEXITED | os.WNOWAIT | os.WNOHANG
            while os.waitid(os.P_PID, self.pid, options) is None:
                if time.monotonic() > deadline:
                    return False
                time.sleep(_POLL_SECONDS)
            return True


if sys.platform == "win32":
    from dflash_desktop.workers.windows_job import KillOnCloseJob

    _FORCE_OFF_FEEDBACK: Final = 0x80

    def _start(
        argv: Sequence[str], env: Mapping[str, str], error_output: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """No console window, no Ctrl+C of ours, and no flash of a busy cursor."""
        startup = subprocess.STARTUPINFO()
        startup.dwFlags |= subprocess.STARTF_USESHOWWINDOW | _FORCE_OFF_FEEDBACK
        startup.wShowWindow = subprocess.SW_HIDE
        return subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=error_output,
            startupinfo=startup,
            creationflags=subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP,
        )

    def _job_of(
        process: subprocess.Popen[bytes], process_memory_bytes: int | None
    ) -> KillOnCloseJob:
        """Raises `OSError` when Windows refuses the job; the child is then killed."""
        try:
            # There is no public name for the handle.
            handle = int(process._handle)  # type: ignore[attr-defined]  # see above
            return KillOnCloseJob(handle, process_memory_bytes=process_memory_bytes)
        except OSError:
            process.kill()
            process.communicate()
            raise

else:

    def _start(
        argv: Sequence[str], env: Mapping[str, str], error_output: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """A session of its own: Ctrl+C in our terminal is ours, and the group can be killed."""
        return subprocess.Popen(
            argv,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=error_output,
            start_new_session=True,
        )

    class _NoJob:
        """Only Windows has these; on Linux the worker asks the kernel itself."""

        def close(self) -> None:
            pass

    def _job_of(process: subprocess.Popen[bytes], process_memory_bytes: int | None) -> _NoJob:
        return _NoJob()
