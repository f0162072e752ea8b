"""What the operating system says of this machine, without asking any driver."""

from __future__ import annotations

import platform
import sys
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.domain.devices import Device, DeviceReport
from dflash_desktop.domain.hardware import Adapter, Power, SystemMemory
from dflash_desktop.domain.system_facts import SystemFacts
from dflash_desktop.services.power_mode import power_mode
from dflash_desktop.services.power_source import power_source
from dflash_desktop.workers.disk_room import told_free_disk_bytes
from dflash_desktop.workers.linux_graphics import cpu_name, is_wsl, linux_graphics, pci_adapters
from dflash_desktop.workers.package_version import package_version
from dflash_desktop.workers.windows_graphics import registry_adapters, registry_cpu_name

if TYPE_CHECKING:
    from pathlib import Path


def system_facts(models_dir: Path) -> SystemFacts:
    """Everything at this moment; `models_dir` is on the disk that models go to."""
    is_linux = sys.platform.startswith("linux")
    return SystemFacts(
        memory=system_memory(),
        power=Power(source=power_source(), mode=power_mode()),
        adapters=system_adapters(),
        linux=linux_graphics() if is_linux else None,
        is_wsl=is_linux and is_wsl(),
        free_disk_bytes=told_free_disk_bytes(models_dir),
        cpu=cpu_name() if is_linux else registry_cpu_name(),
    )


def system_memory() -> SystemMemory:
    """RAM, what of it is free, and swap."""
    memory = psutil.virtual_memory()
    return SystemMemory(
        total_bytes=memory.total,
        available_bytes=memory.available,
        swap_bytes=psutil.swap_memory().total,
    )


def system_adapters() -> tuple[Adapter, ...]:
    """Every graphics adapter that the system lists, with a driver or without."""
    return pci_adapters() if sys.platform.startswith("linux") else registry_adapters()


def devices_without_openvino(cpu: str) -> DeviceReport:
    """What is sure without asking OpenVINO: a processor, and which versions are installed."""
    return DeviceReport(
        devices=(Device("CPU", cpu or "CPU"),),
        openvino_version=package_version("openvino"),
        genai_version=package_version("openvino-genai"),
        tokenizers_version=package_version("openvino-tokenizers"),
        python_version=platform.python_version(),
        os=platform.platform(),
    )
