"""One pool, counted once, less what is in use and a reserve (cases 57 and 58)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.gpu_family import GpuFamily
from dflash_desktop.domain.hardware import Gpu, HardwareReport, SystemMemory
from dflash_desktop.domain.memory_pool import PoolKind, memory_pool

GB = 1_000_000_000


def shared(memory_gb: float | None, *, used_bytes: int | None = None) -> Gpu:
    size = None if memory_gb is None else round(memory_gb * GB)
    return Gpu(
        "Arc 140V",
        family=GpuFamily.LUNAR_LAKE,
        is_integrated=True,
        memory_bytes=size,
        used_bytes=used_bytes,
    )


def card(
    memory_gb: float | None,
    *,
    used_bytes: int | None = None,
    memory_limit_bytes: int | None = None,
) -> Gpu:
    size = None if memory_gb is None else round(memory_gb * GB)
    return Gpu(
        "Arc A770",
        family=GpuFamily.ALCHEMIST,
        is_integrated=False,
        memory_bytes=size,
        used_bytes=used_bytes,
        memory_limit_bytes=memory_limit_bytes,
    )


def report(*gpus: Gpu, total_gb: float | None = 16, free_gb: float | None = 10) -> HardwareReport:
    memory = SystemMemory(
        None if total_gb is None else round(total_gb * GB),
        None if free_gb is None else round(free_gb * GB),
    )
    return HardwareReport(gpus=gpus, memory=memory)


def test_built_in_graphics_and_memory_are_one_pool() -> None:
    pool = memory_pool(report(shared(16), total_gb=32, free_gb=20))

    assert pool.kind is PoolKind.SHARED
    assert pool.usable_bytes == 16 * GB


def test_built_in_graphics_get_no_more_than_what_is_free_less_the_reserve() -> None:
    pool = memory_pool(report(shared(16), total_gb=16, free_gb=10))

    assert pool.usable_bytes == 8 * GB
    assert pool.reserve_bytes == 2 * GB


def test_what_is_loaded_is_not_there_twice() -> None:
    assert memory_pool(report(shared(9, used_bytes=3 * GB))).usable_bytes == 6 * GB
    assert memory_pool(report(card(16, used_bytes=6 * GB))).usable_bytes == round(9.2 * GB)


def test_a_card_has_its_own_memory_however_little_the_system_has() -> None:
    pool = memory_pool(report(card(16), total_gb=8, free_gb=1))

    assert pool.kind is PoolKind.CARD
    assert pool.usable_bytes == round(15.2 * GB)


def test_a_limit_counts_and_not_the_card_that_a_slice_reports() -> None:
    assert memory_pool(report(card(32, memory_limit_bytes=4 * GB))).total_bytes == 4 * GB


@pytest.mark.parametrize("memory_gb", [None, 0, 0.25])
def test_a_card_that_tells_nothing_or_next_to_nothing_is_not_counted_on(
    memory_gb: float | None,
) -> None:
    pool = memory_pool(report(card(memory_gb)))

    assert pool.kind is PoolKind.SYSTEM
    assert pool.gpu is None
    assert pool.usable_bytes == 8 * GB


def test_built_in_graphics_are_better_than_a_card_that_tells_nothing() -> None:
    assert memory_pool(report(card(None), shared(8))).kind is PoolKind.SHARED


def test_without_graphics_the_processor_uses_what_is_free() -> None:
    pool = memory_pool(report())

    assert pool.kind is PoolKind.SYSTEM
    assert pool.usable_bytes == 8 * GB


def test_where_nothing_tells_what_is_free_the_reserve_covers_the_system_too() -> None:
    pool = memory_pool(report(shared(None), free_gb=None))

    assert pool.reserve_bytes == 5 * GB
    assert pool.usable_bytes == 11 * GB


def test_where_only_the_graphics_tell_their_memory_it_is_the_pool() -> None:
    pool = memory_pool(report(shared(16), total_gb=None, free_gb=None))

    assert pool.usable_bytes == 11 * GB
    assert pool.total_bytes == 16 * GB


def test_the_reserve_is_the_persons_to_choose_and_explained() -> None:
    for machine in (report(card(16)), report(shared(16)), report()):
        pool = memory_pool(machine, reserve_bytes=7 * GB)

        assert pool.reserve_bytes == 7 * GB
        assert "7.00 GB" in pool.explanation


def test_memory_that_nobody_called_free_is_not_called_so() -> None:
    for gpu in ((shared(None),), ()):
        assert "that are free" in memory_pool(report(*gpu)).explanation
        explanation = memory_pool(report(*gpu, free_gb=None)).explanation
        assert "that are free" not in explanation
        assert "not known" in explanation


def test_nothing_at_all_is_nothing_and_no_error() -> None:
    assert memory_pool(HardwareReport()).usable_bytes == 0


sizes = st.integers(0, 256 * GB)


@given(
    gpu_bytes=st.integers(GB, 256 * GB),
    total=sizes,
    free=sizes,
    more=sizes,
    reserve=sizes | st.none(),
)
def test_more_memory_anywhere_never_leaves_less(
    gpu_bytes: int, total: int, free: int, more: int, reserve: int | None
) -> None:
    def usable(*, gpu: int, total: int, free: int, is_card: bool) -> int:
        made = card(1) if is_card else shared(1)
        grown = Gpu(made.name, "", made.family, made.is_integrated, gpu)
        machine = HardwareReport(gpus=(grown,), memory=SystemMemory(total, free))
        return memory_pool(machine, reserve_bytes=reserve).usable_bytes

    for is_card in (True, False):
        before = usable(gpu=gpu_bytes, total=total, free=free, is_card=is_card)
        assert usable(gpu=gpu_bytes + more, total=total, free=free, is_card=is_card) >= before
        assert usable(gpu=gpu_bytes, total=total + more, free=free, is_card=is_card) >= before
        assert usable(gpu=gpu_bytes, total=total, free=free + more, is_card=is_card) >= before


@given(gpu_bytes=st.none() | sizes, total=sizes, free=sizes)
def test_a_pool_is_never_larger_than_the_memory_behind_it(
    gpu_bytes: int | None, total: int, free: int
) -> None:
    gpu = Gpu("Arc 140V", "", GpuFamily.LUNAR_LAKE, is_integrated=True, memory_bytes=gpu_bytes)
    pool = memory_pool(HardwareReport(gpus=(gpu,), memory=SystemMemory(total, free)))

    assert 0 <= pool.usable_bytes <= max(0, min(total, free) - pool.reserve_bytes)
