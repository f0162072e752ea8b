from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.bench_plan import (
    FAST_BUDGET_SECONDS,
    MIN_NEW_TOKENS,
    ROUNDS,
    BenchPlan,
    PlannedRun,
    make_plan,
    settings_to_try,
)

SETTINGS = st.lists(st.integers(1, 15), min_size=1, max_size=7, unique=True).map(
    lambda numbers: tuple(sorted(numbers))
)
PLANS = st.builds(
    make_plan,
    prompts=st.integers(1, 10),
    settings=SETTINGS,
    seconds_per_token=st.floats(0.0005, 1.0),
    fast=st.booleans(),
    keeps_both=st.booleans(),
)


@pytest.mark.parametrize(
    ("block_size", "fast", "expected"),
    [(8, False, (1, 2, 3, 4, 5, 7)), (8, True, (2, 3, 7)), (16, False, (1, 2, 3, 4, 5, 7, 10, 15)),
     (4, False, (1, 2, 3)), (4, True, (2, 3)), (2, True, (1,))],
)  # fmt: skip
def test_no_setting_is_beyond_the_drafts_block(
    block_size: int, fast: bool, expected: tuple[int, ...]
) -> None:
    assert settings_to_try(block_size, fast=fast) == expected


def test_wanted_settings_are_clamped_and_sorted() -> None:
    assert settings_to_try(8, fast=False, wanted=(9, 2, 2, 0)) == (1, 2, 7)


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
    plan = make_plan(
        prompts=5, settings=(2, 3, 7), seconds_per_token=0.01, fast=True, keeps_both=False
    )
    sides = [bool(run.assistant_tokens) for run in plan.runs]
    changes = sum(a != b for a, b in pairwise(sides))
    assert changes == ROUNDS


@given(PLANS)
def test_answers_are_long_enough_to_have_a_rate(plan: BenchPlan) -> None:
    assert plan.max_new_tokens >= MIN_NEW_TOKENS


def test_the_fast_plan_fits_its_budget_on_a_slow_machine() -> None:
    plan = make_plan(
        prompts=5, settings=(2, 3, 7), seconds_per_token=0.012, fast=True, keeps_both=True
    )
    assert len(plan.runs) * plan.max_new_tokens * 0.012 <= FAST_BUDGET_SECONDS


def _run(prompt: int, assistant_tokens: int, number: int) -> PlannedRun:
    return PlannedRun(prompt, assistant_tokens, number)
