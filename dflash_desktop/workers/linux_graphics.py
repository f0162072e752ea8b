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
    """Every display adapter on the PCI bus; the kernel knows ids, no names."""
    return tuple(_adapters(root / "sys/bus/pci/devices"))


def is_wsl(root: Path = Path("/")) -> bool:
    """Whether this Linux runs inside Windows."""
    return "microsoft" in _text(root / "proc/version").lower()


def _adapters(devices: Path) -> Iterator[Adapter]:
    for device in sorted(devices.glob("*")):
        if _text(device / "class").startswith(_DISPLAY_CLASS):
            vendor, product = (_text(device / name) for name in ("vendor", "device"))
            yield Adapter(pci_id=f"{vendor.removeprefix('0x')}:{product.removeprefix('0x')}")


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
