from __future__ import annotations

import asyncio
import threading
from contextlib import aclosing
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.services.blocking_steps import in_threads

if TYPE_CHECKING:
    from collections.abc import Generator


class Steps:
    """A generator whose second step waits until it is told to go on, but never for ever."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.is_waiting = threading.Event()
        self.is_closed = False
        self.threads: set[int] = set()

    def run(self) -> Generator[int, None, None]:
        try:
            self.threads.add(threading.get_ident())
            yield 1
            self.is_waiting.set()
            self.may_go_on.wait(10)
            yield 2
        finally:
            self.is_closed = True


async def test_every_step_is_computed_in_another_thread_and_arrives_in_order() -> None:
    steps = Steps()
    steps.may_go_on.set()
    assert [step async for step in in_threads(steps.run())] == [1, 2]
    assert threading.get_ident() not in steps.threads
    assert steps.is_closed


async def test_the_loop_goes_on_while_a_step_waits() -> None:
    steps = Steps()
    task = asyncio.create_task(anext_of(steps, 2))
    await asyncio.to_thread(steps.is_waiting.wait)
    steps.may_go_on.set()
    assert await task == 2


async def anext_of(steps: Steps, wanted: int) -> int:
    async with aclosing(in_threads(steps.run())) as results:
        async for result in results:
            if result == wanted:
                return result
    raise AssertionError


async def test_cancelling_waits_for_the_running_step_and_then_closes() -> None:
    steps = Steps()
    task = asyncio.create_task(anext_of(steps, 2))
    await asyncio.to_thread(steps.is_waiting.wait)
    task.cancel()
    for _ in range(10):  # turns of the loop, in which a careless cancellation would be through
        await asyncio.sleep(0)
    assert not task.done()
    assert not steps.is_closed
    steps.may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps.is_closed


async def test_an_error_of_a_step_arrives() -> None:
    def failing() -> Generator[int, None, None]:
        yield 1
        raise OSError("gone")

    seen: list[int] = []

    async def collect() -> None:
        async for step in in_threads(failing()):
            seen.append(step)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(OSError, match="gone"):
        await collect()
    assert seen == [1]
