"""What a machine is made of, as far as it decides which models it can run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.gpu_family import GpuFamily, family_of

if TYPE_CHECKING:
    from dflash_desktop.domain.devices import Device, DeviceReport

HARDWARE_REPORT_VERSION: Final = 1
"""Rises when a field of the report's JSON form goes away or changes its meaning."""

_SMALLEST_CARD_BYTES: Final = 1_000_000_000
"""With resizable BAR off, a card of 16 GB has offered 255 MB: then the processor is better."""

_ADDED_BY_OPENVINO: Final = re.compile(r" \([di]GPU\)$")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One graphics device; None and empty texts are what the system did not tell."""

    name: str
    device: str = ""  # OpenVINO's name, "GPU.0"; empty if OpenVINO does not list it
    family: GpuFamily = GpuFamily.OTHER_INTEL
    is_integrated: bool | None = None
    memory_bytes: int | None = None  # what OpenVINO may use, not what is printed on the box
    driver: str = ""
    pci_id: str = ""  # "8086:64a0"
    used_bytes: int | None = None  # of memory_bytes, in use when the report was made
    memory_limit_bytes: int | None = None  # a lower limit that the person or the host has set
    max_allocation_bytes: int | None = None  # the largest single piece of memory
    has_resizable_bar: bool | None = None
    is_virtual: bool = False  # a slice of a card (SR-IOV), handed out by a host

    @property
    def is_intel(self) -> bool:
        """Whether this program may offer it at all (case 68)."""
        return self.family is not GpuFamily.NOT_INTEL

    @property
    def shares_system_memory(self) -> bool:
        """True for graphics built into the processor; so is Intel's, if nobody says otherwise."""
        if self.is_integrated is not None:
            return self.is_integrated
        return self.family.is_integrated is not False

    @property
    def identity(self) -> str:
        """What a choice is stored by: never the index, which changes with the slots (case 52)."""
        return self.pci_id or self.name

    @property
    def offered_bytes(self) -> int | None:
        """Memory that may be used at all: what is reported, or the lower limit; None: unknown."""
        told = [n for n in (self.memory_bytes, self.memory_limit_bytes) if n]  # 0 tells nothing
        return min(told) if told else None

    @property
    def is_usable_card(self) -> bool:
        """A card of its own that offers enough memory for any model at all."""
        return not self.shares_system_memory and (self.offered_bytes or 0) >= _SMALLEST_CARD_BYTES


@dataclass(frozen=True, slots=True)
class SystemMemory:
    """The machine's RAM."""

    total_bytes: int | None = None
    available_bytes: int | None = None  # free or easily freed when the report was made
    swap_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class RenderNode:
    """A device file that programs compute through, /dev/dri/renderD128 for instance."""

    path: str
    is_accessible: bool  # this person may read and write it


@dataclass(frozen=True, slots=True)
class LinuxGraphics:
    """What must be there before OpenVINO sees a GPU on Linux; None: not looked for."""

    distribution: str = ""  # ID of os-release: "ubuntu", "fedora", "arch"
    has_opencl_loader: bool | None = None  # libOpenCL.so.1
    has_opencl_driver: bool | None = None  # Intel's, registered with the loader
    pci_gpus: tuple[str, ...] | None = None  # "8086:64a0": what is in the machine, driver or not
    render_nodes: tuple[RenderNode, ...] | None = None


@dataclass(frozen=True, slots=True)
class Power:
    """What feeds the machine: a battery or its saver changes every speed."""

    source: str = "unknown"  # "mains", "battery" or "unknown"
    mode: str = ""  # as the system calls it: "balanced", "power-saver"


@dataclass(frozen=True, slots=True)
class HardwareReport:
    """One machine at one moment; everything may be missing."""

    os: str = ""
    is_wsl: bool = False
    cpu: str = ""
    gpus: tuple[Gpu, ...] = ()
    npus: tuple[str, ...] = ()
    memory: SystemMemory = SystemMemory()
    linux: LinuxGraphics | None = None
    power: Power = Power()
    free_disk_bytes: int | None = None
    genai: str = ""  # version of OpenVINO GenAI; empty: not known

    @property
    def best_gpu(self) -> Gpu | None:
        """The Intel GPU to compute on: a card before built-in graphics, then the larger memory.

        A card that tells no or hardly any memory is last. The order of the list does not matter.
        """
        offered = [gpu for gpu in self.gpus if gpu.is_intel]
        return min(offered, key=_preference, default=None)


def _preference(gpu: Gpu) -> tuple[bool, bool, int, str, str]:
    is_useless = not gpu.shares_system_memory and not gpu.is_usable_card
    size = gpu.offered_bytes or 0
    return (is_useless, gpu.shares_system_memory, -size, gpu.identity, gpu.device)


@dataclass(frozen=True, slots=True)
class Adapter:
    """A graphics adapter as the operating system lists it."""

    name: str = ""
    pci_id: str = ""
    driver: str = ""


@dataclass(frozen=True, slots=True)
class SystemFacts:
    """What the operating system says, beside what OpenVINO sees."""

    memory: SystemMemory
    power: Power
    adapters: tuple[Adapter, ...] = ()
    linux: LinuxGraphics | None = None
    is_wsl: bool = False
    free_disk_bytes: int | None = None


def hardware_report(devices: DeviceReport, facts: SystemFacts) -> HardwareReport:
    """Both put together: OpenVINO's GPUs with the ids and drivers of the system's adapters."""
    names = {device.id: device.full_name for device in devices.devices}
    return HardwareReport(
        os=devices.os,
        is_wsl=facts.is_wsl,
        cpu=names.get("CPU", ""),
        gpus=tuple(
            _gpu(device, _adapter_of(device, devices, facts.adapters))
            for device in devices.devices
            if device.id.startswith("GPU")
        ),
        npus=tuple(name for id_, name in names.items() if id_.startswith("NPU")),
        memory=facts.memory,
        linux=facts.linux,
        power=facts.power,
        free_disk_bytes=facts.free_disk_bytes,
        genai=devices.genai_version,
    )


def _gpu(device: Device, adapter: Adapter) -> Gpu:
    name = device.full_name or "Intel graphics"  # as for choosing a device
    family = family_of(name=name, pci_id=adapter.pci_id)
    return Gpu(
        name=name,
        device=device.id,
        family=family,
        is_integrated=family.is_integrated
        if device.is_discrete is None
        else not device.is_discrete,
        memory_bytes=device.memory_bytes,
        driver=device.driver or adapter.driver,
        pci_id=adapter.pci_id,
        max_allocation_bytes=device.max_allocation_bytes,
    )


def _adapter_of(device: Device, devices: DeviceReport, adapters: tuple[Adapter, ...]) -> Adapter:
    """The adapter of the same name, or the only Intel one if OpenVINO has one GPU, or nothing."""
    plain_name = _ADDED_BY_OPENVINO.sub("", device.full_name)
    named = [adapter for adapter in adapters if adapter.name and adapter.name == plain_name]
    if named:
        return named[0]
    intel = [
        adapter
        for adapter in adapters
        if family_of(name=adapter.name, pci_id=adapter.pci_id) is not GpuFamily.NOT_INTEL
    ]
    gpu_count = sum(other.id.startswith("GPU") for other in devices.devices)
    return intel[0] if len(intel) == gpu_count == 1 else Adapter()
