"""A made-up file system is read as a Linux machine would be (cases 54 and 55)."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.hardware import LinuxGraphics, RenderNode
from dflash_desktop.workers.linux_graphics import (
    compute_runtime_version,
    cpu_name,
    is_wsl,
    linux_graphics,
    pci_adapters,
)

if TYPE_CHECKING:
    from pathlib import Path


pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="names of PCI slots have colons, which files there cannot"
)


def write(file: Path, text: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def pci(root: Path, slot: str, *, pci_class: str, vendor: str, device: str) -> None:
    folder = root / "sys/bus/pci/devices" / slot
    write(folder / "class", f"{pci_class}\n")
    write(folder / "vendor", f"{vendor}\n")
    write(folder / "device", f"{device}\n")


@pytest.fixture
def arc_laptop(tmp_path: Path) -> Path:
    """Ubuntu on Lunar Lake, on which everything works."""
    pci(tmp_path, "0000:00:02.0", pci_class="0x030000", vendor="0x8086", device="0x64a0")
    pci(tmp_path, "0000:00:1f.3", pci_class="0x040100", vendor="0x8086", device="0xa828")
    write(tmp_path / "dev/dri/renderD128")
    write(tmp_path / "dev/dri/card0")
    write(tmp_path / "usr/lib/x86_64-linux-gnu/libOpenCL.so.1")
    write(tmp_path / "etc/OpenCL/vendors/intel.icd", "/usr/lib/intel-opencl/libigdrcl.so\n")
    write(tmp_path / "etc/os-release", 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n')
    write(tmp_path / "proc/version", "Linux version 6.12.0 (gcc)\n")
    return tmp_path


def test_a_machine_on_which_everything_works(arc_laptop: Path) -> None:
    assert linux_graphics(arc_laptop) == LinuxGraphics(
        distribution="ubuntu",
        has_opencl_loader=True,
        has_opencl_driver=True,
        pci_gpus=("8086:64a0",),
        render_nodes=(RenderNode("/dev/dri/renderD128", is_accessible=True),),
    )
    assert not is_wsl(arc_laptop)


def test_an_empty_file_system_has_nothing_and_is_no_error(tmp_path: Path) -> None:
    assert linux_graphics(tmp_path) == LinuxGraphics("", False, False, (), ())


@pytest.mark.parametrize("folder", ["usr/lib64", "usr/lib", "usr/lib/wsl/lib"])
def test_the_loader_is_found_where_distributions_put_it(tmp_path: Path, folder: str) -> None:
    write(tmp_path / folder / "libOpenCL.so.1")

    assert linux_graphics(tmp_path).has_opencl_loader is True


def test_the_driver_of_another_maker_is_not_intels(tmp_path: Path) -> None:
    write(tmp_path / "etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n")

    assert linux_graphics(tmp_path).has_opencl_driver is False


@pytest.mark.skipif(
    hasattr(os, "geteuid") and os.geteuid() == 0, reason="everything is allowed to root"
)
def test_a_device_with_mode_000_is_not_accessible(arc_laptop: Path) -> None:
    (arc_laptop / "dev/dri/renderD128").chmod(0)

    assert linux_graphics(arc_laptop).render_nodes == (
        RenderNode("/dev/dri/renderD128", is_accessible=False),
    )


def test_rights_are_asked_of_the_system(arc_laptop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def access(path: Path, mode: int) -> bool:
        asked.append((path.name, mode))
        return False

    monkeypatch.setattr(os, "access", access)

    (node,) = linux_graphics(arc_laptop).render_nodes or ()
    assert not node.is_accessible
    assert asked == [("renderD128", os.R_OK | os.W_OK)]


def test_every_display_adapter_is_listed_with_its_id(arc_laptop: Path) -> None:
    pci(arc_laptop, "0000:01:00.0", pci_class="0x030200", vendor="0x10de", device="0x2882")

    assert [adapter.pci_id for adapter in pci_adapters(arc_laptop)] == ["8086:64a0", "10de:2882"]


def test_a_linux_inside_windows_is_recognised(tmp_path: Path) -> None:
    write(tmp_path / "proc/version", "Linux version 5.15.167.4-microsoft-standard-WSL2\n")

    assert is_wsl(tmp_path)


def card(root: Path, *, bar_end: str, driver: str = "xe") -> Path:
    """An Arc B580 in a slot, whose large window ends at `bar_end`."""
    pci(root, "0000:03:00.0", pci_class="0x030000", vendor="0x8086", device="0xe20b")
    folder = root / "sys/bus/pci/devices/0000:03:00.0"
    rom = "0x0000000083000000 0x00000000831fffff 0x0000000000046200\n"
    slices = "0x0000006000000000 0x00000067ffffffff 0x000000000014220c\n"
    empty = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    registers = "0x0000000082000000 0x0000000082ffffff 0x0000000000140204\n"
    window = f"0x0000004000000000 {bar_end} 0x000000000014220c\n"
    write(folder / "resource", registers + empty + window + 3 * empty + rom + slices)
    (folder / "driver").symlink_to(f"../../../../bus/pci/drivers/{driver}")
    return folder


@pytest.mark.parametrize(
    ("bar_end", "size_bytes"),
    [("0x000000400fffffff", 2**28), ("0x00000043ffffffff", 2**34), ("garbage", 2**24)],
)
def test_how_much_of_a_cards_memory_the_processor_sees(
    tmp_path: Path, bar_end: str, size_bytes: int
) -> None:
    card(tmp_path, bar_end=bar_end)
    (adapter,) = pci_adapters(tmp_path)

    assert adapter.largest_bar_bytes == size_bytes
    assert adapter.pci_address == "0000:03:00.0"
    assert adapter.kernel_driver == "xe"
    assert not adapter.is_virtual


def test_a_slice_of_a_card_and_a_card_with_slices(tmp_path: Path) -> None:
    folder = card(tmp_path, bar_end="0x00000043ffffffff", driver="i915")
    write(folder / "sriov_numvfs", "2\n")
    assert pci_adapters(tmp_path)[0].virtual_functions == 2

    (folder / "physfn").mkdir()
    assert pci_adapters(tmp_path)[0].is_virtual


def test_the_compute_runtime_is_found_in_the_package_database(tmp_path: Path) -> None:
    write(
        tmp_path / "var/lib/dpkg/status",
        "Package: ocl-icd\nVersion: 2.3\n\nPackage: intel-opencl-icd\nStatus: install ok\n"
        "Version: 25.18.33578.6-1~24.04\n\nPackage: zlib\nVersion: 1\n",
    )
    card(tmp_path, bar_end="0x00000043ffffffff")
    pci(tmp_path, "0000:04:00.0", pci_class="0x030000", vendor="0x10de", device="0x2882")

    assert [one.driver for one in pci_adapters(tmp_path)] == ["25.18.33578.6-1~24.04", ""]


def test_arch_keeps_a_folder_a_package(tmp_path: Path) -> None:
    (tmp_path / "var/lib/pacman/local/intel-compute-runtime-25.18.33578.6-1").mkdir(parents=True)

    assert compute_runtime_version(tmp_path) == "25.18.33578.6-1"
    assert compute_runtime_version(tmp_path / "nowhere") == ""


def test_the_processor_has_a_name(tmp_path: Path) -> None:
    write(tmp_path / "proc/cpuinfo", "processor\t: 0\nmodel name\t: Core Ultra 7 258V\n")

    assert cpu_name(tmp_path) == "Core Ultra 7 258V"
