"""How workers are started: which program, which environment, which log."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dflash_desktop.workers.no_internet import NO_NETWORK_VARIABLE, is_network_forbidden
from dflash_desktop.workers.parent import PARENT_PID_VARIABLE
from dflash_desktop.workers.picture_limits import PICTURE_MEMORY_BYTES

_NEVER_PASSED: Final = frozenset(
    {
        # What would make another Python of the worker than the one we ship or test.
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONSTARTUP",
        "PYTHONINSPECT",
        "PYTHONDEVMODE",
        "PYTHONWARNINGS",
        "PYTHONOPTIMIZE",
        # Secrets that a worker has no use for: what it does not have cannot reach its log.
        "HF_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
    }
)
_ALWAYS_SET: Final = {
    "PYTHONUTF8": "1",  # Windows' code pages would spoil paths and logs
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


@dataclass(frozen=True, slots=True)
class WorkerCommand:
    """Everything that starting one worker needs; `log_file` receives its standard error."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    log_file: Path
    may_run: Callable[[], bool] = lambda: True  # asked again and again while it runs
    memory_limit_bytes: int | None = None  # where the system enforces it from outside: on Windows


class WorkerLauncher:
    """Knows how this installation starts its workers; starting is the channel's part."""

    def __init__(
        self, *, log_dir: Path, is_network_off: Callable[[], bool] = lambda: False
    ) -> None:
        """`is_network_off` is what the person set; the variable `NO_NETWORK_VARIABLE` is, too."""
        self._log_dir = log_dir
        self._is_network_off = is_network_off

    def may_use_network(self) -> bool:
        """Whether something may be fetched now."""
        return not (self._is_network_off() or is_network_forbidden())

    def engine(self) -> WorkerCommand:
        """The engine: loads models and answers, and never needs a network."""
        return WorkerCommand(
            argv=_argv("dflash_desktop.workers.engine"),
            env=worker_environment() | {"HF_HUB_OFFLINE": "1"},
            log_file=self._log_dir / "engine.log",
        )

    def fetch(self) -> WorkerCommand:
        """The fetcher: brings in one file."""
        return WorkerCommand(
            argv=_argv("dflash_desktop.workers.fetch", "fetch"),
            # A process that may not reach a network cannot, whatever it is told.
            env=worker_environment()
            | ({} if self.may_use_network() else {NO_NETWORK_VARIABLE: "1"}),
            log_file=self._log_dir / "fetch.log",
            may_run=self.may_use_network,
        )

    def pictures(self) -> WorkerCommand:
        """The reader of pictures: files from anywhere, in a process that is soon replaced."""
        return WorkerCommand(
            argv=_argv("dflash_desktop.workers.pictures", "pictures"),
            env=worker_environment() | {"HF_HUB_OFFLINE": "1"},
            log_file=self._log_dir / "pictures.log",
            memory_limit_bytes=PICTURE_MEMORY_BYTES,
        )

    def probe(self) -> WorkerCommand:
        """The probe: asks the drivers for their devices, and ends."""
        return WorkerCommand(
            argv=_argv("dflash_desktop.workers.probe", "probe"),
            env=worker_environment() | {"HF_HUB_OFFLINE": "1"},
            log_file=self._log_dir / "probe.log",
        )

    def guard(self) -> WorkerCommand:
        """The guard: runs one step of an export, and ends it before the machine suffers."""
        return WorkerCommand(
            argv=_argv("dflash_desktop.workers.export_guard", "guard"),
            env=worker_environment(),
            log_file=self._log_dir / "guard.log",
        )

    def self_test(self) -> WorkerCommand:
        """What looks whether this installation of the engine is whole; it speaks no protocol."""
        return WorkerCommand(
            argv=_argv("dflash_desktop.workers.self_test", "self-test"),
            env=worker_environment() | {"HF_HUB_OFFLINE": "1"},
            log_file=self._log_dir / "self-test.log",
        )


def leashed(argv: tuple[str, ...]) -> tuple[str, ...]:
    """The command that runs another program so that it ends with this process.

    Its environment must be `worker_environment`'s. On Windows the job object does that.
    """
    if sys.platform != "linux":
        return argv
    return (*_argv("dflash_desktop.workers.leash", "leash"), *argv)


def worker_environment() -> dict[str, str]:
    """This process's environment without what could change or betray a worker."""
    kept = {name: value for name, value in os.environ.items() if name not in _NEVER_PASSED}
    return kept | _ALWAYS_SET | {PARENT_PID_VARIABLE: str(os.getpid())}


def _argv(module: str, *frozen_arguments: str) -> tuple[str, ...]:
    """A frozen program has a second executable for all workers; else Python runs the module.

    `sys.executable` of a frozen program is the window itself, so starting that would open a
    second window (case 97). `-P` keeps files in the current folder from posing as modules.
    """
    if getattr(sys, "frozen", False):
        return (engine_program(), *frozen_arguments)
    return (sys.executable, "-P", "-m", module)


def engine_program() -> str:
    """The path of a frozen program's other executable, which is every worker."""
    suffix = ".exe" if sys.platform == "win32" else ""
    return str(Path(sys.executable).with_name(f"dflash-engine{suffix}"))
