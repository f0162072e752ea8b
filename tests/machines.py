"""The recorded machines in tests/data/machines; each file says what it is and where it is from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.services.hardware_report import read_report

if TYPE_CHECKING:
    from dflash_desktop.domain.hardware import HardwareReport

MACHINES_DIR = Path(__file__).parent / "data" / "machines"


def machine(name: str) -> HardwareReport:
    """The report of one recorded machine."""
    return read_report(MACHINES_DIR / f"{name}.json")
