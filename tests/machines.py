"""The recorded machines in tests/data/machines; each file says what it is and where it is from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.memory_pool import MemoryPool, memory_pool
from dflash_desktop.services.hardware_report import read_report

if TYPE_CHECKING:
    from dflash_desktop.domain.hardware import HardwareReport

MACHINES_DIR = Path(__file__).parent / "data" / "machines"


def machine(name: str) -> HardwareReport:
    """The report of one recorded machine."""
    return read_report(MACHINES_DIR / f"{name}.json")


async def pool_of(report: HardwareReport) -> MemoryPool:
    """The memory for models while none is loaded and nothing was chosen."""
    return memory_pool(report)
