"""A memory divided into parts: they add up, and each says what it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dflash_desktop.domain.memory_budget import memory_budget
from dflash_desktop.domain.memory_parts import (
    MemoryPart,
    PartKind,
    parts_of_budget,
    parts_of_pool,
    parts_of_use,
)
from dflash_desktop.domain.memory_pool import PoolKind, memory_pool
from dflash_desktop.domain.memory_use import EngineParts, MemoryUse
from dflash_desktop.services.catalogue_store import load_catalogue
from tests.machines import MACHINES_DIR, machine

NAMES = sorted(file.stem for file in MACHINES_DIR.glob("*.json"))
USE = MemoryUse(
    PoolKind.SHARED, "Arc 140V", 16_000, 7_000, 3_000, 2_000, EngineParts(5_000, 1_000, 600, 400),
    is_estimated=True,
)  # fmt: skip


def total(parts: tuple[MemoryPart, ...]) -> int:
    return sum(part.size_bytes for part in parts)


@pytest.mark.parametrize("name", NAMES)
def test_the_parts_of_a_machines_memory_add_up_to_it(name: str) -> None:
    pool = memory_pool(machine(name))
    parts = parts_of_pool(pool)
    assert total(parts) == pool.total_bytes
    assert all(part.size_bytes > 0 and part.explanation for part in parts)


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_with_what_stays_free_fills_the_memory_for_models(name: str) -> None:
    pool = memory_pool(machine(name))
    for pair in load_catalogue().pairs:
        budget = memory_budget(pair, context_tokens=8192, runs_on_cpu=False)
        if budget is None:
            continue
        parts = parts_of_budget(budget, pool.usable_bytes)
        assert total(parts) == max(pool.usable_bytes, budget.needed_bytes)
        kinds = [part.kind for part in parts]
        assert (PartKind.DRAFT in kinds) == (pair.draft is not None)


def test_what_the_engine_takes_is_told_part_by_part() -> None:
    assert [(part.kind.value, part.size_bytes) for part in parts_of_use(USE)] == [
        ("target", 5_000),
        ("draft", 1_000),
        ("KV cache", 600),
        ("overhead", 400),
        ("in use", 3_000),
        ("kept free", 2_000),
        ("free", 4_000),
    ]


def test_where_only_the_sum_is_known_nothing_is_made_up() -> None:
    kinds = [part.kind for part in parts_of_use(replace(USE, parts=None))]
    assert kinds == [PartKind.ENGINE, PartKind.OTHERS, PartKind.RESERVE, PartKind.FREE]


def test_a_full_memory_has_no_free_part() -> None:
    kinds = [part.kind for part in parts_of_use(replace(USE, other_bytes=9_000))]
    assert PartKind.FREE not in kinds
