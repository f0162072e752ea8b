"""The process that reads pictures: started when there is one, watched, and soon let go."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import psutil

from dflash_desktop.services.error_map import describe_exit
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.workers.picture_limits import PICTURE_CPU_SECONDS, PICTURE_WAIT_SECONDS
from dflash_desktop.workers.picture_messages import (
    MakeThumbnail,
    PicturePrepared,
    PreparePicture,
    ThumbnailMade,
)
from dflash_desktop.workers.protocol import Failed, Hello

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from dflash_desktop.services.worker_launch import WorkerLauncher
    from dflash_desktop.workers.protocol import Event

_LOG = logging.getLogger(__name__)

IDLE_SECONDS: Final = 60.0
"""Without work for so long, the process ends; the next one starts in a tenth of a second."""

_TICK_SECONDS: Final = 0.1
_END_SECONDS: Final = 2.0

PictureJob = PreparePicture | MakeThumbnail
PictureAnswer = PicturePrepared | ThumbnailMade


class PictureJobError(Exception):
    """There is no picture; `code` is the worker's or one of ours, the text is raw."""

    def __init__(
        self,
        code: str,
        raw: str = "",
        facts: Mapping[str, int] | None = None,
        words: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(raw)
        self.code = code
        self.facts = dict(facts or {})
        self.words = dict(words or {})


class PictureProcess:
    """One job at a time, in the order in which they come; a new process after every mishap."""

    def __init__(
        self,
        *,
        launcher: WorkerLauncher,
        cpu_seconds: float = PICTURE_CPU_SECONDS,
        wait_seconds: float = PICTURE_WAIT_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._launcher = launcher
        self._cpu_seconds = cpu_seconds
        self._wait_seconds = wait_seconds
        self._idle_seconds = idle_seconds
        self._turn = asyncio.Lock()
        self._channel: WorkerChannel | None = None
        self._events: AsyncGenerator[Event, None] | None = None
        self._letting_go: asyncio.TimerHandle | None = None
        self._is_let_go = False

    @property
    def is_running(self) -> bool:
        """Whether a process waits for work, or has some."""
        return self._channel is not None

    async def run(self, job: PictureJob) -> PictureAnswer:
        """Do one job. Raises `PictureJobError`; cancelling ends the process."""
        async with self._turn:
            await self._keep()
            is_done = False
            try:
                answer = await self._answer(job)
                is_done = not (isinstance(answer, Failed) and answer.tainted)
            finally:
                if not is_done:
                    await self._end()
            self._let_go_later()
        if isinstance(answer, Failed):
            raise PictureJobError(answer.code, answer.raw, answer.facts, answer.words)
        return answer

    async def warm_up(self) -> None:
        """Start the process: a picture is about to come. What fails is told with the picture."""
        if self._turn.locked():
            return
        async with self._turn:
            await self._keep()
            with suppress(PictureJobError):
                self._open()
            self._let_go_later()

    async def close(self) -> None:
        """End the process; one that is needed later is another one."""
        async with self._turn:
            await self._keep()
            await self._end()

    async def _answer(self, job: PictureJob) -> PictureAnswer | Failed:
        events, channel = self._open()
        channel.send(job)
        begun = time.monotonic()
        worked_before = _cpu_seconds(channel.pid)
        coming = asyncio.ensure_future(anext(events, None))
        try:
            while True:
                await asyncio.wait([coming], timeout=_TICK_SECONDS)
                if not coming.done():
                    worked = _cpu_seconds(channel.pid) - worked_before
                    if worked > self._cpu_seconds or time.monotonic() - begun > self._wait_seconds:
                        raise PictureJobError("picture_too_slow", f"{worked:.1f} s of work")
                    continue
                event = coming.result()
                if isinstance(event, PictureAnswer | Failed):
                    if event.job == job.job:
                        return event
                elif event is None:
                    raise PictureJobError("picture_reader_ended", _last_words(channel))
                elif isinstance(event, Hello):
                    # What it did to begin is not the picture's fault.
                    begun, worked_before = time.monotonic(), _cpu_seconds(channel.pid)
                coming = asyncio.ensure_future(anext(events, None))
        finally:
            coming.cancel()
            await asyncio.wait([coming])

    def _open(self) -> tuple[AsyncGenerator[Event, None], WorkerChannel]:
        if self._channel is not None and self._channel.exited.done():
            self._channel = self._events = None
        if self._channel is None or self._events is None:
            try:
                self._channel = WorkerChannel(self._launcher.pictures())
            except OSError as error:
                raise PictureJobError("picture_reader_ended", str(error)) from error
            self._events = self._channel.events()
        return self._events, self._channel

    async def _end(self) -> None:
        channel, events = self._channel, self._events
        self._channel = self._events = None
        self._is_let_go = False
        if channel is None or events is None:
            return
        channel.kill_tree()
        await asyncio.wait([channel.exited], timeout=_END_SECONDS)
        await events.aclose()

    async def _keep(self) -> None:
        """Let the process live, or see it out if it was let go a moment ago."""
        if self._letting_go is not None:
            self._letting_go.cancel()
            self._letting_go = None
        if self._is_let_go:
            await self._end()

    def _let_go_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._letting_go = loop.call_later(self._idle_seconds, self._let_go)

    def _let_go(self) -> None:
        """Without waiting: the channel's thread sees it out."""
        if self._channel is not None and not self._turn.locked():
            _LOG.info("the reader of pictures had nothing to do and ends")
            self._is_let_go = True
            self._channel.kill_tree()


def _cpu_seconds(pid: int) -> float:
    """What the process has worked so far; 0 when it cannot be asked."""
    with suppress(psutil.Error):
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system
    return 0.0


def _last_words(channel: WorkerChannel) -> str:
    cause = channel.fault or describe_exit(channel.exited.result())
    return "\n".join((cause, *channel.log_tail()[-20:]))
