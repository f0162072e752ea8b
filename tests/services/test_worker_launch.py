"""How workers are started in a checkout and in a frozen program, and in which environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from dflash_desktop import paths
from dflash_desktop.services.uv_program import find_uv
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.parent import PARENT_PID_VARIABLE
from dflash_desktop.workers.picture_limits import PICTURE_MEMORY_BYTES


@pytest.fixture
def launcher(tmp_path: Path) -> WorkerLauncher:
    return WorkerLauncher(log_dir=tmp_path)


def test_a_checkout_runs_the_worker_module(launcher: WorkerLauncher) -> None:
    assert launcher.engine().argv == (
        *(sys.executable, "-P", "-m", "dflash_desktop.workers.engine"),
    )
    assert launcher.fetch().argv[-1] == "dflash_desktop.workers.fetch"


@pytest.mark.parametrize(
    ("platform", "name"), [("linux", "dflash-engine"), ("win32", "dflash-engine.exe")]
)
def test_a_frozen_program_never_starts_itself(
    launcher: WorkerLauncher, monkeypatch: pytest.MonkeyPatch, platform: str, name: str
) -> None:
    window = Path("/opt/dflash/dflash-desktop")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(window))
    monkeypatch.setattr(sys, "platform", platform)
    assert launcher.engine().argv == (str(window.with_name(name)),)
    assert launcher.fetch().argv == (str(window.with_name(name)), "fetch")
    assert launcher.pictures().argv == (str(window.with_name(name)), "pictures")
    assert launcher.self_test().argv == (str(window.with_name(name)), "self-test")


def test_only_the_reader_of_pictures_is_limited_from_outside(launcher: WorkerLauncher) -> None:
    assert launcher.pictures().memory_limit_bytes == PICTURE_MEMORY_BYTES
    assert launcher.engine().memory_limit_bytes is None


def test_workers_get_a_clean_environment(
    launcher: WorkerLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/somewhere/else")
    monkeypatch.setenv("PYTHONHOME", "/somewhere/else")
    monkeypatch.setenv("HF_TOKEN", "made-up")
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("KEPT", "as it is")
    for command in (launcher.engine(), launcher.fetch(), launcher.pictures()):
        assert "PYTHONPATH" not in command.env
        assert "PYTHONHOME" not in command.env
        assert "HF_TOKEN" not in command.env
        assert command.env["PYTHONUTF8"] == "1"
        assert command.env["KEPT"] == "as it is"
        assert command.env[PARENT_PID_VARIABLE] == str(os.getpid())


def test_the_engine_is_told_to_stay_off_the_network(
    launcher: WorkerLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert launcher.engine().env["HF_HUB_OFFLINE"] == "1"
    assert "HF_HUB_OFFLINE" not in launcher.fetch().env


def test_other_pythons_find_plain_sources_in_a_checkout_and_in_a_frozen_program(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert (paths.source_dir() / "dflash_desktop" / "workers" / "export_program.py").is_file()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    inside = tmp_path / "_internal"
    monkeypatch.setattr(paths, "__file__", str(inside / "dflash_desktop" / "paths.pyc"))
    assert paths.source_dir() == inside / "source"


def test_a_frozen_program_takes_the_uv_in_its_tools(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    uv = tmp_path / "tools" / ("uv.exe" if sys.platform == "win32" else "uv")
    uv.parent.mkdir()
    uv.touch()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "dflash-desktop"))
    assert find_uv() == uv
