"""The JSON form of a hardware report: versioned, lenient about what is missing or unknown."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Annotated

import msgspec

from dflash_desktop.domain.gpu_family import GpuFamily, family_of
from dflash_desktop.domain.hardware import (
    HARDWARE_REPORT_VERSION,
    Adapter,
    Gpu,
    HardwareReport,
    LinuxGraphics,
    Power,
    Probe,
    ProbeOutcome,
    RenderNode,
    SystemMemory,
)
from dflash_desktop.domain.problems import AppError, Problem

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.devices import Device

_Bytes = Annotated[int, msgspec.Meta(ge=0)]


class _Gpu(msgspec.Struct, frozen=True):
    name: str | None = None
    device: str | None = None
    family: str | None = None
    is_integrated: bool | None = None
    memory_bytes: _Bytes | None = None
    driver: str | None = None
    pci_id: str | None = None
    used_bytes: _Bytes | None = None
    memory_limit_bytes: _Bytes | None = None
    max_allocation_bytes: _Bytes | None = None
    has_resizable_bar: bool | None = None
    is_virtual: bool | None = None
    virtual_functions: _Bytes | None = None
    kernel_driver: str | None = None


class _Adapter(msgspec.Struct, frozen=True):
    name: str | None = None
    pci_id: str | None = None
    driver: str | None = None
    pci_address: str | None = None
    kernel_driver: str | None = None
    largest_bar_bytes: _Bytes | None = None
    is_virtual: bool | None = None
    virtual_functions: _Bytes | None = None


class _Probe(msgspec.Struct, frozen=True):
    outcome: str | None = None
    detail: str | None = None


class _Memory(msgspec.Struct, frozen=True):
    total_bytes: _Bytes | None = None
    available_bytes: _Bytes | None = None
    swap_bytes: _Bytes | None = None


class _Linux(msgspec.Struct, frozen=True):
    distribution: str | None = None
    has_opencl_loader: bool | None = None
    has_opencl_driver: bool | None = None
    pci_gpus: tuple[str, ...] | None = None
    render_nodes: tuple[RenderNode, ...] | None = None


class _Power(msgspec.Struct, frozen=True):
    source: str | None = None
    mode: str | None = None


class _Report(msgspec.Struct, frozen=True):
    report_version: int | None = None
    os: str | None = None
    is_wsl: bool | None = None
    cpu: str | None = None
    gpus: tuple[_Gpu, ...] | None = None
    npus: tuple[str, ...] | None = None
    memory: _Memory | None = None
    linux: _Linux | None = None
    power: _Power | None = None
    free_disk_bytes: _Bytes | None = None
    genai: str | None = None
    adapters: tuple[_Adapter, ...] | None = None
    probe: _Probe | None = None


def report_fields(report: HardwareReport) -> dict[str, object]:
    """The report for JSON; texts that are not known are null."""
    fields = msgspec.to_builtins(report)
    return {"report_version": HARDWARE_REPORT_VERSION, **_with_nulls(fields)}


def property_fields(device: Device) -> list[dict[str, str]]:
    """What a device states of itself, for JSON."""
    return [{"name": name, "value": value} for name, value in device.properties]


def decode_report(data: bytes) -> HardwareReport:
    """A report from JSON; anything may be missing, and what is not known here is ignored.

    Raises `msgspec.MsgspecError` for what is no report, and for one of a newer form.
    """
    raw = msgspec.json.decode(data, type=_Report)
    if (raw.report_version or HARDWARE_REPORT_VERSION) > HARDWARE_REPORT_VERSION:
        raise msgspec.ValidationError(
            f"its version is {raw.report_version}, this program knows {HARDWARE_REPORT_VERSION}"
        )
    memory, power = raw.memory or _Memory(), raw.power or _Power()
    return HardwareReport(
        os=raw.os or "",
        is_wsl=raw.is_wsl or False,
        cpu=raw.cpu or "",
        gpus=tuple(_gpu(gpu) for gpu in raw.gpus or ()),
        npus=raw.npus or (),
        memory=SystemMemory(memory.total_bytes, memory.available_bytes, memory.swap_bytes),
        linux=None if raw.linux is None else _linux(raw.linux),
        power=Power(power.source or "unknown", power.mode or ""),
        free_disk_bytes=raw.free_disk_bytes,
        genai=raw.genai or "",
        adapters=tuple(_adapter(adapter) for adapter in raw.adapters or ()),
        probe=Probe() if raw.probe is None else _probe(raw.probe),
    )


def read_report(file: Path) -> HardwareReport:
    """The report in `file`. Raises `AppError` (code "hardware_file_missing" or "..._invalid")."""
    try:
        return decode_report(_as_utf8(file.read_bytes()))
    except OSError as error:
        raise AppError(
            Problem(
                code="hardware_file_missing",
                headline=f"“{file}” could not be read: {error.strerror}.",
                advice="Name a file that was written with: dflash-desktop doctor --json",
            )
        ) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise AppError(
            Problem(
                code="hardware_file_invalid",
                headline=f"“{file}” is not a hardware report: {error}.",
                advice="Write one with: dflash-desktop doctor --json",
            )
        ) from error


def _as_utf8(data: bytes) -> bytes:
    """Windows' PowerShell writes UTF-16 when the output of `doctor --json` goes into a file."""
    for mark, encoding in (
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
        (codecs.BOM_UTF8, "utf-8-sig"),
    ):
        if data.startswith(mark):
            return data.decode(encoding).encode()
    return data


