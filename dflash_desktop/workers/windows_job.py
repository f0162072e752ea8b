"""Windows: a job object, which ends all processes in it with us and may bound their memory."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import Any

_EXTENDED_LIMIT_INFORMATION: Final = 9
_KILL_ON_JOB_CLOSE: Final = 0x2000
_PROCESS_MEMORY: Final = 0x100
_JOB_MEMORY: Final = 0x200


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION of winnt.h."""

    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class KillOnCloseJob:
    """When its last handle closes, as when we die, all processes in it are ended.

    Memory beyond `process_memory_bytes` is refused to each of them, beyond `job_memory_bytes` to
    all of them together. Raises `OSError` when Windows
    refuses the job: the process is then in none, and whoever started it has to end it.
    """

    def __init__(
        self,
        process_handle: int,
        *,
        process_memory_bytes: int | None = None,
        job_memory_bytes: int | None = None,
        library: Any = None,  # noqa: ANN401 - ctypes has no types for it
    ) -> None:
        self._library = library or _kernel32()
        self._handle = self._library.CreateJobObjectW(None, None)
        limits = ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
        if process_memory_bytes is not None:
            limits.BasicLimitInformation.LimitFlags |= _PROCESS_MEMORY
            limits.ProcessMemoryLimit = process_memory_bytes
        if job_memory_bytes is not None:
            limits.BasicLimitInformation.LimitFlags |= _JOB_MEMORY
            limits.JobMemoryLimit = job_memory_bytes
        is_set = self._handle and self._library.SetInformationJobObject(
            self._handle,
            _EXTENDED_LIMIT_INFORMATION,
            ctypes.byref(limits),
            ctypes.sizeof(limits),
        )
        if not is_set or not self._library.AssignProcessToJobObject(self._handle, process_handle):
            error = _last_error()
            self.close()
            raise error

    def terminate(self) -> None:
        """End all processes in it."""
        self._library.TerminateJobObject(self._handle, 1)

    def close(self) -> None:
        """Close the handle, which ends what is still in it; harmless when it is closed."""
        if self._handle:
            self._library.CloseHandle(self._handle)
            self._handle = None


def _last_error() -> OSError:
    if sys.platform == "win32":
        return ctypes.WinError(ctypes.get_last_error())
    return OSError("the job was refused")


def _kernel32() -> Any:  # noqa: ANN401 - see above
    if sys.platform == "win32":
        from ctypes import wintypes

        library = ctypes.WinDLL("kernel32", use_last_error=True)
        library.CreateJobObjectW.restype = wintypes.HANDLE
        library.CreateJobObjectW.argtypes = (wintypes.LPVOID, wintypes.LPCWSTR)
        library.SetInformationJobObject.argtypes = (
            wintypes.HANDLE,
            ctypes.c_int,
            wintypes.LPVOID,
            wintypes.DWORD,
        )
        library.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
        library.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
        library.CloseHandle.argtypes = (wintypes.HANDLE,)
        return library
    raise OSError("only Windows has job objects")
