"""Windows: memory that is free, and memory that may still be promised (GetPerformanceInfo)."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.workers.system_load import SystemLoad

if TYPE_CHECKING:
    from typing import Any


class PerformanceInformation(ctypes.Structure):
    """PERFORMANCE_INFORMATION of psapi.h; all sizes but the first in pages."""

    _fields_ = (
        ("cb", ctypes.c_uint32),
        ("CommitTotal", ctypes.c_size_t),
        ("CommitLimit", ctypes.c_size_t),
        ("CommitPeak", ctypes.c_size_t),
        ("PhysicalTotal", ctypes.c_size_t),
        ("PhysicalAvailable", ctypes.c_size_t),
        ("SystemCache", ctypes.c_size_t),
        ("KernelTotal", ctypes.c_size_t),
        ("KernelPaged", ctypes.c_size_t),
        ("KernelNonpaged", ctypes.c_size_t),
        ("PageSize", ctypes.c_size_t),
        ("HandleCount", ctypes.c_uint32),
        ("ProcessCount", ctypes.c_uint32),
        ("ThreadCount", ctypes.c_uint32),
    )


def windows_load(library: Any = None) -> SystemLoad:  # noqa: ANN401 - ctypes has no types for it
    """The load now. Raises `OSError` when Windows does not tell.

    What is committed and not in RAM lies in the paging file, or will: its use counts as swap.
    """
    info = PerformanceInformation()
    info.cb = ctypes.sizeof(info)
    if not (library or _psapi()).GetPerformanceInfo(ctypes.byref(info), info.cb):
        raise OSError("Windows does not tell how much memory it has")
    page = info.PageSize
    in_memory = info.PhysicalTotal - info.PhysicalAvailable
    info.CommitLimit - max(info.CommitTotal, info.PhysicalTotal)
    return SystemLoad(
        total_bytes=info.PhysicalTotal * page,
        available_bytes=info.PhysicalAvailable * page,
        swap_used_bytes=max(0, info.CommitTotal - in_memory) * page,
        swap_free_bytes=max(0, info.CommitLimit - max(info.CommitTotal, info.PhysicalTotal))
        * page,
        commit_free_bytes=max(0, info.CommitLimit - info.CommitTotal) * page,
    )


def private_bytes(pids: tuple[int, ...]) -> int:
    """What these processes have committed for themselves; the shared rest is files."""
    total = 0
    for pid in pids:
        try:
            memory = psutil.Process(pid).memory_info()
        except psutil.Error:
            continue
        total += getattr(memory, "private", memory.rss)
    return total


def _psapi() -> Any:  # noqa: ANN401 - see above
    if sys.platform == "win32":
        library = ctypes.WinDLL("psapi", use_last_error=True)
        library.GetPerformanceInfo.argtypes = (ctypes.c_void_p, ctypes.c_uint32)
        return library
    raise OSError("only Windows has this library")
