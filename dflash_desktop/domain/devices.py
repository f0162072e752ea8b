"""Devices that OpenVINO finds, and which of them a pair should run on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from dflash_desktop.domain.device_identity import devices_meant, identity_of, is_openvino_name
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.problems import AppError, Problem, Remedy, Severity

SMALLEST_CARD_BYTES: Final = 1_000_000_000
"""With resizable BAR off, a card of 16 GB has offered 255 MB: then the processor is better."""


@dataclass(frozen=True, slots=True)
class Device:
    """One device; properties that a plugin does not answer are empty, never guessed."""

    id: str  # OpenVINO's name, "CPU", "GPU.0"
    full_name: str
    driver: str = ""
    is_discrete: bool | None = None
    memory_bytes: int | None = None
    max_allocation_bytes: int | None = None  # the largest single piece of it
    pci_id: str = ""  # "8086:64a0"
    pci_address: str = ""  # "0000:03:00.0"
    properties: tuple[tuple[str, str], ...] = ()  # all else that it tells of itself, by name

    @property
    def told_name(self) -> str:
        """The maker's name, or "" where a plugin told none and OpenVINO's stands in its place."""
        return "" if self.full_name == self.id else self.full_name


@dataclass(frozen=True, slots=True)
class DeviceReport:
    """What the engine process sees on this machine."""

    devices: tuple[Device, ...]
    openvino_version: str
    genai_version: str
    tokenizers_version: str
    python_version: str
    os: str


def normal_device_id(name: str) -> str:
    """OpenVINO wants upper case (case 53)."""
    return name.strip().upper()


def choose_device(report: DeviceReport, wanted: str = "") -> Device:
    """The device to use: the wanted one, else a discrete Intel GPU, else any, else the CPU.

    `wanted` is an identity, a part of a name, or OpenVINO's name. Never falls to another device
    than the wanted one: raises `AppError` (code "device_missing") when it is not there, and
    "device_ambiguous" when the words mean several. NPUs are not offered, since DFlash does not
    run there, nor are GPUs of other makers.
    """
    usable = offered_devices(report)
    if wanted:
        meant = devices_meant(wanted, usable)
        if len(meant) != 1:
            raise AppError(_not_the_one(wanted, usable, how_many=len(meant)))
        return next(device for device in usable if device.id == meant[0])
    if not usable:
        raise AppError(
            Problem(
                code="no_device",
                headline="OpenVINO found no device to run a model on.",
                advice="Install the program again: the CPU must be found even without a GPU.",
            )
        )
    return min(usable, key=_preference)


def graphics_gone(name: str) -> Problem:
    """What is said when Automatic had graphics the last time and finds only the CPU now.

    It stays so until a person chooses the CPU: a machine that became slow is never silent.
    """
    return Problem(
        code="graphics_gone",
        headline=f"{name} was not found, so answers come from the CPU.",
        advice=(
            "An update of the driver, another user or a docking station can be the reason. "
            "“Choose device” shows what is found now and what is missing."
        ),
        severity=Severity.WARNING,
        remedies=(Remedy.CHOOSE_DEVICE, Remedy.USE_CPU),
    )


def offered_devices(report: DeviceReport) -> tuple[Device, ...]:
    """What a person may choose from."""
    return tuple(device for device in report.devices if _is_usable(device))


def stored_choice(report: DeviceReport, device: Device) -> str:
    """How the choice of this device is kept: by what it is, not by where it is listed."""
    return identity_of(device, offered_devices(report))


def _not_the_one(wanted: str, usable: tuple[Device, ...], *, how_many: int) -> Problem:
    found = "; ".join(
        f"{identity_of(device, usable)} ({device.full_name})"
        if device.id == "CPU"
        else identity_of(device, usable)
        for device in usable
    )
    if how_many > 1:
        return Problem(
            code="device_ambiguous",
            headline=f"“{wanted}” may mean several devices of this machine.",
            advice=f"Name one of these: {found or 'none'}.",
            remedies=(Remedy.CHOOSE_DEVICE,),
        )
    why = "" if is_openvino_name(wanted) else " It was taken out, or its driver does not start."
    return Problem(
        code="device_missing",
        headline=f"“{wanted}” is not available on this machine.",
        advice=f"Found: {found or 'none'}.{why} Choose one of these, or check the graphics "
        "driver and try again.",
        remedies=(Remedy.CHOOSE_DEVICE, Remedy.USE_CPU, Remedy.RETRY),
    )


def default_kv_cache_precision(device: Device) -> KvCachePrecision:
    """f32 on a CPU, where it keeps the text equal with and without the draft; f16 on GPUs."""
    return KvCachePrecision.F16 if device.id.startswith("GPU") else KvCachePrecision.F32


def _is_usable(device: Device) -> bool:
    if device.id.startswith("GPU"):
        if device.pci_id:
            return device.pci_id.startswith("8086:")
        return "intel" in device.told_name.lower() or not device.told_name
    return device.id == "CPU"


def _preference(device: Device) -> tuple[int, int, str, str]:
    """A card first, of two the larger one, of equal ones always the same (case 52).

    A card that offers next to nothing, as with resizable BAR off, comes after the CPU: no model
    goes into it, and what fits is told for the processor.
    """
    rank = 2 if device.id == "CPU" else 0 if device.is_discrete else 1
    if rank == 0 and device.memory_bytes and device.memory_bytes < SMALLEST_CARD_BYTES:
        rank = 3
    return (rank, -(device.memory_bytes or 0), device.pci_address or device.pci_id, device.id)
