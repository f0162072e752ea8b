from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.benchmark import FirstDifference, PromptKind, PromptResult
from dflash_desktop.domain.draft_choice import MIN_SPEEDUP, choose, setting_worth
from tests.domain.measurements import bench_run, result

RATES = st.one_of(st.none(), st.floats(0.1, 500.0))
TIE = FirstDifference(250, "a", "b", 0.001, 0.01)
WRONG = FirstDifference(3, "a", "b", 0.5, 0.01)
UNKNOWN = FirstDifference(9, "", "b", None, 0.01)


@st.composite
def measurements(draw: st.DrawFn) -> tuple[PromptResult, ...]:
    settings = draw(st.lists(st.integers(1, 7), min_size=1, max_size=4, unique=True))
    results = []
    for _ in range(draw(st.integers(0, 6))):
        baseline = draw(RATES)
        tokens = draw(st.integers(1, 128))
        runs = []
        for setting in settings:
            rate = draw(RATES)
            rounds: tuple[tuple[float, float], ...] = ()
            if rate and baseline:
                noise = draw(st.floats(0.7, 1.3))
                rounds = ((baseline, rate * noise), (baseline, rate / noise))
            runs.append(
                bench_run(
                    setting,
                    rate,
                    baseline=baseline,
                    tokens=tokens,
                    rounds=rounds,
                    first_token_seconds=draw(st.floats(0.0, 2.0)),
                    difference=draw(st.sampled_from((None, None, None, TIE, WRONG, UNKNOWN))),
                )
            )
        results.append(result(*runs, kind=draw(st.sampled_from(PromptKind))))
    return tuple(results)


def seconds(results: tuple[PromptResult, ...], setting: int) -> tuple[float, float]:
    """Decode time without and with the draft, summed by hand."""
    without = with_draft = 0.0
    for entry in results:
        for run in entry.runs:
            if run.assistant_tokens == setting and run.speedup is not None:
                assert run.baseline_tokens_per_second
                assert run.tokens_per_second
                tokens = max(1, run.tokens - 1)
                without += tokens / run.baseline_tokens_per_second
                with_draft += tokens / run.tokens_per_second
    return without, with_draft


@given(measurements())
def test_the_choice_is_off_or_faster_than_no_draft_over_the_whole_set(
    results: tuple[PromptResult, ...],
) -> None:
    chosen = choose(results)
    if chosen.assistant_tokens == 0:
        assert chosen.speedup is None
        return
    without, with_draft = seconds(results, chosen.assistant_tokens)
    assert without >= with_draft
    assert chosen.speedup is not None
    assert chosen.speedup == pytest.approx(without / with_draft)
    assert chosen.speedup >= MIN_SPEEDUP


@given(measurements())
def test_nothing_that_pays_beats_the_choice(results: tuple[PromptResult, ...]) -> None:
    chosen = choose(results)
    worths = [w for s in range(1, 8) if (w := setting_worth(results, s)) is not None]
    complete = max((w.prompts for w in worths), default=0)
    paying = [w for w in worths if w.prompts == complete and w.pays]
    assert (chosen.assistant_tokens > 0) == bool(paying)
    assert all(w.speedup <= (chosen.speedup or 0) for w in paying)


@given(measurements())
def test_the_reason_is_a_sentence_with_numbers_and_without_nan(
    results: tuple[PromptResult, ...],
) -> None:
    reason = choose(results).reason
    assert reason.endswith(".")
    assert "nan" not in reason.lower().split()


def test_the_reason_names_best_and_worst_kind() -> None:
    chosen = choose(
        (
            result(bench_run(3, 72.5), kind=PromptKind.COUNTING),
            result(bench_run(3, 47.0), kind=PromptKind.PROSE),
            result(bench_run(3, 60.0), kind=PromptKind.CODE),
        )
    )
    assert chosen.assistant_tokens == 3
    assert chosen.reason == (
        "3 assistant tokens: 1.16x over 3 prompts; best for counting (1.45x), "
        "loses on prose (0.940x)."
    )


def test_a_long_answer_counts_more_than_a_short_one() -> None:
    results = (
        result(bench_run(2, 200.0, tokens=6)),  # 4x, but over at once
        result(bench_run(2, 40.0, tokens=501)),  # 0.8x for ten seconds
    )
    assert choose(results).assistant_tokens == 0


def test_a_slower_draft_is_off_with_the_best_number_in_the_reason() -> None:
    chosen = choose((result(bench_run(2, 48.5), bench_run(5, 30.0)),))
    assert chosen.assistant_tokens == 0
    assert chosen.reason == (
        "Draft off: the best setting, 2 assistant tokens, gave 0.970x over 1 prompt; it takes "
        "1.02x to be worth having."
    )


def test_a_gain_that_nobody_notices_is_off() -> None:
    assert choose((result(bench_run(2, 50.5)),)).assistant_tokens == 0
    assert choose((result(bench_run(2, 51.5)),)).assistant_tokens == 2


def test_a_gain_within_the_spread_of_repeats_is_off() -> None:
    noisy = bench_run(2, 52.0, rounds=((50.0, 49.0), (50.0, 55.0)))
    steady = bench_run(2, 52.0, rounds=((50.0, 51.5), (50.0, 52.5)))
    chosen = choose((result(noisy),))
    assert chosen.assistant_tokens == 0
    assert "0.980x to 1.10x" in chosen.reason
    assert choose((result(steady),)).assistant_tokens == 2


def test_whole_answers_that_take_longer_switch_it_off() -> None:
    slow_start = bench_run(2, 60.0, first_token_seconds=3.0)
    chosen = choose((result(slow_start),))
    assert chosen.assistant_tokens == 0
    assert "first word" in chosen.reason


def test_a_wrong_token_rules_a_setting_out_and_a_tie_does_not() -> None:
    wrong, tie = bench_run(5, 90.0, difference=WRONG), bench_run(2, 60.0, difference=TIE)
    assert choose((result(tie, wrong),)).assistant_tokens == 2
    chosen = choose((result(wrong),))
    assert chosen.assistant_tokens == 0
    assert "not the target's own in 1 of 1 prompt" in chosen.reason


def test_a_setting_that_was_tried_on_fewer_prompts_is_not_chosen() -> None:
    results = (
        result(bench_run(2, 60.0), bench_run(7, 200.0)),
        result(bench_run(2, 60.0)),
    )
    assert choose(results).assistant_tokens == 2


def test_nothing_to_compare_is_said() -> None:
    assert choose(()).reason == "Draft off: no answer was long enough to compare."
    assert choose((result(bench_run(3, None)),)).assistant_tokens == 0


def test_a_gain_just_below_the_bar_is_not_written_as_the_bar() -> None:
    chosen = choose([result(bench_run(3, 50.0 * 1.0184, baseline=50.0))])
    assert chosen.assistant_tokens == 0
    assert "1.018x" in chosen.reason
    assert "it takes 1.02x" in chosen.reason
