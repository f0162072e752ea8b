"""The window's part of the self-test, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from dflash_desktop import paths
from dflash_desktop.app import self_test
from dflash_desktop.paths import resources_dir

ROOT = Path(__file__).parents[2]


def test_a_whole_window_passes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dflash_desktop", "window-self-test"],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        check=False,
    )
    checks = json.loads(done.stdout)["checks"]
    assert done.returncode == 0, checks
    assert [c["code"] for c in checks] == [
        f"window.{name}" for name in ("qt", "platform", "icons", "theme")
    ]
    assert all(c["passed"] for c in checks)


@pytest.mark.usefixtures("qapp")
def test_an_icon_that_is_gone_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    icons = tmp_path / "_resources" / "icons"
    icons.mkdir(parents=True)
    for file in (resources_dir() / "icons").glob("*.svg"):
        if file.name != "gauge.svg":
            (icons / file.name).write_bytes(file.read_bytes())
    with patch.object(paths, "__file__", str(tmp_path / "paths.py")):
        assert self_test.main() == 1
    checks = {c["code"]: c for c in json.loads(capfd.readouterr().out)["checks"]}
    assert not checks["window.icons"]["passed"]
    assert "gauge.svg" in checks["window.icons"]["detail"]
    assert not checks["window.theme"]["passed"]  # its template is gone, too
