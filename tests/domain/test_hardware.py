"""OpenVINO's devices and the system's adapters put together, and the GPU that is best."""

from __future__ import annotations

from itertools import permutations

from dflash_desktop.domain.devices import Device, DeviceReport
from dflash_desktop.domain.gpu_family import GpuFamily
from dflash_desktop.domain.hardware import (
    Adapter,
    Gpu,
    HardwareReport,
    Power,
    SystemMemory,
)
from dflash_desktop.domain.system_facts import SystemFacts, hardware_report

CPU = Device("CPU", "AMD EPYC")
NPU = Device("NPU", "Intel(R) AI Boost")
ARC_140V = Device("GPU", "Intel(R) Arc(TM) 140V GPU (16GB) (iGPU)", is_discrete=False)
A770 = Device(
    "GPU.1", "Intel(R) Arc(TM) A770 Graphics (dGPU)", is_discrete=True, memory_bytes=16_225_243_136
)
UHD = Device("GPU.0", "Intel(R) UHD Graphics 770 (iGPU)", is_discrete=False)
ADAPTER_140V = Adapter("Intel(R) Arc(TM) 140V GPU (16GB)", "8086:64a0", "32.0.101.8132")


def report(*devices: Device, adapters: tuple[Adapter, ...] = ()) -> HardwareReport:
    seen = DeviceReport(devices, "2026.4.1", "2026.4.1.0", "2026.4.1.0", "3.11", "Windows-11")
    return hardware_report(seen, SystemFacts(SystemMemory(), Power(), adapters))


def test_devices_become_processor_graphics_and_npus() -> None:
    made = report(CPU, ARC_140V, NPU)

    assert made.cpu == "AMD EPYC"
    assert made.npus == ("Intel(R) AI Boost",)
    assert made.genai == "2026.4.1.0"
    (gpu,) = made.gpus
    assert (gpu.device, gpu.family, gpu.is_integrated) == ("GPU", GpuFamily.LUNAR_LAKE, True)


def test_the_adapter_of_the_same_name_brings_driver_and_id() -> None:
    other = Adapter("Intel(R) UHD Graphics 770", "8086:4680", "31.0.1")
    (gpu,) = report(ARC_140V, adapters=(other, ADAPTER_140V)).gpus

    assert gpu.driver == "32.0.101.8132"
    assert gpu.pci_id == "8086:64a0"
    assert gpu.identity == "Intel(R) Arc(TM) 140V GPU (16GB) [8086:64a0]"


def test_the_only_intel_adapter_belongs_to_the_only_gpu_even_without_a_name() -> None:
    adapters = (Adapter(pci_id="10de:2882"), Adapter(pci_id="8086:7d51"))
    unnamed = Device("GPU", "Intel(R) Graphics (iGPU)")
    (gpu,) = report(unnamed, adapters=adapters).gpus

    assert gpu.family is GpuFamily.ARROW_LAKE
    assert gpu.is_integrated is True


def test_with_two_gpus_nameless_adapters_are_not_guessed_at() -> None:
    adapters = (Adapter(pci_id="8086:56a0"), Adapter(pci_id="8086:4680"))

    assert [gpu.pci_id for gpu in report(UHD, A770, adapters=adapters).gpus] == ["", ""]


def test_the_best_gpu_is_the_same_in_every_order() -> None:
    uhd = Gpu("UHD", "GPU.0", is_integrated=True, memory_bytes=64_000_000_000)
    a770 = Gpu("A770", "GPU.1", is_integrated=False, memory_bytes=16_000_000_000)
    a380 = Gpu("A380", "GPU.2", is_integrated=False, memory_bytes=6_000_000_000)
    silent = Gpu("B580", "GPU.3", is_integrated=False)
    other = Gpu(
        "RTX 4090", "GPU.4", GpuFamily.NOT_INTEL, is_integrated=False, memory_bytes=24_000_000_000
    )

    for gpus in permutations((uhd, a770, a380, silent, other)):
        assert HardwareReport(gpus=gpus).best_gpu == a770
    assert HardwareReport(gpus=(silent, uhd)).best_gpu == uhd
    assert HardwareReport(gpus=(other,)).best_gpu is None


def test_a_gpu_that_openvino_does_not_name_is_taken_for_intels_as_everywhere() -> None:
    for name in ("", "GPU"):
        (gpu,) = report(Device("GPU", name)).gpus
        assert gpu.is_intel
