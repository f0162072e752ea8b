"""Work that tells how it gets on, as an iterator of what it tells."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Coroutine

_T = TypeVar("_T")


async def told(
    work: Callable[[Callable[[_T], None]], Coroutine[Any, Any, None]],
) -> AsyncGenerator[_T, None]:
    """Run `work` with a function to report to, and yield each report.

    Raises what the work raises. Closing this iterator cancels the work and waits for its end.
    """
    reports: asyncio.Queue[tuple[_T] | None] = asyncio.Queue()

    async def run() -> None:
        try:
            await work(lambda report: reports.put_nowait((report,)))
        finally:
            reports.put_nowait(None)

    task = asyncio.create_task(run())
    try:
        while (report := await reports.get()) is not None:
            yield report[0]
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
