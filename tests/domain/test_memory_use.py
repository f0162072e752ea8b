"""How the engine's memory divides, and what is left of a pool."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.memory_budget import MemoryBudget, budget_of
from dflash_desktop.domain.memory_pool import PoolKind
from dflash_desktop.domain.memory_use import MemoryUse, engine_parts
from dflash_desktop.domain.pair_sizes import PairSizes

PAIR = PairSizes(target_bytes=1_000_000_000, target_kv_values=1, draft_bytes=100_000_000)


def empty_budget() -> MemoryBudget:
    return budget_of(PAIR, context_tokens=0, runs_on_cpu=True)


@given(st.integers(0, 2**40))
def test_the_parts_always_add_up_to_what_the_engine_takes(engine_bytes: int) -> None:
    parts = engine_parts(empty_budget(), engine_bytes)

    told = (parts.target_bytes, parts.draft_bytes, parts.kv_cache_bytes, parts.overhead_bytes)
    assert sum(told) == engine_bytes
    assert min(told) >= 0


def test_what_is_beyond_the_model_is_its_memory_of_the_conversation() -> None:
    budget = empty_budget()

    assert engine_parts(budget, budget.needed_bytes).kv_cache_bytes == 0
    assert engine_parts(budget, budget.needed_bytes + 5_000).kv_cache_bytes == 5_000


def test_a_full_pool_has_nothing_free() -> None:
    use = MemoryUse(PoolKind.SYSTEM, "", 100, 60, 30, 20, None, is_estimated=False)

    assert use.free_bytes == 0
