"""Blocking work in small steps, one thread call a step, so that the loop stays free."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Coroutine, Generator

_T = TypeVar("_T")


async def to_its_end(work: Coroutine[Any, Any, _T]) -> _T:
    """The result of work that must not be left half done, also when this is cancelled."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


class _End:
    """What a generator gives when it has nothing more."""


_END: Final = _End()


async def in_threads(steps: Generator[_T, None, None]) -> AsyncGenerator[_T, None]:
    """Yield what `steps` yields, each step computed in a thread; closes `steps` in every case.

    When cancelled it waits for the running step, so that no thread still uses a file which the
    caller then deletes.
    """
    try:
        while True:
            step = asyncio.ensure_future(asyncio.to_thread(next, steps, _END))
            try:
                item = await asyncio.shield(step)
            except asyncio.CancelledError:
                await asyncio.wait([step])
                raise
            if isinstance(item, _End):
                return
            yield item
    finally:
        steps.close()
