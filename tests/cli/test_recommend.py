"""`recommend` and `doctor` on recorded machines, as a person and as a program would call them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from dflash_desktop import cli
from dflash_desktop.cli.context import CommandContext
from dflash_desktop.cli.doctor import devices_of_report
from dflash_desktop.paths import app_paths
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.machines import MACHINES_DIR, machine

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.hardware import HardwareReport

A770 = str(MACHINES_DIR / "arc_a770_16gb.json")
LAPTOP = str(MACHINES_DIR / "arc_130v_16gb.json")
VERDICTS = ["fits", "tight", "too_big"]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    monkeypatch.setenv("DFLASH_HOME", str(tmp_path))
    return Command(capsys)


class Command:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def run(self, *arguments: str) -> tuple[int, str]:
        paths = app_paths()
        code = cli.main(
            arguments,
            open_context=lambda: CommandContext(
                paths=paths, launcher=WorkerLauncher(log_dir=paths.log_dir)
            ),
        )
        out, err = self._capsys.readouterr()
        return code, out or err

    def json(self, *arguments: str) -> dict[str, Any]:
        code, printed = self.run(*arguments, "--json")
        assert code == 0, printed
        value = json.loads(printed)
        assert isinstance(value, dict)
        return value


def test_a_program_gets_tier_budget_and_ranked_pairs(command: Command) -> None:
    printed = command.json("recommend", "--hardware", A770)

    assert printed["tier"] == "large"
    assert printed["budget"]["pool"] == "card"
    assert printed["budget"]["usable_bytes"] + printed["budget"]["reserve_bytes"] == 16_225_243_136
    first = printed["recommendations"][0]
    assert first["verdict"] == "fits"
    assert first["runnable"] is True
    assert first["missing"] == []
    assert first["needed_bytes"] + first["spare_bytes"] == printed["budget"]["usable_bytes"]
    assert first["context_tokens"] == 8192
    assert first["reasons"]
    parts = first["parts"]
    assert first["needed_bytes"] == sum(parts[name] for name in parts if name.endswith("_bytes"))


def test_what_needs_a_newer_runtime_says_so(command: Command) -> None:
    printed = command.json("recommend", "--hardware", A770)

    newer = [one for one in printed["recommendations"] if "dspark_" in one["pair"]]
    assert newer
    for one in newer:
        assert one["runnable"] is False
        assert any("2026.5" in text for text in one["missing"])


def test_the_runtime_of_the_recorded_machine_counts(command: Command, tmp_path: Path) -> None:
    report = json.loads(MACHINES_DIR.joinpath("arc_a770_16gb.json").read_text(encoding="utf-8"))
    file = tmp_path / "newer.json"
    file.write_text(json.dumps({**report, "genai": "2026.5.0.0"}), encoding="utf-8")

    printed = command.json("recommend", "--hardware", str(file))

    (one,) = (p for p in printed["recommendations"] if "dspark_qwen3" in p["pair"])
    assert one["missing"] == ["an export to OpenVINO of the target and the draft"]


def test_a_longer_context_never_helps_and_finally_does_not_fit(command: Command) -> None:
    def verdicts(context: int) -> dict[str, int]:
        printed = command.json("recommend", "--hardware", A770, "--context", str(context))
        assert {one["context_tokens"] for one in printed["recommendations"]} == {context}
        return {o["pair"]: VERDICTS.index(o["verdict"]) for o in printed["recommendations"]}

    short, long = verdicts(2048), verdicts(262_144)

    assert all(long[pair] >= short[pair] for pair in short)
    assert long != short


def test_this_machine_is_judged_by_the_device_that_was_chosen(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Probe:
        async def look(self) -> tuple[HardwareReport, DeviceReport]:
            report = machine("arc_a770_16gb")
            return report, devices_of_report(report)

    monkeypatch.setattr(CommandContext, "hardware_probe", Probe())
    assert command.json("recommend")["budget"]["pool"] == "card"
    SettingsStore(app_paths().settings_file).change(device="CPU")
    assert command.json("recommend")["budget"]["pool"] == "system"


def test_the_reserve_can_be_chosen(command: Command) -> None:
    printed = command.json("recommend", "--hardware", LAPTOP, "--reserve-gb", "6.5")

    assert printed["budget"]["pool"] == "shared"
    assert printed["budget"]["reserve_bytes"] == 6_500_000_000
    assert printed["budget"]["usable_bytes"] == 4_500_000_000


@pytest.mark.parametrize(
    "arguments",
    [
        ("--context", "0"), ("--context", "many"), ("--context", "-5"), ("--context", "9999999"),
        ("--reserve-gb", "-1"), ("--reserve-gb", "nan"), ("--reserve-gb", "lots"),
    ],
)  # fmt: skip
def test_senseless_numbers_are_wrong_usage(command: Command, arguments: tuple[str, str]) -> None:
    code, printed = command.run("recommend", "--hardware", A770, *arguments)

    assert code == 2
    assert arguments[1] in printed


def test_a_person_reads_the_memory_and_the_five_best(command: Command) -> None:
    code, printed = command.run("recommend", "--hardware", LAPTOP)

    assert code == 0
    assert "9.0 GB" in printed or "8.99 GB" in printed
    assert "5. " in printed
    assert "6. " not in printed
    assert "measured by others on Arc 130V" in printed
    assert "are too big" in printed


def test_a_machine_on_which_nothing_fits_is_told(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "tiny.json"
    file.write_text('{"memory": {"total_bytes": 2000000000}}', encoding="utf-8")

    code, printed = command.run("recommend", "--hardware", str(file))

    assert code == 0
    assert "No pair fits" in printed


@pytest.mark.parametrize("name", ["recommend", "doctor"])
def test_a_broken_report_is_a_fault_in_words(command: Command, tmp_path: Path, name: str) -> None:
    file = tmp_path / "broken.json"
    file.write_text("{", encoding="utf-8")

    code, printed = command.run(name, "--hardware", str(file))

    assert code == 1
    assert f"“{file}” is not a hardware report" in printed
    code, printed = command.run(name, "--hardware", str(tmp_path / "nope"))
    assert code == 1
    assert f"“{tmp_path / 'nope'}” could not be read" in printed


def test_doctor_reads_a_recorded_machine(command: Command) -> None:
    code, printed = command.run("doctor", "--hardware", LAPTOP)

    assert code == 0
    assert "Others had trouble with driver 32.0.101.8425" in printed
    assert "Answers come from GPU, Intel(R) Arc(TM) 130V" in printed
    assert "OpenVINO 2" not in printed  # nobody recorded that machine's versions


@pytest.mark.parametrize("name", ["arc_130v_16gb", "arc_pro_b60", "cpu_only", "laptop_8gb"])
def test_what_doctor_prints_is_a_report_again(command: Command, tmp_path: Path, name: str) -> None:
    recorded = str(MACHINES_DIR / f"{name}.json")
    printed = command.json("doctor", "--hardware", recorded)
    file = tmp_path / "printed.json"
    file.write_text(json.dumps(printed), encoding="utf-8")

    assert command.json("doctor", "--hardware", str(file)) == printed
    assert command.json("recommend", "--hardware", str(file)) == command.json(
        "recommend", "--hardware", recorded
    )


def test_own_pairs_are_judged_with_the_others(command: Command) -> None:
    own = {
        "version": 1,
        "about": "mine",
        "sources": {"me": "my own"},
        "targets": [{"id": "Mine", "title": "My model", "family": "Mine", "is_prebuilt": True,
                     "parameters": 3_000_000_000,
                     "sources": {"parameters": "me", "is_prebuilt": "me"}}],
        "drafts": [],
        "pairs": [{"target": "Mine", "draft": None,
                   "requires": {"runtime": "2026.4.1", "source": "me"}}],
    }  # fmt: skip
    file = app_paths().own_pairs_file
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(own), encoding="utf-8")

    printed = command.json("recommend", "--hardware", A770)

    (mine,) = (one for one in printed["recommendations"] if one["pair"] == "Mine")
    assert mine["title"] == "My model"
    assert mine["runnable"] is True
