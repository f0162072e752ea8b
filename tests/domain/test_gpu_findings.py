"""What is told about a machine's graphics: each cause apart, with what to do (54, 55, 57-59)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dflash_desktop.domain.devices import DeviceReport
from dflash_desktop.domain.gpu_family import GpuFamily
from dflash_desktop.domain.gpu_findings import KnownDriver, findings, version_findings
from dflash_desktop.domain.hardware import (
    Adapter,
    Gpu,
    HardwareReport,
    LinuxGraphics,
    Power,
    RenderNode,
    SystemMemory,
)
from dflash_desktop.domain.problems import Problem, Severity

NODE = RenderNode("/dev/dri/renderD128", is_accessible=True)
WORKING = LinuxGraphics(
    distribution="ubuntu",
    has_opencl_loader=True,
    has_opencl_driver=True,
    pci_gpus=("8086:64a0",),
    render_nodes=(NODE,),
)
ARC = Gpu("Intel(R) Arc(TM) 140V GPU", "GPU", GpuFamily.LUNAR_LAKE, is_integrated=True)
CARD = Gpu(
    "Intel(R) Arc(TM) B580 Graphics",
    "GPU",
    GpuFamily.BATTLEMAGE,
    is_integrated=False,
    memory_bytes=12_000_000_000,
)
BAD = KnownDriver("101.8629", "windows", "It crashed.", "Go back.", "https://example.com/1")


def found(report: HardwareReport) -> list[Problem]:
    return list(findings(report, (BAD,)))


def codes(report: HardwareReport) -> list[str]:
    return [problem.code for problem in found(report)]


def on_linux(linux: LinuxGraphics, *gpus: Gpu) -> HardwareReport:
    return HardwareReport(os="Linux-6.12", gpus=gpus, linux=linux)


def test_a_linux_on_which_everything_works_has_no_findings() -> None:
    assert codes(on_linux(WORKING, ARC)) == []


@pytest.mark.parametrize(
    ("linux", "code"),
    [
        (replace(WORKING, pci_gpus=()), "no_intel_gpu"),
        (replace(WORKING, pci_gpus=("10de:2882",)), "no_intel_gpu"),
        (replace(WORKING, has_opencl_loader=False), "no_opencl_loader"),
        (replace(WORKING, has_opencl_driver=False), "no_opencl_driver"),
        (replace(WORKING, render_nodes=()), "no_gpu_kernel_driver"),
        (
            replace(WORKING, render_nodes=(replace(NODE, is_accessible=False),)),
            "gpu_no_permission",
        ),
    ],
)
def test_every_cause_on_linux_is_told_apart(linux: LinuxGraphics, code: str) -> None:
    assert codes(on_linux(linux)) == [code]


def test_without_intel_graphics_nobody_is_sent_to_install_drivers() -> None:
    linux = LinuxGraphics("debian", False, False, (), ())
    (problem,) = found(on_linux(linux))

    assert problem.severity is Severity.INFO
    assert "Nothing needs to be installed" in problem.advice


@pytest.mark.parametrize(
    ("distribution", "loader", "driver"),
    [
        ("ubuntu", "apt-get install ocl-icd-libopencl1", "apt-get install intel-opencl-icd"),
        ("debian", "apt-get install ocl-icd-libopencl1", "apt-get install intel-opencl-icd"),
        ("fedora", "dnf install 'libOpenCL.so.1()(64bit)'", "dnf install intel-opencl"),
        ("arch", "pacman -S ocl-icd", "pacman -S intel-compute-runtime"),
        ("opensuse-tumbleweed", "zypper install libOpenCL1", "zypper install intel-opencl"),
    ],
)
def test_packages_have_the_names_of_the_distribution(
    distribution: str, loader: str, driver: str
) -> None:
    linux = replace(
        WORKING, distribution=distribution, has_opencl_loader=False, has_opencl_driver=False
    )
    no_loader, no_driver = found(on_linux(linux))

    assert f"sudo {loader}\n" in no_loader.advice
    assert f"sudo {driver}\n" in no_driver.advice


def test_an_unknown_distribution_gets_words_and_no_wrong_command() -> None:
    linux = replace(WORKING, distribution="plan9", has_opencl_loader=False)
    (problem,) = found(on_linux(linux))

    assert "sudo" not in problem.advice
    assert "OpenCL loader" in problem.advice


def test_no_right_to_the_device_names_the_group_and_the_new_login() -> None:
    linux = replace(WORKING, render_nodes=(replace(NODE, is_accessible=False),))
    (problem,) = found(on_linux(linux))

    assert "usermod -aG render" in problem.advice
    assert "log out and in again" in problem.advice
    assert "/dev/dri/renderD128" in problem.headline


def test_one_accessible_device_is_enough() -> None:
    nodes = (replace(NODE, is_accessible=False), replace(NODE, path="/dev/dri/renderD129"))

    assert codes(on_linux(replace(WORKING, render_nodes=nodes), ARC)) == []


def test_under_wsl_neither_bus_nor_device_files_are_expected() -> None:
    linux = replace(WORKING, pci_gpus=(), render_nodes=(), has_opencl_driver=False)
    report = replace(on_linux(linux), is_wsl=True)

    assert codes(report) == ["no_opencl_driver"]


def test_what_was_not_looked_for_is_no_finding() -> None:
    assert codes(on_linux(LinuxGraphics(), ARC)) == []


def test_on_windows_no_graphics_are_a_finding_too() -> None:
    assert codes(HardwareReport(os="Windows-11")) == ["no_intel_gpu"]


def test_graphics_that_the_system_lists_and_openvino_does_not_are_no_missing_graphics() -> None:
    arc = Adapter("Intel(R) Arc(TM) B580 Graphics", "8086:e20b", "32.0.101.6737")
    other = Adapter("NVIDIA GeForce RTX 4060", "10de:2882", "576.2")
    (problem,) = found(HardwareReport(os="Windows-11", adapters=(other, arc)))
    assert problem.code == "gpu_not_listed"
    assert "B580 Graphics, driver 32.0.101.6737." in problem.headline
    assert codes(HardwareReport(os="Windows-11", adapters=(other,))) == ["no_intel_gpu"]
    assert codes(HardwareReport(os="Windows-11", adapters=(arc,), gpus=(CARD,))) == []


def test_on_a_linux_where_nothing_is_missing_unseen_graphics_are_told_all_the_same() -> None:
    adapter = Adapter(pci_id="8086:64a0", driver="22.43", kernel_driver="xe")
    report = replace(on_linux(WORKING), adapters=(adapter,))
    assert codes(report) == ["gpu_not_listed"]
    lacking = replace(report, linux=replace(WORKING, has_opencl_driver=False))
    assert codes(lacking) == ["no_opencl_driver"]


def test_a_card_of_another_maker_is_not_used_and_nothing_is_wrong() -> None:
    other = Gpu("NVIDIA GeForce RTX 4060", "GPU.0", GpuFamily.NOT_INTEL, is_integrated=False)
    (problem,) = found(HardwareReport(os="Windows-11", gpus=(other, CARD)))

    assert problem.code == "gpu_not_intel"
    assert problem.severity is Severity.INFO
    assert "NVIDIA" in problem.headline


def test_an_npu_is_listed_and_not_offered() -> None:
    report = HardwareReport(os="Windows-11", gpus=(CARD,), npus=("Intel(R) AI Boost",))
    (problem,) = found(report)

    assert problem.code == "npu_not_offered"
    assert "Intel(R) AI Boost" in problem.headline


@pytest.mark.parametrize(
    ("driver", "os", "is_known"),
    [
        ("32.0.101.8629", "Windows-11", True),
        ("101.8629", "Windows-11", True),
        ("32.0.101.8626", "Windows-11", False),
        ("32.0.9101.8629", "Windows-11", False),
        ("", "Windows-11", False),
        ("32.0.101.8629", "Linux-6.12", False),
    ],
)
def test_a_driver_with_a_bad_name_is_warned_of_and_never_blocked(
    driver: str, os: str, is_known: bool
) -> None:
    problems = found(HardwareReport(os=os, gpus=(replace(CARD, driver=driver),)))

    assert [problem.code for problem in problems] == ["known_bad_driver"] * is_known
    for problem in problems:
        assert problem.severity is Severity.WARNING
        assert problem.detail == BAD.source
        assert "It crashed." in problem.headline


@pytest.mark.parametrize("memory_bytes", [None, 0, 255_012_864])
def test_a_card_that_hides_its_memory_is_told(memory_bytes: int | None) -> None:
    report = HardwareReport(os="Windows-11", gpus=(replace(CARD, memory_bytes=memory_bytes),))

    assert codes(report) == ["gpu_memory_unknown"]


def test_a_slice_of_a_card_warns_until_a_limit_is_known() -> None:
    slice_ = replace(CARD, is_virtual=True)
    (unknown,) = found(HardwareReport(os="Windows-11", gpus=(slice_,)))
    limited = replace(slice_, memory_limit_bytes=4_000_000_000)
    (known,) = found(HardwareReport(os="Windows-11", gpus=(limited,)))

    assert unknown.severity is Severity.WARNING
    assert known.severity is Severity.INFO
    assert "4.00 GB" in known.advice


def test_a_small_limit_for_one_allocation_is_told_with_the_number() -> None:
    small = replace(CARD, max_allocation_bytes=1_073_741_824)
    (problem,) = found(HardwareReport(os="Windows-11", gpus=(small,)))

    assert problem.code == "small_allocation_limit"
    assert "1.07 GB" in problem.headline
    assert "WSL" not in problem.advice
    in_wsl = HardwareReport(os="Linux", gpus=(small,), is_wsl=True)
    assert "WSL" in found(in_wsl)[0].advice


def test_windows_lending_half_of_the_memory_mentions_the_override() -> None:
    memory = SystemMemory(total_bytes=32_000_000_000)
    gpu = replace(ARC, memory_bytes=16_000_000_000)
    (problem,) = found(HardwareReport(os="Windows-11", gpus=(gpu,), memory=memory))

    assert problem.code == "shared_memory_limit"
    assert "Shared GPU Memory Override" in problem.advice
    assert codes(HardwareReport(os="Linux", gpus=(gpu,), memory=memory)) == []


def test_resizable_bar_and_battery_are_told() -> None:
    slow = replace(CARD, has_resizable_bar=False)
    report = HardwareReport(os="Windows-11", gpus=(slow,), power=Power("battery"))

    assert codes(report) == ["resizable_bar_off", "on_battery"]


def test_the_worst_comes_first() -> None:
    bad = replace(CARD, driver="101.8629")
    report = HardwareReport(os="Windows-11", gpus=(bad,), npus=("NPU",), power=Power("battery"))

    assert [problem.severity for problem in found(report)] == [
        Severity.WARNING,
        Severity.INFO,
        Severity.INFO,
    ]


@pytest.mark.parametrize(
    ("versions", "is_mixed"),
    [
        (("2026.4.1-22982-e213-releases/2026/4", "2026.4.1.0", "2026.4.1.0"), False),
        (("2026.4.1", "2026.3.0.0", "2026.4.1.0"), True),
        (("2026.4.1", "2026.4.1.0", "2026.4.0.0"), True),
        (("2026.4.1", "", ""), False),
    ],
)
def test_openvino_packages_of_different_releases_are_an_error(
    versions: tuple[str, str, str], is_mixed: bool
) -> None:
    problems = version_findings(DeviceReport((), *versions, "3.11", "Linux"))

    assert [problem.code for problem in problems] == ["mixed_openvino_versions"] * is_mixed
