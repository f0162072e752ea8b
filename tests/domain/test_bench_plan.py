from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.bench_plan import (
    FAST_BUDGET_SECONDS,
    FAST_MIN_TOKENS,
    FULL_BUDGET_SECONDS,
    FULL_MIN_TOKENS,
    FULL_TOKENS,
    LADDER,
    ROUNDS,
    SHORT_LADDER,
    BenchPlan,
    PlannedRun,
    make_plan,
    within_block,
)

WANTED = st.none() | st.lists(st.integers(1, 15), min_size=1, max_size=7)
PLANS = st.builds(
    make_plan,
    prompts=st.integers(1, 10),
    block_size=st.integers(2, 16),
    wanted=WANTED,
    first_token_seconds=st.floats(0.0, 5.0),
    seconds_per_token=st.floats(0.0005, 1.0),
    fast=st.booleans(),
    keeps_both=st.booleans(),
)


def plan_of(
    *,
    seconds_per_token: float,
    fast: bool = False,
    prompts: int = 10,
    block_size: int = 8,
    wanted: tuple[int, ...] | None = None,
    keeps_both: bool = True,
) -> BenchPlan:
    return make_plan(
        prompts=prompts,
        block_size=block_size,
        wanted=wanted,
        first_token_seconds=0.05,
        seconds_per_token=seconds_per_token,
        fast=fast,
        keeps_both=keeps_both,
    )


@pytest.mark.parametrize(
    ("block_size", "expected"),
    [(16, LADDER), (8, (1, 2, 3, 4, 5, 7)), (4, (1, 2, 3)), (2, (1,)), (1, (1,))],
)
def test_no_setting_is_beyond_the_drafts_block(block_size: int, expected: tuple[int, ...]) -> None:
    assert within_block(LADDER, block_size) == expected


def test_wanted_settings_are_clamped_and_sorted() -> None:
    assert plan_of(seconds_per_token=0.01, wanted=(9, 2, 2, 0)).settings == (1, 2, 7)


@given(PLANS)
def test_every_prompt_is_run_at_every_setting_in_every_round(plan: BenchPlan) -> None:
    counts = Counter(plan.runs)
    for prompt in {run.prompt for run in plan.runs}:
        for number in range(ROUNDS):
            for setting in plan.settings:
                assert counts[_run(prompt, setting, number)] == 1
            assert counts[_run(prompt, 0, number)] >= 1


@given(PLANS)
def test_a_steady_drift_cancels_out(plan: BenchPlan) -> None:
    """Over the whole order, every setting's mean position is the same: there and back."""
    for prompt in {run.prompt for run in plan.runs}:
        of_prompt = [run for run in plan.runs if run.prompt == prompt]
        side_by_side = of_prompt[0].assistant_tokens == of_prompt[-1].assistant_tokens == 0
        assert side_by_side
        order = [run.assistant_tokens for run in of_prompt]
        assert order == order[::-1]


def test_grouping_changes_the_pipeline_as_rarely_as_it_can() -> None:
    plan = plan_of(seconds_per_token=0.01, keeps_both=False)
    sides = [bool(run.assistant_tokens) for run in plan.runs]
    assert sum(a != b for a, b in pairwise(sides)) == ROUNDS


@given(PLANS)
def test_answers_are_long_enough_to_be_fair_to_a_draft(plan: BenchPlan) -> None:
    assert FAST_MIN_TOKENS <= plan.max_new_tokens <= FULL_TOKENS


def test_a_quick_machine_tries_everything_at_full_length() -> None:
    plan = plan_of(seconds_per_token=0.012)
    assert plan.settings == (1, 2, 3, 4, 5, 7)
    assert plan.max_new_tokens == FULL_TOKENS
    assert len(plan.runs) * plan.max_new_tokens * 0.012 <= FULL_BUDGET_SECONDS


def test_a_slow_machine_tries_less_and_then_shortens_the_answers() -> None:
    slower = plan_of(seconds_per_token=0.03)
    assert (slower.settings, slower.max_new_tokens) == (SHORT_LADDER, FULL_TOKENS)
    slowest = plan_of(seconds_per_token=0.5)
    assert (slowest.settings, slowest.max_new_tokens) == (SHORT_LADDER, FULL_MIN_TOKENS)
    assert {run.prompt for run in slowest.runs} == set(range(10))


def test_the_fast_plan_fits_its_budget() -> None:
    plan = plan_of(seconds_per_token=0.012, fast=True, prompts=5)
    assert plan.settings == SHORT_LADDER
    assert plan.max_new_tokens > FAST_MIN_TOKENS
    assert len(plan.runs) * plan.max_new_tokens * 0.012 <= FAST_BUDGET_SECONDS


def _run(prompt: int, assistant_tokens: int, number: int) -> PlannedRun:
    return PlannedRun(prompt, assistant_tokens, number)
