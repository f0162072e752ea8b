"""The JSON form of a hardware report round-trips and forgives what is missing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.gpu_family import GpuFamily
from dflash_desktop.domain.hardware import (
    Adapter,
    Gpu,
    HardwareReport,
    LinuxGraphics,
    Power,
    Probe,
    ProbeOutcome,
    RenderNode,
    SystemMemory,
)
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.hardware_report import decode_report, read_report, report_fields
from tests.machines import MACHINES_DIR, machine

if TYPE_CHECKING:
    from pathlib import Path

words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
sizes = st.none() | st.integers(1, 2**50)
flags = st.none() | st.booleans()
gpus = st.builds(
    Gpu,
    words,
    device=words,
    family=st.sampled_from(GpuFamily),
    is_integrated=st.booleans(),
    memory_bytes=sizes,
    driver=words,
    pci_id=words,
    used_bytes=sizes,
    memory_limit_bytes=sizes,
    max_allocation_bytes=sizes,
    has_resizable_bar=flags,
    is_virtual=st.booleans(),
    virtual_functions=st.integers(0, 64),
    kernel_driver=words | st.just(""),
)
adapters = st.builds(
    Adapter,
    words | st.just(""),
    words | st.just(""),
    words | st.just(""),
    words | st.just(""),
    words | st.just(""),
    sizes,
    st.booleans(),
    st.integers(0, 64),
)
reports = st.builds(
    HardwareReport,
    os=words | st.just(""),
    is_wsl=st.booleans(),
    cpu=words | st.just(""),
    gpus=st.lists(gpus, max_size=3).map(tuple),
    npus=st.lists(words, max_size=2).map(tuple),
    memory=st.builds(SystemMemory, sizes, sizes, sizes),
    linux=st.none()
    | st.builds(
        LinuxGraphics,
        words | st.just(""),
        flags,
        flags,
        st.none() | st.lists(words, max_size=2).map(tuple),
        st.none() | st.lists(st.builds(RenderNode, words, st.booleans()), max_size=2).map(tuple),
    ),
    power=st.builds(Power, st.sampled_from(["mains", "battery", "unknown"]), words | st.just("")),
    free_disk_bytes=sizes,
    genai=words | st.just(""),
    adapters=st.lists(adapters, max_size=2).map(tuple),
    probe=st.builds(Probe, st.sampled_from(ProbeOutcome), words | st.just("")),
)


@given(report=reports)
def test_a_report_is_the_same_after_a_round_trip(report: HardwareReport) -> None:
    assert decode_report(json.dumps(report_fields(report)).encode()) == report


@pytest.mark.parametrize("name", sorted(file.stem for file in MACHINES_DIR.glob("*.json")))
def test_recorded_machines_round_trip_too(name: str) -> None:
    report = machine(name)

    assert decode_report(json.dumps(report_fields(report)).encode()) == report


def test_an_outcome_of_the_future_means_that_graphics_are_not_known() -> None:
    report = decode_report(b'{"probe": {"outcome": "quantum_leap"}}')

    assert report.probe.outcome is ProbeOutcome.FAILED


def test_everything_may_be_missing() -> None:
    assert decode_report(b"{}") == HardwareReport()


def test_null_is_the_same_as_missing() -> None:
    assert decode_report(b'{"gpus": null, "memory": null, "os": null}') == HardwareReport()


def test_fields_of_the_future_are_ignored() -> None:
    report = decode_report(b'{"os": "Windows-11", "quantum": {"qubits": 5}}')

    assert report == HardwareReport(os="Windows-11")


@pytest.mark.parametrize("told", ["Lunar Lake", "lunar_lake", "LUNAR-LAKE"])
def test_a_family_may_be_written_as_people_write_it(told: str) -> None:
    data = json.dumps({"gpus": [{"name": "Intel GPU", "family": told}]}).encode()

    assert decode_report(data).gpus[0].family is GpuFamily.LUNAR_LAKE
    assert decode_report(data).gpus[0].is_integrated is True


@pytest.mark.parametrize("told", [None, "", "Xe9 Celestial"])
def test_a_family_that_is_not_known_follows_from_the_name(told: str | None) -> None:
    gpu = {"name": "Intel(R) Arc(TM) B580 Graphics", "family": told}

    (made,) = decode_report(json.dumps({"gpus": [gpu]}).encode()).gpus
    assert made.family is GpuFamily.BATTLEMAGE
    assert made.is_integrated is False


def test_a_memory_of_0_bytes_is_one_that_is_not_known() -> None:
    assert decode_report(b'{"gpus": [{"memory_bytes": 0}]}').gpus[0].memory_bytes is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"not json",
        b"\xff\xfe",
        b'{"gpus": [{"memory_bytes": "16 GB"}]}',
        b'{"memory": {"total_bytes": -1}}',
        b'{"gpus": {"name": "Arc"}}',
        b'{"report_version": 2}',
    ],
)
def test_what_is_no_report_is_refused_in_words(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(data)

    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError)):
        decode_report(data)
    with pytest.raises(AppError) as caught:
        read_report(file)
    assert caught.value.problem.code == "hardware_file_invalid"
    assert "doctor --json" in caught.value.problem.advice


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        read_report(tmp_path / "nowhere.json")

    assert caught.value.problem.code == "hardware_file_missing"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_report_that_powershell_wrote_is_read(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text('{"cpu": "Intel(R) Core(TM) Ultra 7 258V"}', encoding=encoding)
    assert read_report(file).cpu == "Intel(R) Core(TM) Ultra 7 258V"


def test_half_a_character_is_no_report_and_no_crash(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_bytes(b"\xff\xfe{\x00\xd8")
    with pytest.raises(AppError, match="hardware_file_invalid"):
        read_report(file)
