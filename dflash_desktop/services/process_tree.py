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
        self._job = _KillOnCloseJob(self._process, memory_limit_bytes)
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
    import ctypes
    from ctypes import wintypes

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

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", wintypes.LARGE_INTEGER),
            ("PerJobUserTimeLimit", wintypes.LARGE_INTEGER),
            ("LimitFlags", wintypes.DWORD),
            ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t),
            ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t),
            ("PriorityClass", wintypes.DWORD),
            ("SchedulingClass", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _BasicLimits),
            ("IoInfo", ctypes.c_ulonglong * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t),
            ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t),
            ("PeakJobMemoryUsed", ctypes.c_size_t),
        )

    _EXTENDED_LIMIT_INFORMATION: Final = 9
    _KILL_ON_JOB_CLOSE: Final = 0x2000
    _PROCESS_MEMORY: Final = 0x100
    _kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel32.CreateJobObjectW.restype = wintypes.HANDLE
    _kernel32.CreateJobObjectW.argtypes = (wintypes.LPVOID, wintypes.LPCWSTR)
    _kernel32.SetInformationJobObject.argtypes = (
        wintypes.HANDLE,
        ctypes.c_int,
        wintypes.LPVOID,
        wintypes.DWORD,
    )
    _kernel32.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    _kernel32.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
    _kernel32.CloseHandle.argtypes = (wintypes.HANDLE,)

    class _KillOnCloseJob:
        """A job object: when its last handle closes, as when we die, all in it are ended.

        Raises `OSError` when Windows refuses the job; the child is then killed.
        """

        def __init__(
            self, process: subprocess.Popen[bytes], memory_limit_bytes: int | None
        ) -> None:
            self._handle = _kernel32.CreateJobObjectW(None, None)
            limits = _ExtendedLimits()
            limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
            if memory_limit_bytes is not None:
                limits.BasicLimitInformation.LimitFlags |= _PROCESS_MEMORY
                limits.ProcessMemoryLimit = memory_limit_bytes
            is_set = self._handle and _kernel32.SetInformationJobObject(
                self._handle,
                _EXTENDED_LIMIT_INFORMATION,
                ctypes.byref(limits),
                ctypes.sizeof(limits),
            )
            handle = int(process._handle)  # type: ignore[attr-defined]  # there is no public name
            if not is_set or not _kernel32.AssignProcessToJobObject(self._handle, handle):
                error = ctypes.WinError(ctypes.get_last_error())
                process.kill()
                process.communicate()
                self.close()
                raise error

        def terminate(self) -> None:
            _kernel32.TerminateJobObject(self._handle, 1)

        def close(self) -> None:
            if self._handle:
                _kernel32.CloseHandle(self._handle)
                self._handle = None

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

    class _KillOnCloseJob:
        """Only Windows has these; on Linux the worker asks the kernel itself."""

        def __init__(
            self, process: subprocess.Popen[bytes], memory_limit_bytes: int | None
        ) -> None:
            pass

        def close(self) -> None:
            pass
