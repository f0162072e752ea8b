"""One job on the wire: its events on their way to the one who asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Self, TypeVar

from dflash_desktop.domain.problems import AppError, CancelledByPersonError, Problem
from dflash_desktop.workers.frames import ProtocolError
from dflash_desktop.workers.protocol import LoadProgress, PictureStep, Prefill, Started, Text

if TYPE_CHECKING:
    from dflash_desktop.workers.protocol import Command, Event

_Answer = TypeVar("_Answer")
_ONGOING = (LoadProgress, Started, Prefill, Text, PictureStep)
"""Every other event is a job's last."""


class EngineJob:
    """A command that was sent and the events that answer it, kept until they are fetched."""

    def __init__(self, *, number: int, command: Command) -> None:
        self.number = number
        self.command = command
        self.cancel_seconds = 0.0
        """What it may need to obey `Cancel`, where that is more than usual."""
        self._inbox: asyncio.Queue[Event | Problem | None] = asyncio.Queue()
        self._over = asyncio.Event()
        self._is_fetched = False

    @property
    def is_over(self) -> bool:
        """Whether its last event has come, or it was given up."""
        return self._over.is_set()

    async def is_over_within(self, seconds: float) -> bool:
        """Wait for the end, but not longer than this."""
        try:
            await asyncio.wait_for(self._over.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def put(self, event: Event) -> None:
        """Pass on an event; the last one closes the job."""
        self._inbox.put_nowait(event)
        if not isinstance(event, _ONGOING):
            self._over.set()

    def fail(self, problem: Problem) -> None:
        """Close the job: what arrived before is still delivered, then `AppError`."""
        self._inbox.put_nowait(problem)
        self._over.set()

    def give_up(self) -> None:
        """Close the job because the person stopped it and the engine did not obey."""
        self._inbox.put_nowait(None)
        self._over.set()

    def __aiter__(self) -> Self:
        """What answers the job, the last event included; for one consumer."""
        return self

    async def __anext__(self) -> Event:
        """The next event.

        Raises `AppError` when the job failed or the engine ended, and `CancelledByPersonError`
        when the job was given up.
        """
        if self._is_fetched:
            raise StopAsyncIteration
        item = await self._inbox.get()
        if item is None:
            raise CancelledByPersonError
        if isinstance(item, Problem):
            raise AppError(item)
        self._is_fetched = not isinstance(item, _ONGOING)
        return item

    async def answer(self, kind: type[_Answer]) -> _Answer:
        """The one event of this kind. Raises as the iteration does."""
        async for event in self:
            if isinstance(event, kind):
                return event
        raise ProtocolError(f"{type(self.command).__name__} was not answered by {kind.__name__}")
