"""Runs the fetch worker for one file and ends it, and all that it started, in every case."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.workers.protocol import Failed, Fetched, FetchWheelMember, Transfer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from dflash_desktop.services.worker_launch import WorkerCommand

_END_SECONDS: Final = 5.0


class FetchFailedError(Exception):
    """The worker gave up; `code` is its failure code, the text is raw."""

    def __init__(self, code: str, raw: str) -> None:
        super().__init__(raw)
        self.code = code


async def fetch(worker: WorkerCommand, job: FetchWheelMember) -> AsyncGenerator[Transfer, None]:
    """Yield how far the transfer is, until the file is in place; closing this stops it.

    Raises `FetchFailedError`, also when the worker ends without an answer.
    """
    try:
        channel = WorkerChannel(worker)
    except OSError as error:
        raise FetchFailedError("worker_error", str(error)) from error
    try:
        channel.send(job)
        async with aclosing(channel.events()) as events:
            async for event in events:
                match event:
                    case Transfer():
                        yield event
                    case Fetched():
                        return
                    case Failed(code=code, raw=raw):
                        raise FetchFailedError(code, raw)
                    case _:
                        pass  # its greeting
        raise FetchFailedError("worker_error", "\n".join((channel.fault, *channel.log_tail())))
    finally:
        channel.kill_tree()
        await asyncio.wait([channel.exited], timeout=_END_SECONDS)