def _gpu(raw: _Gpu) -> Gpu:
    name, pci_id = raw.name or "", raw.pci_id or ""
    family = _family(raw.family, name=name, pci_id=pci_id)
    return Gpu(
        name=name or "a graphics device without a name",
        device=raw.device or "",
        family=family,
        is_integrated=family.is_integrated if raw.is_integrated is None else raw.is_integrated,
        memory_bytes=raw.memory_bytes or None,  # 0: the driver does not know
        driver=raw.driver or "",
        pci_id=pci_id,
        used_bytes=raw.used_bytes,
        memory_limit_bytes=raw.memory_limit_bytes,
        max_allocation_bytes=raw.max_allocation_bytes,
        has_resizable_bar=raw.has_resizable_bar,
        is_virtual=raw.is_virtual or False,
        virtual_functions=raw.virtual_functions or 0,
        kernel_driver=raw.kernel_driver or "",
    )


def _adapter(raw: _Adapter) -> Adapter:
    return Adapter(
        name=raw.name or "",
        pci_id=raw.pci_id or "",
        driver=raw.driver or "",
        pci_address=raw.pci_address or "",
        kernel_driver=raw.kernel_driver or "",
        largest_bar_bytes=raw.largest_bar_bytes,
        is_virtual=raw.is_virtual or False,
        virtual_functions=raw.virtual_functions or 0,
    )


def _probe(raw: _Probe) -> Probe:
    """An outcome that this program does not know counts as a failure: graphics are not known."""
    told = raw.outcome or ProbeOutcome.COMPLETE
    known = told in list(ProbeOutcome)
    return Probe(ProbeOutcome(told) if known else ProbeOutcome.FAILED, raw.detail or "")


def _family(told: str | None, *, name: str, pci_id: str) -> GpuFamily:
    """What the report says, "Lunar Lake" or "lunar_lake"; else what id and name say."""
    wanted = (told or "").strip().lower().replace(" ", "_").replace("-", "_")
    known = {family.value: family for family in GpuFamily}
    return known[wanted] if wanted in known else family_of(name=name, pci_id=pci_id)


def _linux(raw: _Linux) -> LinuxGraphics:
    return LinuxGraphics(
        distribution=raw.distribution or "",
        has_opencl_loader=raw.has_opencl_loader,
        has_opencl_driver=raw.has_opencl_driver,
        pci_gpus=raw.pci_gpus,
        render_nodes=raw.render_nodes,
    )


def _with_nulls(fields: object) -> dict[str, object]:
    if not isinstance(fields, dict):
        raise TypeError("a report is an object")
    return {key: _value(value) for key, value in fields.items()}


def _value(value: object) -> object:
    match value:
        case dict():
            return _with_nulls(value)
        case list() | tuple():
            return [_value(item) for item in value]
        case "":
            return None
        case _:
            return value
