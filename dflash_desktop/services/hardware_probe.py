"""Looks at this machine: OpenVINO's devices from a process of their own, the rest from the system.

The answer of OpenVINO is remembered on disk, for a window that must show something at once.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from dflash_desktop.domain.devices import DeviceReport
from dflash_desktop.domain.hardware import HardwareReport, Probe, ProbeOutcome
from dflash_desktop.domain.system_facts import SystemFacts, hardware_report, with_adapters
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.device_probe import PROBE_LIMIT_SECONDS, probe_devices
from dflash_desktop.services.system_probe import devices_without_openvino, system_facts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.services.worker_launch import WorkerLauncher

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Remembered:
    """The last answer; `key` stands for the drivers and versions that it came from."""

    key: str
    devices: DeviceReport
    probe: Probe


class HardwareProbe:
    """Makes hardware reports; `models_dir` tells the folder of models, which may be moved."""

    def __init__(
        self,
        *,
        launcher: WorkerLauncher,
        models_dir: Callable[[], Path],
        memory_file: Path,
        limit_seconds: float = PROBE_LIMIT_SECONDS,
    ) -> None:
        self._launcher = launcher
        self._models_dir = models_dir
        self._memory_file = memory_file
        self._limit_seconds = limit_seconds
        self._turn = asyncio.Lock()

    async def look(self) -> tuple[HardwareReport, DeviceReport]:
        """The report of now, and what OpenVINO said of it.

        Never raises for a driver's fault: a process that crashed or did not answer within the
        limit is told in `HardwareReport.probe`, and then there is the processor alone.
        """
        async with self._turn:
            facts = await asyncio.to_thread(system_facts, self._models_dir())
            devices, probe = await probe_devices(
                self._launcher.probe(), limit_seconds=self._limit_seconds
            )
            if devices is None:
                _log.info("the probe came back without devices: %s", probe.outcome)
                devices = devices_without_openvino(facts.cpu)
            await asyncio.to_thread(self._remember, _Remembered(_key(facts), devices, probe))
        return _reports(devices, facts, probe)

    async def remembered(self) -> tuple[HardwareReport, DeviceReport] | None:
        """As `look`, with OpenVINO's last answer, within milliseconds; memory and power are fresh.

        None when there is no answer yet, or a driver, an adapter or the runtime has changed.
        """
        return await asyncio.to_thread(self._recall)

    def _recall(self) -> tuple[HardwareReport, DeviceReport] | None:
        try:
            kept = msgspec.json.decode(self._memory_file.read_bytes(), type=_Remembered)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return None
        facts = system_facts(self._models_dir())
        if kept.key != _key(facts) or kept.probe.outcome is not ProbeOutcome.COMPLETE:
            return None
        return _reports(kept.devices, facts, kept.probe)

    def _remember(self, answer: _Remembered) -> None:
        with suppress(OSError):  # then the next start waits for the probe
            write_atomically(self._memory_file, msgspec.json.encode(answer))


def _reports(
    devices: DeviceReport, facts: SystemFacts, probe: Probe
) -> tuple[HardwareReport, DeviceReport]:
    devices = with_adapters(devices, facts.adapters)
    return hardware_report(devices, facts, probe), devices


def _key(facts: SystemFacts) -> str:
    """What OpenVINO's answer depends on: adapters and drivers, rights, versions, all the RAM."""
    here = devices_without_openvino(facts.cpu)
    parts = (facts.adapters, facts.linux, here, facts.memory.total_bytes, facts.is_wsl)
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()
