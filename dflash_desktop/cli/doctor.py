"""`dflash-desktop doctor`: the devices and versions that decide what this machine can run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop import __version__
from dflash_desktop.domain.devices import Device, DeviceReport, choose_device
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext

HELP = """Show the devices that can run a model, and the versions in use.

Nothing is changed and nothing is sent anywhere.

examples:
  dflash-desktop doctor
  dflash-desktop doctor --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """`doctor` takes only what every command takes."""


async def run(args: Namespace, context: CommandContext) -> DoctorResult:
    """Ask the engine process, which is the one that will have to work with these devices."""
    return diagnose(await context.engine.devices())


def diagnose(report: DeviceReport) -> DoctorResult:
    """What a report means: the device that answers would come from, or why there is none."""
    try:
        return DoctorResult(report, choose_device(report))
    except AppError as error:
        return DoctorResult(report, error.problem)


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """A device report, and the device that the program chooses or why it cannot."""

    report: DeviceReport
    choice: Device | Problem

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        report = self.report
        return {
            "version": __version__,
            "openvino": report.openvino_version,
            "genai": report.genai_version,
            "tokenizers": report.tokenizers_version,
            "python": report.python_version,
            "os": report.os,
            "devices": [
                {
                    "id": device.id,
                    "name": device.full_name,
                    "driver": device.driver or None,
                    "is_discrete": device.is_discrete,
                    "memory_bytes": device.memory_bytes,
                }
                for device in report.devices
            ],
            "chosen_device": self.choice.id if isinstance(self.choice, Device) else None,
        }

    def as_text(self) -> str:
        """Versions, devices, and what follows from them."""
        report = self.report
        lines = [
            f"DFlash Desktop {__version__}",
            f"OpenVINO {report.openvino_version}",
            f"OpenVINO GenAI {report.genai_version}",
            f"OpenVINO Tokenizers {report.tokenizers_version}",
            f"Python {report.python_version}",
            report.os,
            "",
            "Devices",
            *(f"  {_device_line(device)}" for device in report.devices),
            "",
            *self._conclusion(),
        ]
        return "\n".join(lines)

    def _conclusion(self) -> tuple[str, ...]:
        match self.choice:
            case Problem(headline=headline, advice=advice):
                return (headline, advice)
            case Device(id="CPU"):
                return (
                    "Answers come from the CPU: no Intel graphics device was found.",
                    "If this machine has one, install or update its graphics driver.",
                )
            case Device(id=device_id, full_name=name):
                return (f"Answers come from {device_id}, {name}.",)


def _device_line(device: Device) -> str:
    parts = [f"{device.id:<6} {device.full_name}"]
    if device.is_discrete is not None:
        parts.append("own memory" if device.is_discrete else "shares the system's memory")
    if device.memory_bytes:
        parts.append(format_bytes(device.memory_bytes))
    if device.driver:
        parts.append(f"driver {device.driver}")
    return ", ".join(parts)
