"""One engine process: its hello, its heartbeat, its end."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psutil

from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.error_map import describe_exit, start_problem, version_problem
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.workers.protocol import PROTOCOL_VERSION, Hello, Ping, Pong, Shutdown

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from dflash_desktop.services.worker_launch import WorkerCommand
    from dflash_desktop.workers.protocol import Command, Event

_log = logging.getLogger(__name__)

FROZEN: Final = "The engine stopped answering and was ended."
GARBLED: Final = "The engine sent something that is not part of its language, and was ended."
IDLE_CPU_SHARE: Final = 0.02
"""Below this share of one core a process counts as doing nothing."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """How long the supervisor waits for what, and how often it restarts the engine by itself."""

    hello_seconds: float = 60.0  # a cold disk and a virus scanner read every library first
    devices_seconds: float = 30.0  # the first call reads OpenVINO itself, from a cold disk
    ping_seconds: float = 2.0
    frozen_seconds: float = 10.0
    quiet_generating_seconds: float = 30.0
    quiet_loading_seconds: float = 180.0  # the first compilation for a GPU takes minutes
    cancel_seconds: float = 3.0
    terminate_seconds: float = 2.0
    shutdown_seconds: float = 1.0
    kill_seconds: float = 1.0
    restarts: int = 2
    restart_window_seconds: float = 600.0


DEFAULT_LIMITS: Final = EngineLimits()


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended: a sentence, the exit code, and its last words."""

    cause: str
    exit_code: int
    log_tail: tuple[str, ...]


class EngineProcess:
    """A running engine that has said hello in our protocol; make it with `start`."""

    def __init__(
        self,
        *,
        channel: WorkerChannel,
        events: AsyncGenerator[Event, None],
        hello: Hello,
        limits: EngineLimits,
        on_event: Callable[[Event], None],
    ) -> None:
        self.hello = hello
        self.ended: asyncio.Future[Ending] = asyncio.get_running_loop().create_future()
        """Done when the process is gone and every event that it had sent was delivered."""
        self._channel = channel
        self._limits = limits
        self._on_event = on_event
        self._was_heard = True
        self._cause = ""
        self._listening = asyncio.create_task(self._listen(events))
        self._beating = asyncio.create_task(self._beat())

    @classmethod
    async def start(
        cls, command: WorkerCommand, *, limits: EngineLimits, on_event: Callable[[Event], None]
    ) -> EngineProcess:
        """Start the engine and wait for its hello; cancelling ends what was started.

        Raises `AppError`: "engine_start_failed" or "engine_version".
        """
        try:
            channel = WorkerChannel(command)
        except OSError as error:
            raise AppError(start_problem(str(error))) from error
        events = channel.events()
        try:
            hello = await _hello(channel, events, limits)
        except BaseException:
            channel.kill_tree()
            await events.aclose()
            await asyncio.wait({channel.exited}, timeout=limits.kill_seconds)
            raise
        return cls(channel=channel, events=events, hello=hello, limits=limits, on_event=on_event)

    def send(self, command: Command) -> None:
        """Queue a command; nothing happens when the process is gone."""
        self._channel.send(command)

    def log_tail(self) -> tuple[str, ...]:
        """The engine's last words on standard error."""
        return self._channel.log_tail()

    async def shut_down(self) -> None:
        """End it politely, then by force; afterwards no process of its tree is left."""
        self._channel.send(Shutdown())
        await self._gone_within(self._limits.shutdown_seconds)
        await self._kill()

    async def break_off(self) -> None:
        """End it by force: terminate, then kill."""
        self._channel.terminate()
        await self._gone_within(self._limits.terminate_seconds)
        await self._kill()

    def kill(self) -> None:
        """End it and its children at once; `ended` tells when they are gone."""
        self._channel.kill_tree()

    async def _kill(self) -> None:
        if self.ended.done():
            return
        self.kill()
        if not await self._gone_within(self._limits.kill_seconds):
            # A driver holds it in the kernel; it ends when that lets go, and no later call waits.
            _log.warning("engine process %d does not end", self._channel.pid)

    async def _gone_within(self, seconds: float) -> bool:
        await asyncio.wait({self.ended}, timeout=seconds)
        return self.ended.done()

    async def _listen(self, events: AsyncGenerator[Event, None]) -> None:
        try:
            async with aclosing(events):
                async for event in events:
                    self._was_heard = True
                    if not isinstance(event, Pong):
                        self._on_event(event)
        except asyncio.CancelledError:  # the loop is being closed over our heads
            self._channel.kill_tree()
            raise
        self._beating.cancel()
        exit_code = self._channel.exited.result()
        cause = self._cause or (GARBLED if self._channel.fault else describe_exit(exit_code))
        self.ended.set_result(Ending(cause, exit_code, self._channel.log_tail()))

    async def _beat(self) -> None:
        """End a frozen process.

        Missing pongs alone do not prove that: `ContinuousBatchingPipeline.step` holds the GIL
        (measured on openvino-genai 2026.4.1: 6.6 s for one step of prefill), and so do imports
        from a cold disk, so the thread that answers pings has to wait. Frozen is what neither
        answers nor works. Ticks are counted instead of time, so that a laptop that slept, or a
        window that was stopped in a debugger, finds its engine alive.
        """
        silent_ticks = 0
        worked_before = _work_done(self.hello.pid)
        number = 0
        while silent_ticks * self._limits.ping_seconds < self._limits.frozen_seconds:
            number += 1
            self._was_heard = False
            self._channel.send(Ping(number))
            await asyncio.sleep(self._limits.ping_seconds)
            self._channel.trim_log()
            worked = _work_done(self.hello.pid)
            is_working = (
                worked.cpu_seconds - worked_before.cpu_seconds
                > IDLE_CPU_SHARE * self._limits.ping_seconds
                or worked.read_bytes != worked_before.read_bytes
            )
            worked_before = worked
            silent_ticks = 0 if self._was_heard or is_working else silent_ticks + 1
        self._cause = FROZEN
        self._channel.kill_tree()


async def _hello(
    channel: WorkerChannel, events: AsyncGenerator[Event, None], limits: EngineLimits
) -> Hello:
    try:
        async with asyncio.timeout(limits.hello_seconds):
            first = await anext(events, None)
    except TimeoutError as error:
        reason = f"no hello within {limits.hello_seconds:g} s"
        raise AppError(start_problem(reason, log_tail=channel.log_tail())) from error
    if isinstance(first, Hello) and first.protocol == PROTOCOL_VERSION:
        return first
    if first is not None or channel.fault:
        said = f"protocol {first.protocol}" if isinstance(first, Hello) else channel.fault
        raise AppError(version_problem(said or repr(first), ours=PROTOCOL_VERSION))
    reason = describe_exit(channel.exited.result())
    raise AppError(start_problem(reason, log_tail=channel.log_tail()))


@dataclass(frozen=True, slots=True)
class _WorkDone:
    cpu_seconds: float
    read_bytes: int


def _work_done(pid: int) -> _WorkDone:
    """What a process has used so far; zeros when it cannot be asked."""
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        times = process.cpu_times()
        return _WorkDone(times.user + times.system, process.io_counters().read_bytes)
    return _WorkDone(0.0, 0)
