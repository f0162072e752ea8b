"""Devices that OpenVINO finds, and which of them a pair should run on."""

from __future__ import annotations

from dataclasses import dataclass

from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.problems import AppError, Problem, Remedy


@dataclass(frozen=True, slots=True)
class Device:
    """One device; properties that a plugin does not answer are empty, never guessed."""

    id: str  # OpenVINO's name, "CPU", "GPU.0"
    full_name: str
    driver: str = ""
    is_discrete: bool | None = None
    memory_bytes: int | None = None
    max_allocation_bytes: int | None = None  # the largest single piece of it


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
    """OpenVINO wants upper case and knows one lone GPU as "GPU" (case 53)."""
    return name.strip().upper()


def choose_device(report: DeviceReport, wanted: str = "") -> Device:
    """The device to use: the wanted one, else a discrete Intel GPU, else any, else the CPU.

    Never falls to another device than the wanted one: raises `AppError` (code
    "device_missing") when it is not there. NPUs are not offered, since DFlash does not run there,
    nor are GPUs of other makers.
    """
    usable = tuple(d for d in report.devices if _is_usable(d))
    if wanted:
        name = normal_device_id(wanted)
        aliases = {name, f"{name}.0"} if name == "GPU" else {name, name.removesuffix(".0")}
        for device in usable:
            if device.id in aliases:
                return device
        found = ", ".join(f"{d.id} ({d.full_name})" for d in usable) or "none"
        raise AppError(
            Problem(
                code="device_missing",
                headline=f"{wanted} is not available on this machine.",
                advice=f"Found: {found}. Choose one of these, or check the graphics driver.",
                remedies=(Remedy.USE_CPU, Remedy.RETRY),
            )
        )
    if not usable:
        raise AppError(
            Problem(
                code="no_device",
                headline="OpenVINO found no device to run a model on.",
                advice="Install the program again: the CPU must be found even without a GPU.",
            )
        )
    return min(usable, key=_preference)


def default_kv_cache_precision(device: Device) -> KvCachePrecision:
    """f32 on a CPU, where it keeps the text equal with and without the draft; f16 on GPUs."""
    return KvCachePrecision.F16 if device.id.startswith("GPU") else KvCachePrecision.F32


def _is_usable(device: Device) -> bool:
    if device.id.startswith("GPU"):
        return "intel" in device.full_name.lower() or not device.full_name
    return device.id == "CPU"


def _preference(device: Device) -> tuple[int, str]:
    if device.id == "CPU":
        return (2, device.id)
    return (0 if device.is_discrete else 1, device.id)
