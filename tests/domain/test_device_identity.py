"""A chosen device is known again in any order, by what it is (cases 52, 53, 68)."""

from __future__ import annotations

from itertools import permutations

import pytest

from dflash_desktop.domain.devices import Device, DeviceReport, choose_device, stored_choice
from dflash_desktop.domain.hardware import Adapter
from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.domain.system_facts import with_adapters

CPU = Device("CPU", "Intel(R) Core(TM) Ultra 9")
UHD_NAME = "Intel(R) UHD Graphics 770 (iGPU)"
B580_NAME = "Intel(R) Arc(TM) B580 Graphics (dGPU)"


def machine(*names_and_ids: tuple[str, str]) -> DeviceReport:
    """Cards in the order in which OpenVINO happens to list them."""
    gpus = tuple(
        Device(f"GPU.{place}", name, is_discrete="dGPU" in name, pci_id=pci_id)
        for place, (name, pci_id) in enumerate(names_and_ids)
    )
    return DeviceReport((CPU, *gpus), "", "", "", "", "Linux")


UHD, B580 = (UHD_NAME, "8086:4680"), (B580_NAME, "8086:e20b")


@pytest.mark.parametrize("chosen", [UHD_NAME, B580_NAME])
def test_a_choice_means_the_same_card_in_either_order(chosen: str) -> None:
    for first in permutations((UHD, B580)):
        device = next(d for d in machine(*first).devices if d.full_name == chosen)
        kept = stored_choice(machine(*first), device)
        assert "GPU." not in kept
        for later in permutations((UHD, B580)):
            assert choose_device(machine(*later), kept).full_name == chosen


def test_without_ids_the_name_is_enough() -> None:
    kept = stored_choice(machine((UHD_NAME, ""), (B580_NAME, "")), Device("GPU.1", B580_NAME))

    assert kept == "Intel(R) Arc(TM) B580 Graphics"
    assert choose_device(machine((B580_NAME, ""), (UHD_NAME, "")), kept).id == "GPU.0"


def test_equal_cards_are_told_apart_by_a_number_and_nothing_else() -> None:
    twins = machine(B580, B580)
    kept = [stored_choice(twins, device) for device in twins.devices[1:]]

    assert kept == [
        "Intel(R) Arc(TM) B580 Graphics [8086:e20b]",
        "Intel(R) Arc(TM) B580 Graphics [8086:e20b] #2",
    ]
    assert [choose_device(twins, one).id for one in kept] == ["GPU.0", "GPU.1"]
    assert choose_device(machine(UHD, B580, B580), kept[1]).id == "GPU.2"
    with pytest.raises(AppError, match="device_missing"):
        choose_device(machine(B580), kept[1])


def test_a_driver_may_rename_a_card_that_has_an_id() -> None:
    renamed = machine(("Intel(R) Arc(TM) B580 Graphics 12GB (dGPU)", "8086:e20b"))

    assert choose_device(renamed, "Intel(R) Arc(TM) B580 Graphics [8086:e20b]").id == "GPU.0"


def test_a_card_that_is_gone_is_a_problem_with_choices_and_never_the_processor() -> None:
    with pytest.raises(AppError) as error:
        choose_device(machine(UHD), "Intel(R) Arc(TM) B580 Graphics [8086:e20b]")

    problem = error.value.problem
    assert problem.code == "device_missing"
    assert problem.headline.startswith("“Intel(R) Arc(TM) B580 Graphics")
    assert "UHD Graphics 770" in problem.advice
    assert {Remedy.CHOOSE_DEVICE, Remedy.USE_CPU} <= set(problem.remedies)


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("b580", B580_NAME),
        ("UHD", UHD_NAME),
        ("8086:e20b", B580_NAME),
        ("8086:E20B", B580_NAME),
        ("gpu.1", B580_NAME),
        ("GPU", UHD_NAME),
        ("cpu", CPU.full_name),
        (" CPU ", CPU.full_name),
    ],
)
def test_a_device_can_be_named_in_many_ways(wanted: str, name: str) -> None:
    assert choose_device(machine(UHD, B580), wanted).full_name == name


def test_words_that_fit_several_devices_choose_none() -> None:
    with pytest.raises(AppError) as error:
        choose_device(machine(UHD, B580), "graphics")

    assert error.value.problem.code == "device_ambiguous"
    assert "B580" in error.value.problem.advice


def test_a_card_of_another_maker_is_not_found_by_its_name() -> None:
    with pytest.raises(AppError, match="device_missing"):
        choose_device(machine(UHD, ("NVIDIA GeForce RTX 4060 (dGPU)", "")), "RTX 4060")


@pytest.mark.parametrize("wanted", ["#", "[]", " #2", "GPU.99", "x" * 10_000])
def test_nonsense_is_a_missing_device(wanted: str) -> None:
    with pytest.raises(AppError, match="device_missing"):
        choose_device(machine(B580), wanted)


def test_of_two_cards_the_larger_is_taken_in_either_order() -> None:
    a380 = Device("GPU.0", "Intel(R) Arc(TM) A380 (dGPU)", "", True, 6_000_000_000)
    a770 = Device("GPU.1", "Intel(R) Arc(TM) A770 (dGPU)", "", True, 16_000_000_000)
    for order in permutations((CPU, a380, a770)):
        assert choose_device(DeviceReport(order, "", "", "", "", "")) == a770


def test_ids_come_from_the_systems_adapters_where_openvino_has_none() -> None:
    adapters = (
        Adapter("Intel(R) UHD Graphics 770", "8086:4680", "31.0"),
        Adapter("Intel(R) Arc(TM) B580 Graphics", "8086:e20b", "32.0"),
    )
    merged = with_adapters(machine((B580_NAME, ""), (UHD_NAME, "")), adapters)

    assert [(d.pci_id, d.driver) for d in merged.devices[1:]] == [
        ("8086:e20b", "32.0"),
        ("8086:4680", "31.0"),
    ]
