"""Which device a pair runs on: the wanted one or none, never another one in silence."""

from __future__ import annotations

import pytest

from dflash_desktop.domain.devices import (
    Device,
    DeviceReport,
    choose_device,
    default_kv_cache_precision,
)
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.residency import can_keep_both

CPU = Device("CPU", "AMD EPYC")
ARC_140V = Device("GPU", "Intel(R) Arc(TM) 140V GPU (16GB) (iGPU)", is_discrete=False)
IGPU_0 = Device("GPU.0", "Intel(R) UHD Graphics (iGPU)", is_discrete=False)
ARC_1 = Device("GPU.1", "Intel(R) Arc(TM) A770 Graphics (dGPU)", is_discrete=True)
NVIDIA = Device("GPU.1", "NVIDIA GeForce RTX 4060 (dGPU)", is_discrete=True)
NPU = Device("NPU", "Intel(R) AI Boost")


def report(*devices: Device) -> DeviceReport:
    return DeviceReport(devices, "2026.4.1", "2026.4.1.0", "2026.4.1.0", "3.11", "Linux")


@pytest.mark.parametrize(
    ("devices", "expected"),
    [((CPU,), CPU), ((CPU, ARC_140V), ARC_140V), ((CPU, IGPU_0, ARC_1), ARC_1),
     ((ARC_1, IGPU_0, CPU), ARC_1), ((CPU, IGPU_0, NVIDIA), IGPU_0), ((NPU, CPU), CPU)],
)  # fmt: skip
def test_the_best_device_is_chosen_in_any_order(
    devices: tuple[Device, ...], expected: Device
) -> None:
    assert choose_device(report(*devices)) == expected


def test_a_card_that_offers_next_to_nothing_is_taken_only_if_it_is_wanted() -> None:
    hidden = Device(
        "GPU", "Intel(R) Graphics [0x56a0]", is_discrete=True, memory_bytes=255_000_000
    )
    assert choose_device(report(CPU, hidden)) == CPU
    assert choose_device(report(CPU, hidden), "GPU") == hidden


@pytest.mark.parametrize(
    ("wanted", "devices", "expected"),
    [("cpu", (CPU, ARC_140V), CPU), ("gpu", (CPU, ARC_140V), ARC_140V),
     ("GPU.0", (CPU, ARC_140V), ARC_140V), ("GPU", (CPU, IGPU_0, ARC_1), IGPU_0),
     ("gpu.1", (CPU, IGPU_0, ARC_1), ARC_1)],
)  # fmt: skip
def test_names_are_understood_in_every_form(
    wanted: str, devices: tuple[Device, ...], expected: Device
) -> None:
    assert choose_device(report(*devices), wanted) == expected


def test_a_gpu_without_a_name_is_offered_and_one_with_another_makers_id_is_not() -> None:
    silent = Device("GPU.0", "GPU.0")
    disguised = Device("GPU.0", "Intel-like Graphics", pci_id="10de:2882")

    assert choose_device(report(CPU, silent)) == silent
    assert choose_device(report(CPU, disguised)) == CPU


@pytest.mark.parametrize("wanted", ["GPU", "GPU.1", "NPU", "TPU"])
def test_a_missing_device_is_said_and_never_replaced(wanted: str) -> None:
    with pytest.raises(AppError) as error:
        choose_device(report(CPU, NPU), wanted)
    assert error.value.problem.code == "device_missing"
    assert "AMD EPYC" in error.value.problem.advice


def test_no_device_at_all_is_a_broken_installation() -> None:
    with pytest.raises(AppError) as error:
        choose_device(report())
    assert error.value.problem.code == "no_device"


def test_the_default_cache_keeps_text_equal_on_a_cpu() -> None:
    assert default_kv_cache_precision(CPU) is KvCachePrecision.F32
    assert default_kv_cache_precision(ARC_1) is KvCachePrecision.F16


def test_two_copies_only_where_half_of_the_memory_stays_free() -> None:
    assert can_keep_both(92_000_000, 8_000_000_000)
    assert not can_keep_both(5_700_000_000, 16_000_000_000)
    assert not can_keep_both(92_000_000, 2_000_000_000)
