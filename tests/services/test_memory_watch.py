"""What is told of the memory while an engine runs (a fake one, in a process of its own)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.domain.hardware import Gpu, HardwareReport, SystemMemory
from dflash_desktop.domain.memory_pool import PoolKind, memory_pool
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.memory_watch import MemoryWatch
from dflash_desktop.services.settings_store import SettingsStore
from tests.fakes.engine import engine_under_test
from tests.fakes.ir_models import write_draft, write_target

if TYPE_CHECKING:
    from pathlib import Path

GB = 1_000_000_000
HERE = HardwareReport(memory=SystemMemory(16 * GB, 9 * GB))
ARC = Gpu("Intel(R) Arc(TM) B580", "GPU", is_integrated=False, memory_bytes=12 * GB)
WITH_CARD = HardwareReport(gpus=(ARC,), memory=SystemMemory(16 * GB, 9 * GB))


def pair(folder: Path) -> PairFolders:
    write_target(folder / "target")
    write_draft(folder / "draft")
    return PairFolders("p", "P", folder / "target", folder / "draft")


async def test_without_an_engine_nothing_is_used(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        settings = SettingsStore(tmp_path / "settings.json")
        watch = MemoryWatch(engine=under_test.engine, settings=settings)
        use = await watch.use(HERE)
        unknown = await watch.use(HardwareReport())

    assert unknown.reserve_bytes == use.reserve_bytes
    assert use.engine_bytes == 0
    assert use.parts is None
    assert use.pool is PoolKind.SYSTEM
    assert use.pool_bytes == psutil.virtual_memory().total
    assert use.reserve_bytes == 2 * GB


async def test_the_engines_memory_is_that_of_its_process(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        settings = SettingsStore(tmp_path / "settings.json")
        watch = MemoryWatch(engine=under_test.engine, settings=settings)
        await under_test.engine.load(pair(tmp_path), device="CPU")
        use = await watch.use(HERE)
        process = psutil.Process(under_test.engine.process_id)

        assert 5_000_000 < use.engine_bytes <= process.memory_info().rss + 1_000_000
        assert not use.is_estimated
        assert use.parts is not None
        assert use.other_bytes + use.engine_bytes < use.pool_bytes
        if sys.platform == "linux":
            assert await watch.reclaimable_bytes(HERE) == pytest.approx(use.engine_bytes, rel=0.1)


async def test_the_reserve_is_the_persons(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path) as under_test:
        settings = SettingsStore(tmp_path / "settings.json")
        watch = MemoryWatch(engine=under_test.engine, settings=settings)
        settings.change(memory_reserve_bytes=5 * GB)
        assert (await watch.use(HERE)).reserve_bytes == 5 * GB
        settings.change(memory_reserve_bytes=-1)
        assert settings.value.memory_reserve_bytes == 0


async def test_where_nobody_tells_what_lies_on_a_card_it_is_estimated_and_said(
    tmp_path: Path,
) -> None:
    async with engine_under_test(tmp_path) as under_test:
        settings = SettingsStore(tmp_path / "settings.json")
        watch = MemoryWatch(engine=under_test.engine, settings=settings)
        await under_test.engine.load(pair(tmp_path), device="GPU")
        use = await watch.use(WITH_CARD)

    assert use.pool is PoolKind.CARD
    assert use.device_name == ARC.name
    assert use.is_estimated
    assert use.engine_bytes > 0


def test_what_is_loaded_counts_as_free_for_another_pair() -> None:
    busy = HardwareReport(memory=SystemMemory(16 * GB, 3 * GB))

    assert memory_pool(busy).usable_bytes == 1 * GB
    assert memory_pool(busy, reclaimable_bytes=6 * GB).usable_bytes == 7 * GB


def test_the_pool_is_that_of_the_chosen_device() -> None:
    assert memory_pool(WITH_CARD).kind is PoolKind.CARD
    assert memory_pool(WITH_CARD, device="CPU").kind is PoolKind.SYSTEM
    assert memory_pool(WITH_CARD, device="b580").kind is PoolKind.CARD
    assert memory_pool(WITH_CARD, device="gone").kind is PoolKind.CARD
