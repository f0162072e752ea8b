"""What OpenVINO sees and what the operating system says, put together into one report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.device_identity import plain_name
from dflash_desktop.domain.gpu_family import family_of
from dflash_desktop.domain.hardware import (
    Adapter,
    Gpu,
    HardwareReport,
    LinuxGraphics,
    Power,
    Probe,
    SystemMemory,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.domain.devices import Device, DeviceReport

_SMALL_BAR_BYTES: Final = 256 * 1024 * 1024
"""Without resizable BAR, the processor sees a card's memory through a window of this size."""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """What the operating system says, beside what OpenVINO sees."""

    memory: SystemMemory
    power: Power
    adapters: tuple[Adapter, ...] = ()
    linux: LinuxGraphics | None = None
    is_wsl: bool = False
    free_disk_bytes: int | None = None
    cpu: str = ""


def hardware_report(
    devices: DeviceReport, facts: SystemFacts, probe: Probe | None = None
) -> HardwareReport:
    """OpenVINO's GPUs with the ids and drivers of the system's adapters, and all the rest."""
    names = {device.id: device.full_name for device in devices.devices}
    return HardwareReport(
        os=devices.os,
        is_wsl=facts.is_wsl,
        cpu=names.get("CPU") or facts.cpu,
        gpus=tuple(_gpu(device, adapter) for device, adapter in _matched(devices, facts.adapters)),
        npus=tuple(name for id_, name in names.items() if id_.startswith("NPU")),
        memory=facts.memory,
        linux=facts.linux,
        power=facts.power,
        free_disk_bytes=facts.free_disk_bytes,
        genai=devices.genai_version,
        adapters=facts.adapters,
        probe=probe or Probe(),
    )


def with_adapters(devices: DeviceReport, adapters: tuple[Adapter, ...]) -> DeviceReport:
    """The devices with the PCI ids and drivers that only the system knows."""
    found = {device.id: adapter for device, adapter in _matched(devices, adapters)}
    return replace(
        devices,
        devices=tuple(
            replace(
                device,
                pci_id=device.pci_id or found[device.id].pci_id,
                driver=device.driver or found[device.id].driver,
            )
            if device.id in found
            else device
            for device in devices.devices
        ),
    )


def _matched(
    devices: DeviceReport, adapters: tuple[Adapter, ...]
) -> Iterable[tuple[Device, Adapter]]:
    """Each GPU with its adapter: the one at its address, of its id, or of its name.

    The only Intel adapter belongs to the only GPU; else nothing is guessed. Two equal cards get
    an adapter each, in the system's order.
    """
    gpus = [device for device in devices.devices if device.id.startswith("GPU")]
    left = list(adapters)
    for device in gpus:
        adapter = _adapter_of(device, left, is_only_gpu=len(gpus) == 1)
        if adapter in left:
            left.remove(adapter)
        yield device, adapter


def _adapter_of(device: Device, adapters: list[Adapter], *, is_only_gpu: bool) -> Adapter:
    name = plain_name(device.told_name)
    for key, value in (
        ("pci_address", device.pci_address),
        ("pci_id", device.pci_id),
        ("name", name),
    ):
        for adapter in adapters:
            if value and getattr(adapter, key) == value:
                return adapter
    intel = [adapter for adapter in adapters if adapter.is_intel]
    return intel[0] if len(intel) == 1 and is_only_gpu else Adapter()


def _gpu(device: Device, adapter: Adapter) -> Gpu:
    name = device.told_name or "Intel graphics"  # as for choosing a device
    pci_id = device.pci_id or adapter.pci_id
    family = family_of(name=name, pci_id=pci_id)
    is_discrete = device.is_discrete
    is_integrated = family.is_integrated if is_discrete is None else not is_discrete
    bar = None if is_integrated is not False else adapter.largest_bar_bytes
    return Gpu(
        name=name,
        device=device.id,
        family=family,
        is_integrated=is_integrated,
        memory_bytes=device.memory_bytes,
        driver=device.driver or adapter.driver,
        pci_id=pci_id,
        max_allocation_bytes=device.max_allocation_bytes,
        has_resizable_bar=None if bar is None else bar > _SMALL_BAR_BYTES,
        is_virtual=adapter.is_virtual,
        virtual_functions=adapter.virtual_functions,
        kernel_driver=adapter.kernel_driver,
    )
