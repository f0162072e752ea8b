"""This machine is looked at for real; drivers that crash or hang are real scripted processes."""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.domain.gpu_findings import findings
from dflash_desktop.domain.hardware import Adapter, Power, ProbeOutcome, SystemMemory
from dflash_desktop.domain.probe_findings import probe_finding
from dflash_desktop.domain.system_facts import SystemFacts
from dflash_desktop.services import hardware_probe
from dflash_desktop.services.hardware_probe import HardwareProbe
from dflash_desktop.services.system_probe import system_facts
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.fakes.engine import fake_workers, until
from tests.fakes.fake_worker import Mishap, Script, Trouble, When
from tests.fakes.launcher import fake_launcher

if TYPE_CHECKING:
    from pathlib import Path

ARC = Adapter("Intel(R) Arc(TM) 140V GPU (16GB)", "8086:64a0", "32.0.101.6737")


def probe_of(tmp_path: Path, *mishaps: Mishap, limit_seconds: float = 20.0) -> HardwareProbe:
    script = Script(mishaps=mishaps)
    return HardwareProbe(
        launcher=fake_launcher(script, log_dir=tmp_path / "logs"),
        models_dir=lambda: tmp_path,
        memory_file=tmp_path / "hardware.json",
        limit_seconds=limit_seconds,
    )


@pytest.fixture
def arc_laptop(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system says that there is an Arc, whatever OpenVINO says."""
    facts = SystemFacts(SystemMemory(), Power(), (ARC,), cpu="Core Ultra 7 258V")
    monkeypatch.setattr(hardware_probe, "system_facts", lambda _: facts)


async def test_both_halves_are_in_the_report(tmp_path: Path) -> None:
    report, devices = await probe_of(tmp_path).look()

    assert [device.id for device in devices.devices] == ["CPU", "GPU"]
    assert report.gpus[0].device == "GPU"
    assert report.memory.total_bytes == psutil.virtual_memory().total
    assert report.probe.outcome is ProbeOutcome.COMPLETE


@pytest.mark.parametrize(
    ("trouble", "outcome"),
    [
        (Trouble.ABORT, ProbeOutcome.CRASHED),
        (Trouble.VANISH, ProbeOutcome.CRASHED),
        (Trouble.GARBAGE, ProbeOutcome.FAILED),
        (Trouble.RAISE, ProbeOutcome.FAILED),
        (Trouble.FREEZE, ProbeOutcome.TIMED_OUT),
        (Trouble.IGNORE_TERMINATE, ProbeOutcome.TIMED_OUT),
    ],
)
@pytest.mark.usefixtures("arc_laptop")
async def test_a_driver_that_takes_the_process_along_is_a_finding(
    tmp_path: Path, trouble: Trouble, outcome: ProbeOutcome
) -> None:
    limit = 2.0 if outcome is ProbeOutcome.TIMED_OUT else 20.0
    mishap = Mishap(trouble, When.DEVICES)
    started = time.monotonic()
    report, devices = await probe_of(tmp_path, mishap, limit_seconds=limit).look()

    assert time.monotonic() - started < 15.0
    assert report.probe.outcome is outcome
    assert report.probe.detail
    assert report.gpus == ()
    assert report.cpu == "Core Ultra 7 258V"
    assert [device.id for device in devices.devices] == ["CPU"]
    finding = probe_finding(report)
    assert finding is not None
    assert finding in findings(report, ())
    assert "models run on the processor" in finding.advice
    if outcome is not ProbeOutcome.FAILED:
        assert "Arc(TM) 140V GPU (16GB), driver 32.0.101.6737" in finding.advice


async def test_a_crash_before_the_greeting_is_told_with_its_last_words(tmp_path: Path) -> None:
    report, _ = await probe_of(tmp_path, Mishap(Trouble.ABORT, When.START)).look()

    assert report.probe.outcome is ProbeOutcome.CRASHED
    assert "terminate called after throwing" in report.probe.detail


async def test_who_gives_up_waiting_leaves_no_process_behind(tmp_path: Path) -> None:
    looking = asyncio.create_task(probe_of(tmp_path, Mishap(Trouble.FREEZE, When.DEVICES)).look())
    await until(lambda: bool(fake_workers()))

    looking.cancel()
    await asyncio.wait({looking})

    await until(lambda: not fake_workers())


async def test_what_was_found_is_known_at_once_the_next_time(tmp_path: Path) -> None:
    assert await probe_of(tmp_path).remembered() is None
    report, devices = await probe_of(tmp_path).look()

    remembered = await probe_of(tmp_path, Mishap(Trouble.ABORT, When.START)).remembered()

    assert remembered is not None
    assert remembered[1] == devices
    assert remembered[0].gpus == report.gpus
    assert remembered[0].memory.available_bytes is not None  # which is of now


async def test_another_driver_makes_the_old_answer_worthless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def has_driver(version: str) -> None:
        facts = SystemFacts(SystemMemory(), Power(), (Adapter("Arc", "8086:64a0", version),))
        monkeypatch.setattr(hardware_probe, "system_facts", lambda _: facts)

    has_driver("32.0.101.6737")
    await probe_of(tmp_path).look()
    assert await probe_of(tmp_path).remembered() is not None
    has_driver("32.0.101.8132")

    assert await probe_of(tmp_path).remembered() is None


async def test_a_failed_look_is_not_remembered(tmp_path: Path) -> None:
    await probe_of(tmp_path, Mishap(Trouble.ABORT, When.DEVICES)).look()

    assert await probe_of(tmp_path).remembered() is None


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b'{"key": 1}'])
async def test_a_damaged_memory_counts_as_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "hardware.json").write_bytes(content)

    assert await probe_of(tmp_path).remembered() is None


@pytest.mark.openvino
async def test_the_real_probe_sees_this_processor_within_its_time(tmp_path: Path) -> None:
    probe = HardwareProbe(
        launcher=WorkerLauncher(log_dir=tmp_path / "logs"),
        models_dir=lambda: tmp_path,
        memory_file=tmp_path / "hardware.json",
    )
    report, devices = await probe.look()

    assert report.probe.outcome is ProbeOutcome.COMPLETE
    assert "CPU" in [device.id for device in devices.devices]
    assert report.cpu
    assert devices.openvino_version


def test_the_system_is_asked_for_what_it_knows(tmp_path: Path) -> None:
    facts = system_facts(tmp_path / "not" / "there" / "yet")

    assert facts.memory.total_bytes
    assert facts.memory.available_bytes
    assert facts.memory.available_bytes <= facts.memory.total_bytes
    assert facts.free_disk_bytes
    assert facts.power.source in ("mains", "battery", "unknown")
    assert (facts.linux is not None) is sys.platform.startswith("linux")
