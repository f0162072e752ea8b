"""Runs one step of an export under the guard, and sees to it that nothing of the step stays."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import export_problems as problems
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.workers.guard_messages import EndStep, GuardStep, HoldStep, StepEnded
from dflash_desktop.workers.protocol import Failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.services.worker_launch import WorkerLauncher
    from dflash_desktop.workers.protocol import Event

MARK_VARIABLE: Final = "DFLASH_EXPORT"
"""In the environment of every process of an export: its id, by which strays are found."""

_JOB: Final = 1
_PAUSE_SECONDS: Final = 0.01
_END_SECONDS: Final = 15.0
"""A process that waits for a dying disk needs long to go."""


@dataclass(frozen=True, slots=True)
class StepCommand:
    """What a step runs; `mark` is the export's id."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    work_dir: Path
    log_file: Path
    mark: str
    limit_bytes: int | None = None


class ExportGuard:
    """One step at a time, each with a guard process of its own."""

    def __init__(self, *, launcher: WorkerLauncher) -> None:
        self._launcher = launcher
        self._channel: WorkerChannel | None = None

    async def run(self, step: StepCommand, hear: Callable[[Event], None]) -> StepEnded:
        """Run it to its end, however that comes; `hear` is called with what the guard says.

        Raises `AppError` when it could not be started, or when the guard itself was ended.
        Cancelling this ends every process of the step before it returns.
        """
        try:
            channel = self._channel = WorkerChannel(self._launcher.guard())
        except OSError as error:
            raise AppError(problems.not_started(str(error))) from error
        try:
            channel.send(
                GuardStep(
                    _JOB,
                    argv=step.argv,
                    env={**step.env, MARK_VARIABLE: step.mark},
                    work_dir=step.work_dir,
                    log_file=step.log_file,
                    limit_bytes=step.limit_bytes,
                )
            )
            return await _ended(channel, hear)
        except AppError:
            await end_strays(step.mark)
            raise
        except asyncio.CancelledError:
            channel.send(EndStep(_JOB))
            try:
                async with asyncio.timeout(_END_SECONDS):
                    await _ended(channel, lambda _: None)
            except (TimeoutError, AppError):
                await end_strays(step.mark)
            raise
        finally:
            self._channel = None
            channel.kill_tree()
            await asyncio.wait([channel.exited], timeout=_END_SECONDS)

    def hold(self, *, is_held: bool) -> bool:
        """Let the step stand still or go on; False while none runs."""
        if self._channel is None:
            return False
        self._channel.send(HoldStep(_JOB, is_held))
        return True


async def end_strays(mark: str) -> None:
    """End what is left of an export whose guard was ended from outside."""
    await asyncio.to_thread(_end_marked, mark)


async def _ended(channel: WorkerChannel, hear: Callable[[Event], None]) -> StepEnded:
    async with aclosing(channel.events()) as events:
        async for event in events:
            if isinstance(event, StepEnded):
                return event
            if isinstance(event, Failed):
                raise AppError(problems.not_started(event.raw))
            hear(event)
    raise AppError(problems.guard_ended("\n".join((channel.fault, *channel.log_tail()))))


def _end_marked(mark: str) -> None:
    """Until none is left: what is being ended may still have started another one."""
    deadline = time.monotonic() + _END_SECONDS
    while (found := _marked(mark)) and time.monotonic() < deadline:
        for process in found:
            with suppress(psutil.Error):
                process.kill()
        time.sleep(_PAUSE_SECONDS)


def _marked(mark: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        # Of processes of others the system tells nothing, and none of those is ours.
        with suppress(psutil.Error, OSError):
            is_one = process.environ().get(MARK_VARIABLE) == mark
            if is_one and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found
