"""The engine's state, and who is told of each change."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflash_desktop.domain.engine_state import Absent

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.engine_state import EngineState


class AnnouncedState:
    """Changes on the loop; every listener hears every change, in order."""

    def __init__(self) -> None:
        self.now: EngineState = Absent()
        self._listeners: list[Callable[[EngineState], None]] = []

    def subscribe(self, listener: Callable[[EngineState], None]) -> Callable[[], None]:
        """Call `listener` in the loop after every change; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def enter(self, state: EngineState) -> None:
        """Be in this state; nothing is told when it is the same."""
        if state == self.now:
            return
        self.now = state
        for listener in self._listeners:
            # Not called from here: what a listener raises is its own fault, not the engine's.
            asyncio.get_running_loop().call_soon(self._tell, listener, state)

    def _tell(self, listener: Callable[[EngineState], None], state: EngineState) -> None:
        if listener in self._listeners:
            listener(state)
