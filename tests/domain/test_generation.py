"""Counts and rates of one answer: right, and never a NaN."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.generation import (
    NO_STATS,
    GenerationStats,
    SamplingParams,
    clamp_assistant_tokens,
    draft_rests_because,
)

counts = st.integers(0, 10_000)
seconds = st.floats(0, 1e6, allow_nan=False)


@st.composite
def any_stats(draw: st.DrawFn) -> GenerationStats:
    steps = draw(counts)
    assistant_tokens = draw(st.integers(0, 15))
    extra = draw(st.integers(0, steps * assistant_tokens))
    return GenerationStats(
        prompt_tokens=draw(counts),
        tokens=steps + extra,
        steps=steps,
        first_step_tokens=1 if steps else 0,
        first_token_seconds=draw(seconds),
        decode_seconds=draw(seconds),
        assistant_tokens=assistant_tokens,
    )


@given(any_stats())
def test_no_number_is_ever_nan_or_out_of_range(stats: GenerationStats) -> None:
    for number in (stats.tokens_per_second, stats.tokens_per_step, stats.accepted_share):
        assert number is None or (math.isfinite(number) and number >= 0)
    assert stats.accepted_share is None or stats.accepted_share <= 1
    assert stats.accepted_tokens + (stats.steps if stats.assistant_tokens else stats.tokens) == (
        stats.tokens
    )


def test_figures_of_a_measured_run() -> None:
    # 64 tokens in 9 steps at 7 assistant tokens: openvino-genai's own counter said 55 accepted.
    stats = GenerationStats(
        prompt_tokens=15,
        tokens=64,
        steps=9,
        first_step_tokens=1,
        first_token_seconds=0.1,
        decode_seconds=0.9,
        assistant_tokens=7,
    )
    assert stats.accepted_tokens == 55
    assert stats.tokens_per_step == pytest.approx(64 / 9)
    assert stats.accepted_share == pytest.approx(55 / 56)
    assert stats.tokens_per_second == pytest.approx(70)


def test_before_the_first_token_there_is_no_rate() -> None:
    assert NO_STATS.tokens_per_second is None
    assert NO_STATS.tokens_per_step is None
    assert NO_STATS.accepted_share is None


@pytest.mark.parametrize(("wanted", "expected"), [(0, 1), (1, 1), (7, 7), (8, 7), (99, 7)])
def test_assistant_tokens_stay_inside_the_drafts_block(wanted: int, expected: int) -> None:
    assert clamp_assistant_tokens(wanted, block_size=8) == expected


def test_sampling_makes_the_draft_rest_and_says_why() -> None:
    assert draft_rests_because(SamplingParams()) is None
    reason = draft_rests_because(SamplingParams(temperature=0.7))
    assert reason is not None
    assert "0.7" in reason
