"""The self-test's own part: resources, folders, and processes that start or do not."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop import paths as paths_module
from dflash_desktop.paths import app_paths, resources_dir
from dflash_desktop.services.home_check import why_not_writable
from dflash_desktop.services.self_test import run_self_test
from dflash_desktop.services.worker_launch import WorkerCommand, worker_environment
from tests.fakes.fake_worker import Mishap, Script, Trouble, When
from tests.fakes.launcher import FakeLauncher

if TYPE_CHECKING:
    from pathlib import Path

GOOD = 'print(\'{"checks": [{"code": "made.up", "passed": true, "detail": ""}]}\')'


class Launcher(FakeLauncher):
    """Fake processes, and in the place of the engine's self-test what `code` says."""

    def __init__(self, *, log_dir: Path, code: str = GOOD, script: Script | None = None) -> None:
        super().__init__(script=script or Script(), log_dir=log_dir)
        self.code = code

    def self_test(self) -> WorkerCommand:
        argv = (sys.executable, "-c", self.code)
        return WorkerCommand(argv, worker_environment(), self._log_dir / "self-test.log")


async def failed(launcher: Launcher) -> dict[str, str]:
    checks = await run_self_test(paths=app_paths(), launcher=launcher, with_window=False)
    assert len({check.code for check in checks}) == len(checks)
    return {check.code: check.detail for check in checks if not check.passed}


async def test_a_whole_installation_passes(tmp_path: Path) -> None:
    assert await failed(Launcher(log_dir=tmp_path)) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="ends itself by a signal")
async def test_a_self_test_that_crashes_is_a_fault_and_says_so(tmp_path: Path) -> None:
    launcher = Launcher(log_dir=tmp_path, code="import os; os.abort()")
    found = await failed(launcher)
    assert list(found) == ["engine.self_test"]
    assert "Install the program again." in found["engine.self_test"]


async def test_an_engine_that_ends_at_once_is_a_fault(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.VANISH, When.START),))
    found = await failed(Launcher(log_dir=tmp_path, script=script))
    assert {"process.engine", "process.probe"} == found.keys()


async def test_damaged_resources_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "_resources"
    shutil.copytree(resources_dir(), copy)
    (copy / "catalogue.json").write_text('{"version": 1', encoding="utf-8")
    (copy / "bench_prompts.json").unlink()
    (copy / "starter" / "draft" / "openvino_model.bin").write_bytes(b"")
    monkeypatch.setattr(paths_module, "__file__", str(tmp_path / "paths.py"))
    found = await failed(Launcher(log_dir=tmp_path / "logs"))
    assert found.keys() == {"resources.catalogue", "resources.prompts", "resources.starter"}


async def test_folders_that_cannot_be_written_are_named_with_a_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").write_bytes(b"a file where a folder should be")
    monkeypatch.setenv("DFLASH_HOME", str(tmp_path / "home"))
    found = await failed(Launcher(log_dir=tmp_path / "logs"))
    assert {code for code in found if code.startswith("folder.")} == {
        f"folder.{name}" for name in ("settings", "data", "models", "cache", "logs")
    }
    assert "DFLASH_HOME" in found["folder.data"]


def test_looking_whether_a_folder_can_be_written_leaves_nothing_in_it(tmp_path: Path) -> None:
    assert why_not_writable(tmp_path / "new") == ""
    assert list((tmp_path / "new").iterdir()) == []
