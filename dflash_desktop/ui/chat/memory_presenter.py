"""Keeps the memory block of the chat true while it can be seen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.engine_state import loaded_pair
from dflash_desktop.domain.hardware import HardwareReport
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from dflash_desktop.domain.engine_state import EngineState
    from dflash_desktop.domain.memory_use import MemoryUse
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.ui.chat.pane import ChatPane
    from dflash_desktop.ui.machine_look import MachineLook

_PAUSE_SECONDS: Final = 2.0


class MemorySource(Protocol):
    """What tells the memory's use."""

    async def use(self, report: HardwareReport) -> MemoryUse:
        """What is taken now, on a machine like this."""


class MemoryPresenter:
    """Asks every two seconds while a model is loaded and the block is in view."""

    def __init__(
        self,
        *,
        pane: ChatPane,
        engine: Engine,
        memory: MemorySource,
        machine: MachineLook,
        pause_seconds: float = _PAUSE_SECONDS,
    ) -> None:
        self._pane = pane
        self._engine = engine
        self._memory = memory
        self._machine = machine
        self._pause_seconds = pause_seconds
        self._report: HardwareReport | None = None
        self._tasks = TaskScope(owner=pane, on_problem=self._on_problem)
        self._end = engine.subscribe(self._on_engine_state)
        self._on_engine_state(engine.state)

    async def close(self) -> None:
        """Ask no more."""
        self._end()
        self._tasks.close()
        await self._tasks.wait()

    def _on_engine_state(self, state: EngineState) -> None:
        if loaded_pair(state) is None:
            self._pane.show_memory(None)
        elif not self._tasks.is_busy:
            self._tasks.start(self._follow())

    async def _follow(self) -> None:
        while (pair := loaded_pair(self._engine.state)) is not None:
            if self._pane.meter.isVisible():
                report = await self._report_for(pair.device)
                use = await self._memory.use(report)
                # Meanwhile the model may be gone.
                self._pane.show_memory(None if loaded_pair(self._engine.state) is None else use)
            await asyncio.sleep(self._pause_seconds)

    async def _report_for(self, device: str) -> HardwareReport:
        """The processor needs no report: its memory is the system's, which is asked anyway."""
        if device == "CPU":
            return HardwareReport()
        if self._report is None:
            known = await self._machine.remembered()
            self._report, _ = known if known is not None else await self._machine.look()
        return self._report

    def _on_problem(self, problem: Problem) -> None:
        """A block that cannot be filled is not there; nothing is lost with it."""
        self._pane.show_memory(None)
