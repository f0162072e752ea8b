"""Runs one job in a fetch process and ends it, and all that it started, in every case."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psutil

from dflash_desktop.services.network_off import NETWORK_OFF
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.workers.fetch_messages import (
    Fetched,
    FetchRepos,
    FetchWheelMember,
    PlanRepos,
    ReposFetched,
    ReposPlanned,
)
from dflash_desktop.workers.protocol import Cancel, Failed

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from dflash_desktop.services.worker_launch import WorkerCommand
    from dflash_desktop.workers.protocol import Event

FetchJob = PlanRepos | FetchRepos | FetchWheelMember
_Answer = ReposPlanned | ReposFetched | Fetched | Failed

_END_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 1.0
_WRITING_SECONDS: Final = 0.8


class FetchFailedError(Exception):
    """The worker gave up; `code` is its failure code, the text is raw."""

    def __init__(
        self,
        code: str,
        raw: str,
        facts: Mapping[str, int] | None = None,
        words: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(raw)
        self.code = code
        self.facts = dict(facts or {})
        self.words = dict(words or {})


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed; how much the worker has read from files so far (0: not known)."""

    read_bytes: int


async def fetch_events(
    worker: WorkerCommand, job: FetchJob, *, tick_seconds: float | None = None
) -> AsyncGenerator[Event | Tick, None]:
    """Yield what the worker says, and a `Tick` whenever it was silent for that long.

    The consumer closes this when it has its answer, or wants no more: the process then ends at
    once. Raises `FetchFailedError`, also when the worker ends without an answer.
    """
    _refuse_if_network_is_off(worker)
    try:
        channel = WorkerChannel(worker)
    except OSError as error:
        raise FetchFailedError("worker_error", str(error)) from error
    is_over = False
    try:
        channel.send(job)
        async with (
            aclosing(channel.events()) as events,
            aclosing(_with_ticks(events, channel.pid, tick_seconds or _LOOK_SECONDS)) as ticking,
        ):
            async for event in ticking:
                _refuse_if_network_is_off(worker)
                if isinstance(event, Tick) and tick_seconds is None:
                    continue
                is_over = isinstance(event, _Answer)
                if isinstance(event, Failed):
                    raise FetchFailedError(event.code, event.raw, event.facts, event.words)
                yield event
        is_over = True
        raise FetchFailedError("worker_error", "\n".join((channel.fault, *channel.log_tail())))
    finally:
        if not is_over:
            await _let_finish_writing(channel, job)
        channel.kill_tree()
        await asyncio.wait([channel.exited], timeout=_END_SECONDS)


def _refuse_if_network_is_off(worker: WorkerCommand) -> None:
    """Also in the middle of a transfer, when a person switches it off."""
    if not worker.may_run():
        raise FetchFailedError(NETWORK_OFF, "the network is switched off in this program")


async def _let_finish_writing(channel: WorkerChannel, job: FetchJob) -> None:
    """A process that is asked to stop first writes what it holds: up to a megabyte of a file."""
    channel.send(Cancel(job.job))
    with suppress(TimeoutError):
        async with asyncio.timeout(_WRITING_SECONDS), aclosing(channel.events()) as events:
            async for event in events:
                if isinstance(event, _Answer):
                    return


async def _with_ticks(
    events: AsyncGenerator[Event, None], pid: int, tick_seconds: float
) -> AsyncGenerator[Event | Tick, None]:
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            await asyncio.wait([coming], timeout=tick_seconds)
            if not coming.done():
                yield Tick(_read_bytes(pid))
                continue
            event = coming.result()
            if event is None:
                return
            yield event
            coming = asyncio.ensure_future(anext(events, None))
    finally:
        coming.cancel()
        await asyncio.wait([coming])


def _read_bytes(pid: int) -> int:
    """What the process read through files, from the page cache too; 0 if it cannot be asked."""
    with suppress(psutil.Error):
        counters = psutil.Process(pid).io_counters()
        return int(getattr(counters, "read_chars", counters.read_bytes))
    return 0
