"""The self-test after an installation or an update."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.paths import app_paths
from dflash_desktop.services import first_check
from dflash_desktop.services.first_check import check_new_installation
from tests.services.test_self_test import Launcher

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A made-up installation, which is asked for its place and time only."""
    real = sys.executable
    file = tmp_path / "program"
    file.touch()
    monkeypatch.setattr(first_check, "sys", type("Sys", (), {"executable": str(file)}))
    assert sys.executable == real
    return file


@pytest.mark.usefixtures("program")
async def test_it_runs_once_for_each_installation(tmp_path: Path, program: Path) -> None:
    launcher = Launcher(log_dir=tmp_path)
    assert await check_new_installation(paths=app_paths(), launcher=launcher) is None
    assert launcher.starts > 0
    starts = launcher.starts
    assert await check_new_installation(paths=app_paths(), launcher=launcher) is None
    assert launcher.starts == starts
    os.utime(program, ns=(1, 1))  # another build in its place
    assert await check_new_installation(paths=app_paths(), launcher=launcher) is None
    assert launcher.starts > starts


@pytest.mark.usefixtures("program")
@pytest.mark.expects_log("self-test failed")
async def test_what_fails_is_told_at_each_start_until_it_is_mended(tmp_path: Path) -> None:
    failing = (
        'print(\'{"checks": [{"code": "plugin", "passed": false, "detail": "Install again."}]}\')'
    )
    launcher = Launcher(log_dir=tmp_path, code=failing)
    for _ in range(2):
        problem = await check_new_installation(paths=app_paths(), launcher=launcher)
        assert problem is not None
        assert problem.detail == "plugin: Install again."
