"""A load that grows until little is left is ended, and everything else goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.engine_state import Absent
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.memory_guard import MemoryGuard
from dflash_desktop.services.pair_loading import PairLoading
from tests.fakes.engine import PAIR, engine_under_test
from tests.fakes.fake_worker import Script

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MB = 1_000_000


def falling(*readings_mb: int) -> Callable[[], int]:
    """What is free, reading by reading; the last one stays."""
    left = list(readings_mb)
    return lambda: (left.pop(0) if len(left) > 1 else left[0]) * MB


async def nothing() -> None:
    """There is nothing to stop."""


async def test_a_load_that_eats_everything_is_ended_with_its_process(tmp_path: Path) -> None:
    guard = MemoryGuard(available_bytes=falling(4000, 900, 200, 100), pause_seconds=0.02)
    async with engine_under_test(tmp_path, Script(load_seconds=60.0)) as under_test:
        loading = PairLoading(
            engine=under_test.engine, compile_cache_dir=tmp_path, memory_guard=guard
        )

        with pytest.raises(AppError) as error:
            await loading.load(PAIR, device="CPU")

        assert error.value.problem.code == "memory_running_out"
        assert "100 MB" in error.value.problem.advice
        assert under_test.is_in(Absent)


async def test_one_low_reading_ends_nothing(tmp_path: Path) -> None:
    guard = MemoryGuard(available_bytes=falling(4000, 200, 4000), pause_seconds=0.02)
    async with engine_under_test(tmp_path, Script(load_seconds=0.3)) as under_test:
        loading = PairLoading(
            engine=under_test.engine, compile_cache_dir=tmp_path, memory_guard=guard
        )

        assert (await loading.load(PAIR, device="CPU")).device == "CPU"


async def test_a_fault_of_the_load_itself_stays_what_it_is() -> None:
    async def fail() -> None:
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        await MemoryGuard(available_bytes=falling(4000)).watch(fail(), stop=nothing)


async def test_who_gives_up_waiting_ends_the_load() -> None:
    ended = asyncio.Event()

    async def load() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    guard = MemoryGuard(available_bytes=falling(4000), pause_seconds=0.01)
    watching = asyncio.create_task(guard.watch(load(), stop=nothing))
    await asyncio.sleep(0.05)
    watching.cancel()
    await asyncio.wait({watching})

    assert ended.is_set()
