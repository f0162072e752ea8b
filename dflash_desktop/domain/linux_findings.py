"""What keeps OpenVINO on Linux from seeing an Intel GPU, and the command that mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.gpu_family import GpuFamily, family_of
from dflash_desktop.domain.problems import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dflash_desktop.domain.hardware import HardwareReport, LinuxGraphics, RenderNode

# Families as in ID and ID_LIKE of os-release.
_LOADER_COMMANDS: Final = {
    "debian": "sudo apt-get install ocl-icd-libopencl1",
    # By what it provides: the package is called ocl-icd or OpenCL-ICD-Loader, by Fedora's age.
    "fedora": "sudo dnf install 'libOpenCL.so.1()(64bit)'",
    "arch": "sudo pacman -S ocl-icd",
    "suse": "sudo zypper install libOpenCL1",
}
_DRIVER_COMMANDS: Final = {
    "debian": "sudo apt-get install intel-opencl-icd",
    "fedora": "sudo dnf install intel-opencl",
    "arch": "sudo pacman -S intel-compute-runtime",
    "suse": "sudo zypper install intel-opencl",
}
_FAMILY_OF_DISTRIBUTION: Final = {
    "ubuntu": "debian",
    "linuxmint": "debian",
    "pop": "debian",
    "debian": "debian",
    "fedora": "fedora",
    "rhel": "fedora",
    "centos": "fedora",
    "arch": "arch",
    "manjaro": "arch",
    "endeavouros": "arch",
    "cachyos": "arch",
    "suse": "suse",
    "opensuse": "suse",
    "opensuse-leap": "suse",
    "opensuse-tumbleweed": "suse",
}


def linux_findings(report: HardwareReport) -> Iterator[Problem]:
    """Nothing unless the report is of a Linux; each cause apart from the others."""
    linux = report.linux
    if linux is None:
        return
    if linux.pci_gpus is not None and not _has_intel(linux.pci_gpus) and not report.best_gpu:
        if not report.is_wsl:  # there, the card of Windows is not on our bus
            yield _NO_GPU
            return
    elif linux.render_nodes == () and not report.is_wsl:
        yield _NO_KERNEL_DRIVER
    elif linux.render_nodes and not any(node.is_accessible for node in linux.render_nodes):
        yield _no_permission(linux.render_nodes)
    if linux.has_opencl_loader is False:
        yield _no_loader(linux)
    if linux.has_opencl_driver is False:
        yield _no_driver(linux)


def _has_intel(pci_gpus: tuple[str, ...]) -> bool:
    return any(family_of(name="", pci_id=gpu) is not GpuFamily.NOT_INTEL for gpu in pci_gpus)


def _no_permission(nodes: tuple[RenderNode, ...]) -> Problem:
    paths = ", ".join(node.path for node in nodes)
    return Problem(
        code="gpu_no_permission",
        headline=f"You are not allowed to use the graphics device ({paths}).",
        advice="Run: sudo usermod -aG render $USER\n"
        "Then log out and in again, since a new group counts from the next login on.",
        severity=Severity.WARNING,
    )


def _no_loader(linux: LinuxGraphics) -> Problem:
    return Problem(
        code="no_opencl_loader",
        headline="OpenVINO cannot reach the graphics: libOpenCL.so.1 is missing.",
        advice=_install_words(
            _LOADER_COMMANDS, linux, "Install your distribution's package of the OpenCL loader."
        ),
        severity=Severity.WARNING,
    )


def _no_driver(linux: LinuxGraphics) -> Problem:
    return Problem(
        code="no_opencl_driver",
        headline="Intel's compute driver for the graphics is not installed.",
        advice=_install_words(
            _DRIVER_COMMANDS,
            linux,
            "Install your distribution's package of Intel's compute runtime for OpenCL.",
        ),
        severity=Severity.WARNING,
    )


def _install_words(commands: Mapping[str, str], linux: LinuxGraphics, other: str) -> str:
    family = _FAMILY_OF_DISTRIBUTION.get(linux.distribution, "")
    command = commands.get(family)
    words = f"Run: {command}" if command else other
    return f"{words}\nThen start the program again."


_NO_GPU: Final = Problem(
    code="no_intel_gpu",
    headline="This machine has no Intel graphics: models run on the processor.",
    advice="That works, and is slower. Nothing needs to be installed.",
    severity=Severity.INFO,
)
_NO_KERNEL_DRIVER: Final = Problem(
    code="no_gpu_kernel_driver",
    headline="Linux does not drive the Intel graphics of this machine.",
    advice="Update the kernel (6.12 or newer for the latest graphics) and the firmware package "
    "(linux-firmware, or firmware-intel-graphics on Debian), then restart the machine.",
    severity=Severity.WARNING,
)
