"""What a machine is made of, as far as it decides which models it can run."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from dflash_desktop.domain.device_identity import identity_text
from dflash_desktop.domain.devices import SMALLEST_CARD_BYTES
from dflash_desktop.domain.gpu_family import GpuFamily, family_of

HARDWARE_REPORT_VERSION: Final = 1
"""Rises when a field of the report's JSON form goes away or changes its meaning."""


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
    virtual_functions: int = 0  # slices of this card that other machines were given
    kernel_driver: str = ""  # Linux: "xe", "i915"

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
        return identity_text(name=self.name, pci_id=self.pci_id)

    @property
    def offered_bytes(self) -> int | None:
        """Memory that may be used at all: what is reported, or the lower limit; None: unknown."""
        told = [n for n in (self.memory_bytes, self.memory_limit_bytes) if n]  # 0 tells nothing
        return min(told) if told else None

    @property
    def is_usable_card(self) -> bool:
        """A card of its own that offers enough memory for any model at all."""
        return not self.shares_system_memory and (self.offered_bytes or 0) >= SMALLEST_CARD_BYTES


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
class Adapter:
    """A graphics adapter as the operating system lists it; None: not told."""

    name: str = ""
    pci_id: str = ""
    driver: str = ""
    pci_address: str = ""  # "0000:03:00.0": where it is, which no choice is stored by
    kernel_driver: str = ""
    largest_bar_bytes: int | None = None  # of its memory, what the processor sees at once
    is_virtual: bool = False
    virtual_functions: int = 0

    @property
    def family(self) -> GpuFamily:
        """By its id, else by its name."""
        return family_of(name=self.name, pci_id=self.pci_id)

    @property
    def is_intel(self) -> bool:
        """Whether OpenVINO could compute on it."""
        return self.family is not GpuFamily.NOT_INTEL


class ProbeOutcome(StrEnum):
    """How asking OpenVINO for this machine's devices ended."""

    COMPLETE = "complete"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    FAILED = "failed"  # it answered, but not with devices


@dataclass(frozen=True, slots=True)
class Probe:
    """How it ended, and the raw words to that; without `COMPLETE` no graphics are known."""

    outcome: ProbeOutcome = ProbeOutcome.COMPLETE
    detail: str = ""


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
    adapters: tuple[Adapter, ...] = ()  # what the system lists, seen by OpenVINO or not
    probe: Probe = Probe()

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
