"""How much memory Windows still promises: what programs ask for counts, used or not (case 36)."""

from __future__ import annotations

import ctypes
import sys


def commit_left_bytes() -> int | None:
    """What all programs together may still ask for: RAM and paging file, less what is promised.

    None where nothing is limited that way, or the system does not tell.
    """
    if sys.platform == "win32":
        status = _MemoryStatus()
        status.length = ctypes.sizeof(status)
        if ctypes.WinDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status)):
            return int(status.available_commit)
    return None


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX; what it calls page file is the commit limit, RAM included."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total_memory", ctypes.c_uint64),
        ("available_memory", ctypes.c_uint64),
        ("total_commit", ctypes.c_uint64),
        ("available_commit", ctypes.c_uint64),
        ("total_virtual", ctypes.c_uint64),
        ("available_virtual", ctypes.c_uint64),
        ("available_extended", ctypes.c_uint64),
    )
