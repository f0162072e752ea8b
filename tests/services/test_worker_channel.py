"""The channel: one wake-up a batch, nothing lost, nothing blocked, nothing left."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dflash_desktop.domain.generation import PromptMessage, Role, SamplingParams
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.workers.protocol import Finished, Generate, Hello, Shutdown, Text
from tests.fakes.engine import QUESTION, fake_workers, until_blocking
from tests.fakes.fake_worker import Mishap, Script, Trouble, When
from tests.fakes.launcher import fake_launcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    import pytest

    from dflash_desktop.workers.protocol import Event

GENERATE = Generate(1, QUESTION, SamplingParams(), assistant_tokens=0)


@asynccontextmanager
async def channel_to(script: Script, log_dir: Path) -> AsyncIterator[WorkerChannel]:
    """A channel to a fake worker, ended afterwards."""
    channel = WorkerChannel(fake_launcher(script, log_dir=log_dir).engine())
    try:
        yield channel
    finally:
        channel.kill_tree()
        await channel.exited


async def collect(channel: WorkerChannel, *, until: type[Event]) -> list[Event]:
    """The events up to one of this kind."""
    events: list[Event] = []
    async for event in channel.events():
        events.append(event)
        if isinstance(event, until):
            break
    return events


class CountingLoop:
    """Counts the wake-ups that threads ask of the running loop."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        loop = asyncio.get_running_loop()
        wake: Callable[..., object] = loop.call_soon_threadsafe

        def counted(*arguments: object, **options: object) -> object:
            self.count += 1
            return wake(*arguments, **options)

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)


async def test_a_flood_wakes_the_loop_once_a_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with channel_to(Script(answers=("x" * 3000,), chunk_characters=1), tmp_path) as channel:
        wake_ups = CountingLoop(monkeypatch)
        channel.send(GENERATE)
        time.sleep(1.0)  # noqa: ASYNC251  # the loop is busy, as when a window lays out a page
        events = await collect(channel, until=Finished)
        assert sum(isinstance(event, Text) for event in events) == 3000
        assert wake_ups.count < 300  # one, if the worker was through within the second


async def test_a_flood_leaves_the_loop_its_turns(tmp_path: Path) -> None:
    turns = 0

    async def count_turns() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with channel_to(Script(answers=("x" * 3000,), chunk_characters=1), tmp_path) as channel:
        channel.send(GENERATE)
        time.sleep(1.0)  # noqa: ASYNC251  # so that all events are there at once
        counting = asyncio.create_task(count_turns())
        await collect(channel, until=Finished)
        counting.cancel()
        assert turns >= 5


async def test_what_a_dying_worker_had_sent_arrives_before_its_end(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.VANISH),))
    async with channel_to(script, tmp_path) as channel:
        channel.send(GENERATE)
        events = [event async for event in channel.events()]
        assert isinstance(events[0], Hello)
        assert sum(isinstance(event, Text) for event in events) == 3
        assert channel.exited.result() == 3


async def test_sending_to_a_frozen_worker_does_not_block(tmp_path: Path) -> None:
    """More than any pipe holds: a plain write would freeze the window with the worker."""
    script = Script(mishaps=(Mishap(Trouble.FREEZE, When.START),))
    large = Generate(1, (PromptMessage(Role.USER, "x" * 4_000_000),), SamplingParams(), 0)
    async with channel_to(script, tmp_path) as channel:
        started = time.monotonic()
        channel.send(large)
        channel.send(large)
        assert time.monotonic() - started < 1.0


async def test_a_long_message_arrives_whole(tmp_path: Path) -> None:
    large = Generate(1, (PromptMessage(Role.USER, "ß" * 1_000_000),), SamplingParams(), 0)
    async with channel_to(Script(), tmp_path) as channel:
        channel.send(large)
        assert isinstance((await collect(channel, until=Finished))[-1], Finished)


async def test_sending_to_a_dead_worker_is_harmless(tmp_path: Path) -> None:
    async with channel_to(Script(), tmp_path) as channel:
        channel.send(Shutdown())
        assert await channel.exited == 0
        channel.send(GENERATE)
        channel.terminate()
        channel.kill_tree()


async def test_threads_end_with_the_worker(tmp_path: Path) -> None:
    before = threading.active_count()
    async with channel_to(Script(), tmp_path) as channel:
        assert threading.active_count() == before + 2
        channel.send(Shutdown())
        await channel.exited
        assert threading.active_count() == before


async def test_garbage_ends_the_worker_and_is_told(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.GARBAGE),))
    async with channel_to(script, tmp_path) as channel:
        channel.send(GENERATE)
        events = [event async for event in channel.events()]
        assert isinstance(events[-1], Text)
        assert "bytes was announced" in channel.fault


async def test_a_worker_that_closes_its_pipe_and_lives_on_is_ended(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.CLOSE_PIPE),))
    async with channel_to(script, tmp_path) as channel:
        channel.send(GENERATE)
        async with asyncio.timeout(10):
            await channel.exited
        assert not fake_workers()


def test_a_closed_loop_takes_its_worker_with_it(tmp_path: Path) -> None:
    """As when the program's loop ends by an error and nobody stops the engine."""

    async def leave() -> WorkerChannel:
        channel = WorkerChannel(fake_launcher(Script(), log_dir=tmp_path).engine())
        await collect(channel, until=Hello)
        return channel

    channel = asyncio.run(leave())
    channel.send(GENERATE)
    until_blocking(lambda: not fake_workers())


async def test_where_no_log_can_be_written_the_worker_runs_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with channel_to(Script(), tmp_path / "file") as channel:
        events = channel.events()
        assert isinstance(await anext(events), Hello)
        await events.aclose()
        channel.trim_log()
        assert channel.log_tail() == ()


async def test_each_start_has_its_own_log(tmp_path: Path) -> None:
    for _ in range(2):
        async with channel_to(Script(), tmp_path) as channel:
            await collect(channel, until=Hello)
    assert set(os.listdir(tmp_path)) == {"engine.log", "engine.log.1"}  # noqa: PTH208  # ASYNC240
