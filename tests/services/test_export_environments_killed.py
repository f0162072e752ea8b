"""An installation of export tools that is killed: nothing of it goes on, and the next one does."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.domain.export_environment import EnvironmentState
from tests.fakes.export_tools import environments, index_settings, use_index, write_locks
from tests.fakes.library_world import app_paths
from tests.fakes.package_index import Fault, package_index

if TYPE_CHECKING:
    from pathlib import Path

INSTALL = """
    import asyncio, sys
    from pathlib import Path
    from tests.fakes.export_tools import environments
    asyncio.run(environments(Path(sys.argv[1])).install("transformers-5.5"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="on Windows the job object does it")
def test_after_a_kill_the_installer_is_gone_and_the_next_one_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_locks(tmp_path / "locks")
    with package_index(Fault.STALLS) as index:
        child = subprocess.Popen(
            [sys.executable, "-c", "\n".join(map(str.strip, INSTALL.splitlines())), tmp_path],
            env=os.environ | index_settings(index) | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert index.half_sent.wait(30)
        installers = psutil.Process(child.pid).children(recursive=True)
        assert installers

        child.send_signal(signal.SIGKILL)
        child.wait()

        gone, alive = psutil.wait_procs(installers, timeout=5)
        assert gone
        assert alive == []
        tools = environments(tmp_path)
        (status, *_) = tools.status()
        assert status.state is EnvironmentState.DAMAGED
        assert "cut off" in status.detail

        index.fault = Fault.NONE
        use_index(monkeypatch, index)
        asyncio.run(tools.install("transformers-5.5"))

    assert tools.status()[0].state is EnvironmentState.READY
    assert list(app_paths(tmp_path).exporters_dir.glob("cache/.tmp*")) == []


@pytest.mark.skipif(sys.platform != "linux", reason="kills by a POSIX signal")
def test_twenty_kills_at_any_moment_leave_what_the_next_installation_makes_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_locks(tmp_path / "locks")
    with package_index() as index:
        use_index(monkeypatch, index)
        tools = environments(tmp_path)
        for number in range(20):
            child = subprocess.Popen(
                [sys.executable, "-c", "\n".join(map(str.strip, INSTALL.splitlines())), tmp_path],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            )
            time.sleep(0.05 * number)  # a kill comes when it comes
            child.kill()
            child.wait()
            (status, *_) = tools.status()
            if status.state is EnvironmentState.READY:
                tools.python("transformers-5.5")
                asyncio.run(tools.remove("transformers-5.5"))
        asyncio.run(tools.install("transformers-5.5"))
    assert tools.status()[0].state is EnvironmentState.READY
