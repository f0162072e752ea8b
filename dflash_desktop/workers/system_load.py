"""How the system stands with its memory: available, swapped, promised, waited for."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dflash_desktop.workers.linux_memory import byte_fields

_PROC: Final = Path("/proc")
_MICROSECONDS: Final = 1e6
_PROMISES_NO_MORE: Final = "2"
"""Of vm.overcommit_memory: nothing is promised beyond the commit limit."""


@dataclass(frozen=True, slots=True)
class SystemLoad:
    """Bytes; None is what this system does not tell."""

    total_bytes: int
    available_bytes: int  # without swapping
    swap_used_bytes: int = 0
    swap_free_bytes: int = 0
    commit_free_bytes: int | None = None  # may still be promised; where there is such a limit
    stalled_seconds: float | None = None  # since the start of the machine, all tasks waiting


def system_load() -> SystemLoad:
    """The load now; quick enough for a hundred times a second."""
    if sys.platform == "win32":
        from dflash_desktop.workers.windows_memory import windows_load

        return windows_load()
    return linux_load(_PROC)


def linux_load(proc: Path) -> SystemLoad:
    """The same from the files of a Linux kernel."""
    memory = byte_fields(proc / "meminfo")
    swap_free = memory.get("SwapFree", 0)
    return SystemLoad(
        total_bytes=memory.get("MemTotal", 0),
        available_bytes=memory.get("MemAvailable", 0),
        swap_used_bytes=memory.get("SwapTotal", 0) - swap_free,
        swap_free_bytes=swap_free,
        commit_free_bytes=_commit_free(proc, memory),
        stalled_seconds=_stalled_seconds(proc / "pressure" / "memory"),
    )


def _commit_free(proc: Path, memory: dict[str, int]) -> int | None:
    if _text(proc / "sys" / "vm" / "overcommit_memory").strip() != _PROMISES_NO_MORE:
        return None  # promises mean nothing: the kernel gives more than it has
    return memory.get("CommitLimit", 0) - memory.get("Committed_AS", 0)


def _stalled_seconds(file: Path) -> float | None:
    """Pressure stall information, which kernels before 4.20 and some builds lack."""
    for line in _text(file).splitlines():
        words = line.split()
        if words[:1] == ["full"] and words[-1].startswith("total="):
            total = words[-1].removeprefix("total=")
            return int(total) / _MICROSECONDS if total.isdecimal() else None
    return None


def oom_kills(proc: Path = _PROC) -> int:
    """How many processes this Linux has ended for memory since it started; else 0."""
    vmstat = proc / "vmstat"
    for line in _text(vmstat).splitlines():
        name, _, count = line.partition(" ")
        if name == "oom_kill" and count.isdecimal():
            return int(count)
    return 0


def _text(file: Path) -> str:
    try:
        return file.read_text("ascii", "replace")
    except OSError:
        return ""
