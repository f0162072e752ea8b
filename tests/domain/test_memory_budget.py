"""What a pair needs: every part by its formula, known sizes before estimates (case 33)."""

from __future__ import annotations

import pytest

from dflash_desktop.domain.catalogue import CataloguePair, ModelKind, Precision
from dflash_desktop.domain.memory_budget import MemoryBudget, memory_budget
from dflash_desktop.domain.memory_budget import budget_of as of_sizes
from dflash_desktop.domain.pair_sizes import PairSizes
from tests.domain.pairs import draft, pair, target

ORNITH = pair(
    target(billions=9, weights_gb=8.1, kind=ModelKind.VISION, layers=32, hidden_size=4096),
    draft(weights_gb=0.866),
)


def budget_of(
    one: CataloguePair = ORNITH, *, context_tokens: int = 8192, on_cpu: bool = False
) -> MemoryBudget:
    budget = memory_budget(one, context_tokens=context_tokens, runs_on_cpu=on_cpu)
    assert budget is not None
    return budget


def test_the_draft_is_not_forgotten() -> None:
    alone = budget_of(pair(ORNITH.target))

    assert budget_of().draft_bytes == 866_000_000
    assert budget_of().needed_bytes - alone.needed_bytes > 866_000_000


def test_the_parts_add_up_to_what_is_needed() -> None:
    budget = budget_of()

    assert budget.target_bytes == 8_100_000_000
    assert budget.vision_bytes == 500_000_000
    assert budget.overhead_bytes == 500_000_000 + round(0.03 * 8_966_000_000)
    # K and V of 32 layers, a quarter of 4096 wide, and of the draft's 5 layers, 1024 wide
    assert budget.kv_cache_bytes == 8192 * 2 * (2 * 32 * 1024 + 2 * 5 * 1024)
    assert budget.needed_bytes == sum(
        (
            budget.target_bytes,
            budget.draft_bytes,
            budget.kv_cache_bytes,
            budget.vision_bytes,
            budget.overhead_bytes,
        )
    )
    assert not budget.is_estimated


def test_the_cache_of_qwen3_8b_is_what_its_authors_state() -> None:
    qwen = pair(target(layers=36, hidden_size=4096, kv_width=1024))

    assert budget_of(qwen, context_tokens=1).kv_cache_bytes == 147_456


def test_the_cache_grows_with_the_context_and_is_twice_as_large_on_a_cpu() -> None:
    alone = pair(ORNITH.target)
    once = budget_of(alone, context_tokens=4096).kv_cache_bytes

    assert budget_of(alone, context_tokens=8192).kv_cache_bytes == 2 * once
    assert budget_of(alone, context_tokens=4096, on_cpu=True).kv_cache_bytes == 2 * once


def test_a_processor_packs_the_weights_and_keeps_the_file_while_there_is_room() -> None:
    on_gpu, on_cpu = budget_of(), budget_of(on_cpu=True)

    assert on_cpu.target_bytes == 1.25 * on_gpu.target_bytes
    assert on_cpu.mapped_bytes > 8_100_000_000
    assert on_gpu.mapped_bytes == 0
    assert on_cpu.needed_bytes == sum(
        (
            on_cpu.target_bytes,
            on_cpu.draft_bytes,
            on_cpu.kv_cache_bytes,
            on_cpu.vision_bytes,
            on_cpu.overhead_bytes,
        )
    )


def test_a_processor_keeps_what_the_draft_reads_of_the_target() -> None:
    sizes = PairSizes(target_bytes=1, target_kv_values=0, draft_bytes=1, hidden_values=2880)

    per_token = of_sizes(sizes, context_tokens=1, runs_on_cpu=True).kv_cache_bytes
    assert per_token == 2880 * 4 * 5
    assert of_sizes(sizes, context_tokens=1, runs_on_cpu=False).kv_cache_bytes == 0


def test_a_pair_that_stays_with_and_without_its_draft_holds_the_target_twice() -> None:
    sizes = PairSizes(
        target_bytes=100, target_kv_values=10, draft_bytes=20, draft_kv_values=3, table_values=5
    )
    one = of_sizes(sizes, context_tokens=8, runs_on_cpu=True)
    both = of_sizes(sizes, context_tokens=8, runs_on_cpu=True, keeps_both=True)

    assert both.target_bytes == 2 * one.target_bytes
    assert both.draft_bytes == one.draft_bytes == 25 + 20
    assert both.kv_cache_bytes - one.kv_cache_bytes == 8 * 4 * 10
    assert both.overhead_bytes > one.overhead_bytes


def test_without_a_draft_nothing_is_held_twice() -> None:
    sizes = PairSizes(target_bytes=100, target_kv_values=10)

    assert of_sizes(sizes, context_tokens=8, runs_on_cpu=True, keeps_both=True) == of_sizes(
        sizes, context_tokens=8, runs_on_cpu=True
    )


@pytest.mark.parametrize(
    ("precision", "target_bytes"),
    [
        (Precision.INT4, 5_760_000_000),
        (Precision.INT8, 9_090_000_000),
        (Precision.F16, 18_000_000_000),
        (None, 5_760_000_000),  # an export is at one's own choice
    ],
)
def test_what_is_not_known_is_estimated_and_said_to_be(
    precision: Precision | None, target_bytes: int
) -> None:
    budget = budget_of(pair(target(billions=9, precision=precision)))

    assert budget.target_bytes == target_bytes
    assert budget.is_estimated


def test_a_draft_is_estimated_from_the_width_of_its_target() -> None:
    known = budget_of(pair(target(hidden_size=4096), draft(precision=Precision.INT8)))
    half = budget_of(pair(target(hidden_size=2048), draft(precision=Precision.INT8)))

    assert known.draft_bytes == pytest.approx(1_293_000_000, rel=0.02)  # the size of a real one
    assert half.draft_bytes == pytest.approx(known.draft_bytes / 4, rel=0.001)


def test_a_draft_of_a_target_that_tells_nothing_is_a_share_of_it() -> None:
    assert budget_of(pair(target(billions=10), draft())).draft_bytes == 1_005_000_000


def test_a_target_that_tells_nothing_has_no_budget() -> None:
    unknown = pair(target(billions=None))

    assert memory_budget(unknown, context_tokens=8192, runs_on_cpu=False) is None


def test_a_picture_maker_keeps_no_cache_for_words() -> None:
    assert budget_of(pair(target(kind=ModelKind.IMAGE))).kv_cache_bytes == 0
