"""Ends a load that eats all memory before the whole machine stands still (case 61)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, TypeVar

import psutil

from dflash_desktop.domain.problems import AppError, CancelledByPersonError, Problem, Remedy
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

_FLOOR_BYTES: Final = 300_000_000
"""Below this a desktop swaps so hard that nobody can press Stop."""
_PAUSE_SECONDS: Final = 0.25
_READINGS: Final = 2
"""In a row, since the system may be about to take back what it can."""

_T = TypeVar("_T")


class MemoryGuard:
    """Watches what is free while something large is loaded."""

    def __init__(
        self,
        *,
        available_bytes: Callable[[], int] = lambda: psutil.virtual_memory().available,
        floor_bytes: int = _FLOOR_BYTES,
        pause_seconds: float = _PAUSE_SECONDS,
    ) -> None:
        self._available_bytes = available_bytes
        self._floor_bytes = floor_bytes
        self._pause_seconds = pause_seconds

    async def watch(
        self, load: Coroutine[object, object, _T], *, stop: Callable[[], Awaitable[None]]
    ) -> _T:
        """The result of `load`, which `stop` ends when memory runs out.

        Raises `AppError` ("memory_running_out") then, and what `load` raises.
        """
        loading = asyncio.ensure_future(load)
        try:
            available = await self._low_reading(loading)
        except BaseException:
            loading.cancel()
            await asyncio.wait({loading})
            raise
        if available is None:
            return loading.result()
        raise AppError(await self._ended(loading, stop, available))

    async def _low_reading(self, loading: asyncio.Future[_T]) -> int | None:
        """What is free when it is too little, or None when the load is through before."""
        low = 0
        while not (await asyncio.wait({loading}, timeout=self._pause_seconds))[0]:
            available = self._available_bytes()
            low = low + 1 if available < self._floor_bytes else 0
            if low >= _READINGS:
                return available
        return None

    async def _ended(
        self,
        loading: asyncio.Future[_T],
        stop: Callable[[], Awaitable[None]],
        available_bytes: int,
    ) -> Problem:
        await stop()
        await asyncio.wait({loading})
        error = None if loading.cancelled() else loading.exception()
        if error is not None and not isinstance(error, AppError | CancelledByPersonError):
            raise error
        return Problem(
            code="memory_running_out",
            headline="Loading was stopped: the machine was about to run out of memory.",
            advice=f"{format_bytes(available_bytes)} were still free. Close other programs, "
            "choose a smaller model or a shorter context, or load it without the draft.",
            remedies=(Remedy.RETRY, Remedy.LOAD_WITHOUT_DRAFT, Remedy.CHOOSE_MODEL),
        )
