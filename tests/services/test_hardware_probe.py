"""This machine is looked at for real; OpenVINO's part comes from a made-up engine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import psutil

from dflash_desktop.domain.devices import Device, DeviceReport
from dflash_desktop.services.hardware_probe import HardwareProbe, system_facts

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.services.engine import Engine

DEVICES = DeviceReport(
    (Device("CPU", "A processor"), Device("GPU", "Intel(R) Arc(TM) B580 Graphics (dGPU)")),
    "2026.4.1",
    "2026.4.1.0",
    "2026.4.1.0",
    "3.11",
    "An OS",
)


class ListingEngine:
    async def devices(self) -> DeviceReport:
        return DEVICES


async def test_both_halves_are_in_the_report(tmp_path: Path) -> None:
    probe = HardwareProbe(engine=cast("Engine", ListingEngine()), models_dir=tmp_path)

    report, devices = await probe.look()

    assert devices is DEVICES
    assert report.os == "An OS"
    assert report.gpus[0].device == "GPU"
    assert report.memory.total_bytes == psutil.virtual_memory().total


def test_the_system_is_asked_for_what_it_knows(tmp_path: Path) -> None:
    facts = system_facts(tmp_path / "not" / "there" / "yet")

    assert facts.memory.total_bytes
    assert facts.memory.available_bytes
    assert facts.memory.available_bytes <= facts.memory.total_bytes
    assert facts.free_disk_bytes
    assert facts.power.source in ("mains", "battery", "unknown")
    assert (facts.linux is not None) is sys.platform.startswith("linux")
