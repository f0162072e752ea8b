from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dflash_desktop.domain.benchmark import ChosenSetting, ContextPoint
from dflash_desktop.domain.draft_policy import (
    COSTS_BELOW,
    MIN_ANSWER_TOKENS,
    MIN_WINDOW_TOKENS,
    NOT_MEASURED,
    WINDOW_TURNS,
    baseline_rate,
    is_comparable,
    pays_up_to_tokens,
    speed_verdict,
    switch_off_reason,
    window_speedup,
)
from dflash_desktop.domain.generation import GenerationStats
from tests.domain.measurements import answer_stats, bench_run, report, result

RATES = st.floats(1.0, 500.0)
ANSWERS = st.lists(
    st.builds(lambda rate, tokens: answer_stats(rate, tokens=tokens), RATES, st.integers(2, 400)),
    max_size=20,
)


def test_no_number_before_a_baseline_exists() -> None:
    assert speed_verdict(answer_stats(60.0), None) is NOT_MEASURED
    assert NOT_MEASURED.speedup is None


def test_an_answer_is_compared_with_this_machines_baseline() -> None:
    verdict = speed_verdict(answer_stats(60.0), report(), power_source="mains")
    assert verdict.speedup == pytest.approx(1.2)
    assert verdict.baseline_tokens_per_second == pytest.approx(50.0)
    assert verdict.measured_at == report().measured_at
    assert verdict.comparison == (
        "compared with 50.0 tok/s without the draft, measured here on 2026-05-03"
    )


@pytest.mark.parametrize(
    "stats",
    [
        answer_stats(60.0, tokens=MIN_ANSWER_TOKENS - 1),
        answer_stats(60.0, assistant_tokens=0),
        GenerationStats(10, 1, 1, 1, 0.1, 0.0, 3),
    ],
)
def test_answers_that_say_nothing_have_no_speedup(stats: GenerationStats) -> None:
    verdict = speed_verdict(stats, report())
    assert verdict.speedup is None
    assert verdict.baseline_tokens_per_second == pytest.approx(50.0)


def test_another_power_source_is_said_and_not_comparable() -> None:
    verdict = speed_verdict(answer_stats(60.0), report(), power_source="battery")
    assert verdict.comparison.endswith("on mains power; you are on battery now")
    assert not is_comparable(report(), "battery")
    assert is_comparable(report(), "mains")


@given(ANSWERS, RATES)
def test_it_is_switched_off_only_when_the_last_answers_took_longer_than_without(
    recent: list[GenerationStats], baseline: float
) -> None:
    measured = report(result(bench_run(3, 60.0, baseline=baseline)))
    counted = [s for s in recent if s.tokens >= MIN_ANSWER_TOKENS][-WINDOW_TURNS:]
    reason = switch_off_reason(recent, measured)
    if reason is None:
        return
    tokens = sum(s.tokens for s in counted)
    rates = [s.tokens_per_second for s in counted]
    seconds = sum(s.tokens / rate for s, rate in zip(counted, rates, strict=True) if rate)
    assert tokens >= MIN_WINDOW_TOKENS
    assert tokens / baseline < seconds * COSTS_BELOW * 1.0001


@given(st.lists(st.floats(1.0, 500.0), max_size=20))
def test_answers_no_slower_than_the_baseline_never_switch_it_off(rates: list[float]) -> None:
    measured = report(result(bench_run(3, 60.0, baseline=min(rates, default=1.0))))
    assert switch_off_reason([answer_stats(r) for r in rates], measured) is None


@given(st.floats(0.05, 0.96), st.integers(3, 20))
def test_a_draft_that_always_costs_is_switched_off(share: float, turns: int) -> None:
    slow = answer_stats(50.0 * share, tokens=120)
    reason = switch_off_reason([slow] * turns, report())
    assert reason is not None
    assert f"last {min(turns, WINDOW_TURNS)} answers" in reason


def test_a_few_slow_answers_are_not_enough() -> None:
    slow = answer_stats(20.0, tokens=400)
    assert switch_off_reason([slow, slow], report()) is None
    short = answer_stats(20.0, tokens=40)
    assert switch_off_reason([short] * 5, report()) is None


def test_old_answers_leave_the_window() -> None:
    slow, quick = answer_stats(20.0), answer_stats(80.0)
    recent = [*[slow] * 5, *[quick] * WINDOW_TURNS]
    assert window_speedup(recent, report()) == pytest.approx(1.6)


LONG = (ContextPoint(1000, 40.0, 44.0), ContextPoint(3000, 25.0, 20.0))


def test_the_baseline_slows_down_with_the_context_as_measured() -> None:
    measured = report(long_context=LONG)
    assert baseline_rate(measured, 0) == pytest.approx(50.0)
    assert baseline_rate(measured, 1000) == pytest.approx(40.0)
    assert baseline_rate(measured, 2000) == pytest.approx(1 / ((1 / 40 + 1 / 25) / 2))
    assert baseline_rate(measured, 9000) == pytest.approx(25.0)


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_longer_context_is_never_expected_to_be_faster(one: int, other: int) -> None:
    measured = report(long_context=LONG)
    rates = [baseline_rate(measured, length) for length in sorted((one, other))]
    assert rates[0] is not None
    assert rates[1] is not None
    assert rates[0] >= rates[1]


def test_an_answer_behind_a_long_prompt_is_compared_with_a_long_baseline() -> None:
    stats = answer_stats(30.0, prompt_tokens=3000)
    assert speed_verdict(stats, report(long_context=LONG)).speedup == pytest.approx(1.2)


def test_the_crossover_lies_between_the_lengths_where_it_paid_and_did_not() -> None:
    crossover = pays_up_to_tokens(report(long_context=LONG))
    assert crossover == 1000 + round(2000 * (1.1 - 1.0) / (1.1 - 0.8))
    assert pays_up_to_tokens(report(long_context=LONG[:1])) is None
    assert pays_up_to_tokens(report()) is None


@given(st.lists(st.tuples(RATES, RATES), max_size=3), st.floats(1.02, 4.0))
def test_no_measured_length_below_the_crossover_loses(
    rates: list[tuple[float, float]], speedup: float
) -> None:
    points = tuple(ContextPoint(1000 * (n + 1), *pair) for n, pair in enumerate(rates))
    crossover = pays_up_to_tokens(
        report(long_context=points, chosen=ChosenSetting(3, speedup, ""))
    )
    losing = [point.context_tokens for point in points if point.speedup < 1.0]
    assume(losing or crossover is None)
    assert (crossover is None) == (not losing)
    if crossover is not None:
        assert 0 <= crossover <= losing[0]
