"""Starts the fake worker wherever the program would start its engine."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from dflash_desktop.services.worker_launch import WorkerCommand, WorkerLauncher, worker_environment
from tests.fakes.fake_worker import SCRIPT_VARIABLE, Script

FAKE_WORKER = Path(__file__).with_name("fake_worker.py")


class FakeLauncher(WorkerLauncher):
    """A launcher whose engine is the fake worker; change `script` for the next start."""

    def __init__(self, *, script: Script, log_dir: Path) -> None:
        super().__init__(log_dir=log_dir)
        self._log_dir = log_dir
        self.script = script
        self.starts = 0

    def engine(self) -> WorkerCommand:
        """The fake worker with the script of now."""
        self.starts += 1
        return self._fake("engine")

    def probe(self) -> WorkerCommand:
        """The fake worker, which lists made-up devices."""
        return self._fake("probe")

    def _fake(self, name: str) -> WorkerCommand:
        script = msgspec.json.encode(self.script).decode()
        return WorkerCommand(
            argv=(sys.executable, "-P", str(FAKE_WORKER)),
            env=worker_environment() | {SCRIPT_VARIABLE: script},
            log_file=self._log_dir / f"{name}.log",
        )


def fake_launcher(script: Script | None = None, *, log_dir: Path) -> FakeLauncher:
    """A launcher of a fake engine that answers politely, or does as `script` says."""
    return FakeLauncher(script=script or Script(), log_dir=log_dir)
