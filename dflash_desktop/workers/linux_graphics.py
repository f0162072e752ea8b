"""What a Linux system says about its graphics: plain reading of files, below any root."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.hardware import Adapter, LinuxGraphics, RenderNode

if TYPE_CHECKING:
    from collections.abc import Iterator

_DISPLAY_CLASS: Final = "0x03"
_LOADER: Final = "libOpenCL.so.1"
_LIBRARY_DIRS: Final = (
    "usr/lib/x86_64-linux-gnu",
    "usr/lib64",
    "usr/lib",
    "usr/local/lib",
    "lib/x86_64-linux-gnu",
    "lib64",
    "usr/lib/wsl/lib",
)
_INTEL: Final = "8086"
_REGIONS: Final = 6
_DEBIAN_PACKAGE: Final = "intel-opencl-icd"
_ARCH_PACKAGE: Final = "intel-compute-runtime"
_INTEL_DRIVER: Final = "igdrcl"
"""In the name of the library that Intel's file in /etc/OpenCL/vendors points to."""


def linux_graphics(root: Path = Path("/")) -> LinuxGraphics:
    """Everything that OpenVINO needs before it sees a GPU, found or not."""
    return LinuxGraphics(
        distribution=_distribution(root),
        has_opencl_loader=any((root / folder / _LOADER).exists() for folder in _LIBRARY_DIRS),
        has_opencl_driver=any(
            _INTEL_DRIVER in _text(file).lower()
            for file in (root / "etc/OpenCL/vendors").glob("*.icd")
        ),
        pci_gpus=tuple(adapter.pci_id for adapter in pci_adapters(root)),
        render_nodes=tuple(
            RenderNode(f"/dev/dri/{node.name}", os.access(node, os.R_OK | os.W_OK))
            for node in sorted((root / "dev/dri").glob("renderD*"))
        ),
    )


def pci_adapters(root: Path = Path("/")) -> tuple[Adapter, ...]:
    """Every display adapter on the PCI bus; the kernel knows ids, no names.

    As the driver counts the package of Intel's compute runtime, where its database is a plain
    file: asking `rpm` takes seconds when its database is locked.
    """
    return tuple(_adapters(root))


def is_wsl(root: Path = Path("/")) -> bool:
    """Whether this Linux runs inside Windows."""
    return "microsoft" in _text(root / "proc/version").lower()


def compute_runtime_version(root: Path = Path("/")) -> str:
    """The version of Intel's compute driver by the package databases that are plain files."""
    version = _dpkg_version(root / "var/lib/dpkg/status")
    for folder in sorted((root / "var/lib/pacman/local").glob(f"{_ARCH_PACKAGE}-*")):
        version = version or folder.name.removeprefix(f"{_ARCH_PACKAGE}-")
    return version


def cpu_name(root: Path = Path("/")) -> str:
    """The processor as its maker calls it."""
    for line in _text(root / "proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == "model name":
            return value.strip()
    return ""


def _adapters(root: Path) -> Iterator[Adapter]:
    driver: str | None = None
    for device in sorted((root / "sys/bus/pci/devices").glob("*")):
        if not _text(device / "class").startswith(_DISPLAY_CLASS):
            continue
        vendor = _text(device / "vendor").removeprefix("0x")
        product = _text(device / "device").removeprefix("0x")
        is_intel = vendor == _INTEL
        if is_intel and driver is None:
            driver = compute_runtime_version(root)
        yield Adapter(
            pci_id=f"{vendor}:{product}",
            driver=(driver or "") if is_intel else "",
            pci_address=device.name,
            kernel_driver=_link_name(device / "driver"),
            largest_bar_bytes=_largest_region_bytes(_text(device / "resource")),
            is_virtual=(device / "physfn").exists(),
            virtual_functions=_count(_text(device / "sriov_numvfs")),
        )


def _largest_region_bytes(resource: str) -> int | None:
    """Of a card's regions ("start end flags" a line), what the largest lets the processor see."""
    sizes = []
    for line in resource.splitlines()[:_REGIONS]:  # then come its ROM and those of its slices
        words = line.split()
        try:
            start, end = (int(word, 16) for word in words[:2])
        except ValueError:
            continue
        if end > start:
            sizes.append(end - start + 1)
    return max(sizes, default=None)


def _dpkg_version(status: Path) -> str:
    is_package = False
    try:
        with status.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("Package: "):
                    is_package = line.removeprefix("Package: ").strip() == _DEBIAN_PACKAGE
                elif is_package and line.startswith("Version: "):
                    return line.removeprefix("Version: ").strip()
    except OSError:
        return ""
    return ""


def _link_name(link: Path) -> str:
    try:
        return link.readlink().name
    except OSError:
        return ""


def _count(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0


def _distribution(root: Path) -> str:
    for line in _text(root / "etc/os-release").splitlines():
        key, _, value = line.partition("=")
        if key == "ID":
            return value.strip().strip("\"'")
    return ""


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
