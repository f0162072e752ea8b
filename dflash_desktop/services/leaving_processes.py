"""Engine processes that were let go and are on their way out."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflash_desktop.services.engine_process import EngineProcess


class LeavingProcesses:
    """Sees each out; its memory is free only when it is gone."""

    def __init__(self) -> None:
        self._tasks: dict[EngineProcess, asyncio.Task[None]] = {}

    def see_out(self, process: EngineProcess, *, politely: bool) -> asyncio.Task[None]:
        """End it, with a word before or at once; the task is done when it is gone."""
        task = asyncio.create_task(process.shut_down() if politely else process.break_off())
        self._tasks[process] = task
        task.add_done_callback(lambda _: self._tasks.pop(process))
        return task

    def kill(self) -> None:
        """Wait for none of them any longer."""
        for process in self._tasks:
            process.kill()

    async def gone(self) -> None:
        """Return when all are gone, also those that leave meanwhile."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))
