from __future__ import annotations

from dataclasses import replace

import pytest

from dflash_desktop import __version__
from dflash_desktop.cli.doctor import DoctorResult
from dflash_desktop.cli.doctor import diagnose as diagnose_machine
from dflash_desktop.domain.devices import Device, DeviceReport, choose_device
from dflash_desktop.domain.hardware import Power, SystemMemory
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.system_facts import SystemFacts, hardware_report

CPU = Device(id="CPU", full_name="Intel(R) Core(TM) Ultra 7 258V")
ARC = Device(
    id="GPU.0",
    full_name="Intel(R) Arc(TM) 140V GPU (16GB)",
    driver="32.0.101.8000",
    is_discrete=False,
    memory_bytes=16_800_000_000,
)
OTHER_GPU = Device(id="GPU.1", full_name="Made by somebody else")


def report(*devices: Device) -> DeviceReport:
    return DeviceReport(
        devices=devices,
        openvino_version="2026.4.1",
        genai_version="2026.4.1.0",
        tokenizers_version="2026.4.1.1",
        python_version="3.11.7",
        os="Linux 6.1",
    )


def diagnose(devices: DeviceReport, *, wanted: str = "") -> DoctorResult:
    """On a machine of which the system tells nothing more."""
    facts = SystemFacts(SystemMemory(), Power())
    return diagnose_machine(devices, hardware_report(devices, facts), (), wanted=wanted)


def test_with_an_arc_the_words_name_it_and_its_driver() -> None:
    text = diagnose(report(CPU, ARC)).as_text()

    assert "Answers come from GPU.0, Intel(R) Arc(TM) 140V GPU (16GB)." in text
    assert "16.8 GB, driver 32.0.101.8000" in text
    assert "shares the system's memory" in text


def test_without_a_gpu_the_words_say_what_to_do() -> None:
    text = diagnose(report(CPU)).as_text()

    assert "Answers come from the CPU" in text
    assert "install or update their driver" in text


def test_a_gpu_of_another_maker_is_listed_but_not_chosen() -> None:
    result = diagnose(report(CPU, OTHER_GPU))

    assert "Made by somebody else" in result.as_text()
    assert result.as_json()["chosen_device"] == "CPU"


def test_a_chosen_card_that_is_not_there_is_missed_and_not_replaced() -> None:
    result = diagnose(report(CPU), wanted="Intel(R) Arc(TM) 140V GPU (16GB)")

    assert "140V" in result.as_text()
    assert "Answers come from" not in result.as_text()
    assert result.as_json()["chosen_device"] is None


def test_without_any_device_it_is_told_and_no_fault_of_the_command() -> None:
    result = diagnose(report())

    assert "found no device" in result.as_text()
    assert result.as_json()["chosen_device"] is None


def test_every_version_is_shown() -> None:
    text = diagnose(report(CPU)).as_text()

    for version in (__version__, "2026.4.1", "2026.4.1.0", "2026.4.1.1", "3.11.7", "Linux 6.1"):
        assert version in text


def test_what_a_plugin_does_not_answer_is_null_and_not_guessed() -> None:
    assert diagnose(report(CPU)).as_json()["devices"] == [
        {
            "id": "CPU",
            "identity": "CPU",
            "name": "Intel(R) Core(TM) Ultra 7 258V",
            "driver": None,
            "is_discrete": None,
            "memory_bytes": None,
            "properties": [],
        }
    ]


def test_words_leave_out_what_is_unknown() -> None:
    lines = diagnose(report(CPU)).as_text().splitlines()

    assert "  CPU    Intel(R) Core(TM) Ultra 7 258V" in lines


def test_packages_of_different_releases_are_told() -> None:
    mixed = replace(report(CPU), genai_version="2026.3.0.0")

    assert "OpenVINO GenAI 2026.3.0" in diagnose(mixed).findings[0].headline


def test_a_device_that_is_not_there_is_named_in_quotes() -> None:
    with pytest.raises(AppError) as raised:
        choose_device(report(CPU, ARC), "XYZ")
    assert raised.value.problem.headline.startswith("“XYZ” is not available")
