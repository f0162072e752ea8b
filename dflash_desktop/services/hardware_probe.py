"""Looks at this machine: OpenVINO's devices from the engine process, the rest from the system."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.domain.hardware import (
    Power,
    SystemFacts,
    SystemMemory,
    hardware_report,
)
from dflash_desktop.services.power_source import power_source
from dflash_desktop.workers.linux_graphics import is_wsl, linux_graphics, pci_adapters
from dflash_desktop.workers.windows_graphics import registry_adapters

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.services.engine import Engine


class HardwareProbe:
    """Makes hardware reports of this machine; `models_dir` is on the disk that models go to."""

    def __init__(self, *, engine: Engine, models_dir: Path) -> None:
        self._engine = engine
        self._models_dir = models_dir

    async def look(self) -> tuple[HardwareReport, DeviceReport]:
        """The report, and what OpenVINO said of it. Raises `AppError` if the engine fails."""
        devices = await self._engine.devices()
        facts = await asyncio.to_thread(system_facts, self._models_dir)
        return hardware_report(devices, facts), devices


def system_facts(models_dir: Path) -> SystemFacts:
    """What the operating system says right now."""
    is_linux = sys.platform.startswith("linux")
    memory = psutil.virtual_memory()
    return SystemFacts(
        memory=SystemMemory(
            total_bytes=memory.total,
            available_bytes=memory.available,
            swap_bytes=psutil.swap_memory().total,
        ),
        power=Power(source=power_source()),
        adapters=pci_adapters() if is_linux else registry_adapters(),
        linux=linux_graphics() if is_linux else None,
        is_wsl=is_linux and is_wsl(),
        free_disk_bytes=_free_bytes(models_dir),
    )


def _free_bytes(folder: Path) -> int | None:
    """Of the disk on which `folder` is, or will be."""
    for place in (folder, *folder.parents):
        try:
            return psutil.disk_usage(str(place)).free
        except OSError:
            continue
    return None
