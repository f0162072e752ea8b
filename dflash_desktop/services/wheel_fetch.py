"""Runs the fetch worker for one file of a wheel."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from dflash_desktop.services.fetch_process import FetchFailedError, fetch_events
from dflash_desktop.workers.fetch_messages import Fetched, FetchWheelMember, Transfer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from dflash_desktop.services.worker_launch import WorkerCommand

__all__ = ["FetchFailedError", "fetch"]


async def fetch(worker: WorkerCommand, job: FetchWheelMember) -> AsyncGenerator[Transfer, None]:
    """Yield how far the transfer is, until the file is in place; closing this stops it.

    Raises `FetchFailedError`, also when the worker ends without an answer.
    """
    async with aclosing(fetch_events(worker, job)) as events:
        async for event in events:
            match event:
                case Transfer():
                    yield event
                case Fetched():
                    return
                case _:
                    pass  # its greeting
