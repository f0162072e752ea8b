"""`dflash-desktop doctor`: devices, versions and findings that decide what a machine can run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflash_desktop import __version__
from dflash_desktop.cli.hardware_option import add_hardware_option
from dflash_desktop.cli.pair_options import pair_loading
from dflash_desktop.domain.device_agreement import DeviceAnswers
from dflash_desktop.domain.device_identity import identity_of, identity_text
from dflash_desktop.domain.devices import (
    Device,
    DeviceReport,
    choose_device,
    stored_choice,
)
from dflash_desktop.domain.gpu_findings import findings, version_findings, worst_first
from dflash_desktop.domain.hardware import HardwareReport
from dflash_desktop.domain.problems import AppError, Problem, Severity
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.gpu_findings import KnownDriver

HELP = """Show the devices that can run a model, the versions in use, and what is wrong with them.

Nothing is changed and nothing is sent anywhere. What --json prints is also a report of the machine
that --hardware reads, here or on another one.

examples:
  dflash-desktop doctor
  dflash-desktop doctor --json
  dflash-desktop doctor --hardware report.json
  dflash-desktop doctor --compare B580
"""

_MARKS = {Severity.ERROR: "!!", Severity.WARNING: "! ", Severity.INFO: "- "}


def add_arguments(parser: ArgumentParser) -> None:
    """`doctor [--hardware FILE | --compare DEVICE]`."""
    add_hardware_option(parser)
    parser.add_argument(
        "--compare",
        metavar="DEVICE",
        help="also ask the starter model on this device and on the CPU, and say if they differ",
    )


async def run(args: Namespace, context: CommandContext) -> DoctorResult:
    """Look at this machine, through a process that a bad driver may take down, or at a file."""
    from dflash_desktop.services.catalogue_store import load_known_drivers
    from dflash_desktop.services.hardware_report import read_report

    known_drivers = load_known_drivers()
    if args.hardware is not None:
        hardware = read_report(args.hardware)
        return diagnose(devices_of_report(hardware), hardware, known_drivers)
    hardware, devices = await context.hardware_probe.look()
    result = diagnose(devices, hardware, known_drivers, wanted=context.settings.value.device)
    if args.compare is None:
        return result
    from dflash_desktop.services.device_comparison import compare_with_cpu

    answers = await compare_with_cpu(
        context.starter.pair(),
        device=args.compare,
        engine=context.engine,
        loading=pair_loading(context),
    )
    found = (*result.findings, *filter(None, (answers.finding,)))
    return replace(result, answers=answers, findings=worst_first(found))


def diagnose(
    devices: DeviceReport,
    hardware: HardwareReport,
    known_drivers: tuple[KnownDriver, ...],
    *,
    wanted: str = "",
) -> DoctorResult:
    """What a report means: the device that answers would come from, or why there is none.

    `wanted` is the device that a person chose in the settings.
    """
    choice: Device | Problem
    try:
        choice = choose_device(devices, wanted)
    except AppError as error:
        choice = error.problem
    found = (*version_findings(devices), *findings(hardware, known_drivers))
    return DoctorResult(devices, hardware, found, choice)


def devices_of_report(hardware: HardwareReport) -> DeviceReport:
    """What OpenVINO would list on a recorded machine; versions that nobody recorded are empty."""
    cpu = Device(id="CPU", full_name=hardware.cpu or "CPU")
    gpus = (
        Device(
            id=gpu.device,
            full_name=gpu.name,
            driver=gpu.driver,
            is_discrete=None if gpu.is_integrated is None else not gpu.is_integrated,
            memory_bytes=gpu.memory_bytes,
            max_allocation_bytes=gpu.max_allocation_bytes,
            pci_id=gpu.pci_id,
        )
        for gpu in hardware.gpus
        if gpu.device  # else OpenVINO did not list it
    )
    npus = (Device(id="NPU", full_name=name) for name in hardware.npus)
    return DeviceReport((cpu, *gpus, *npus), "", hardware.genai, "", "", hardware.os)


@dataclass(frozen=True, slots=True)
class DoctorResult:
    """A machine, what was found out about it, and the device that is chosen or why none is."""

    report: DeviceReport
    hardware: HardwareReport
    findings: tuple[Problem, ...]
    choice: Device | Problem
    answers: DeviceAnswers | None = None

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md: a hardware report, and what the program makes of it."""
        from dflash_desktop.services.hardware_report import property_fields, report_fields

        report = self.report
        return {
            "version": __version__,
            "openvino": report.openvino_version or None,
            "tokenizers": report.tokenizers_version or None,
            "python": report.python_version or None,
            **report_fields(self.hardware),
            "devices": [
                {
                    "id": device.id,
                    "identity": identity_of(device, report.devices),
                    "name": device.full_name,
                    "driver": device.driver or None,
                    "is_discrete": device.is_discrete,
                    "memory_bytes": device.memory_bytes,
                    "properties": property_fields(device),
                }
                for device in report.devices
            ],
            "chosen_device": self.choice.id if isinstance(self.choice, Device) else None,
            "chosen_identity": stored_choice(report, self.choice)
            if isinstance(self.choice, Device)
            else None,
            "answers": None
            if self.answers is None
            else {
                "device_name": self.answers.device_name,
                "agrees": self.answers.agrees,
                "difference_token": self.answers.difference_token,
                "device_text": self.answers.device_text,
                "cpu_text": self.answers.cpu_text,
            },
            "findings": [
                {
                    "code": finding.code,
                    "severity": finding.severity.value,
                    "headline": finding.headline,
                    "advice": finding.advice,
                    "source": finding.detail or None,
                }
                for finding in self.findings
            ],
        }

    def as_text(self) -> str:
        """Versions, devices, what was found, and what follows from it."""
        report = self.report
        versions = {
            "OpenVINO": report.openvino_version,
            "OpenVINO GenAI": report.genai_version,
            "OpenVINO Tokenizers": report.tokenizers_version,
            "Python": report.python_version,
        }
        lines = [
            f"DFlash Desktop {__version__}",
            *(f"{name} {version}" for name, version in versions.items() if version),
            report.os,
            *_memory_lines(self.hardware),
            "",
            "Devices",
            *(f"  {_device_line(device)}" for device in report.devices),
            "",
        ]
        if self.answers is not None and self.answers.agrees:
            lines.append(f"- {self.answers.device_name} answers as the processor does.")
        for finding in self.findings:
            lines.append(f"{_MARKS[finding.severity]} {finding.headline}")
            lines += [f"   {line}" for line in finding.advice.splitlines()]
        return "\n".join([*lines, *self._conclusion()])

    def _conclusion(self) -> tuple[str, ...]:
        match self.choice:
            case Problem(headline=headline, advice=advice):
                return (headline, advice)
            case Device(id="CPU"):
                return ("Answers come from the CPU.",)
            case Device(id=device_id, full_name=name):
                return (f"Answers come from {device_id}, {name}.",)


def _memory_lines(hardware: HardwareReport) -> tuple[str, ...]:
    total, free = hardware.memory.total_bytes, hardware.memory.available_bytes
    if total is None:
        return ()
    words = f"Memory {format_bytes(total)}"
    return (words if free is None else f"{words}, {format_bytes(free)} free",)


def _device_line(device: Device) -> str:
    parts = [f"{device.id:<6} {identity_text(name=device.full_name, pci_id=device.pci_id)}"]
    if device.is_discrete is not None:
        parts.append("own memory" if device.is_discrete else "shares the system's memory")
    if device.memory_bytes:
        parts.append(format_bytes(device.memory_bytes))
    if device.driver:
        parts.append(f"driver {device.driver}")
    return ", ".join(parts)
