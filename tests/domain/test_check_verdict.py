"""The verdict follows from the numbers alone, and its first cause from their pattern."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.acceptance import Acceptance, acceptance, summed
from dflash_desktop.domain.benchmark import ContextPoint, FirstDifference, PromptKind
from dflash_desktop.domain.check_numbers import (
    AcceptedAt,
    CheckNumbers,
    Signature,
    TextVerdict,
    numbers_of,
)
from dflash_desktop.domain.check_verdict import CheckVerdict, judge, judge_unmeasured
from dflash_desktop.domain.draft_choice import KindSpeedup
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.pair_contract import Finding, Subject, Weight
from tests.domain.measurements import bench_run, report, result

GOOD = Acceptance(100, (60, 40, 25, 20, 10, 6, 2))
SHIFTED = Acceptance(100, (12, 0, 0, 0, 0, 0, 0))
RANDOM = Acceptance(100, (1, 0, 0, 0, 0, 0, 0))
STATELESS = Acceptance(100, (30, 12, 4, 0, 0, 0, 0))


def numbers(
    accepted: Acceptance = GOOD, speedup: float | None = 1.3, **changes: object
) -> CheckNumbers:
    made = CheckNumbers(7, speedup, accepted.tokens_per_step, accepted)
    return replace(made, **changes)  # type: ignore[arg-type]


def doubt(code: str, weight: Weight = Weight.WARN) -> Finding:
    return Finding(code, weight, Subject.DRAFT, "this", "that", "file", "do something")


def first_cause(made: CheckNumbers, *codes: str) -> tuple[CheckVerdict, str]:
    judgement = judge(made, [doubt(code) for code in codes])
    return judgement.verdict, judgement.causes[0].code


@pytest.mark.parametrize(
    ("accepted", "signature"),
    [
        (GOOD, Signature.ORDINARY),
        (STATELESS, Signature.ORDINARY),
        (SHIFTED, Signature.FIRST_ONLY),
        (RANDOM, Signature.NOTHING),
        (Acceptance(), Signature.NOTHING),
        (Acceptance(100, (0, 0)), Signature.NOTHING),
        (Acceptance(100, (4, 3)), Signature.LOW),
        (Acceptance(100, (100, 100)), Signature.ORDINARY),
        (Acceptance(100, (60,)), Signature.ORDINARY),  # one assistant token has no pattern
    ],
)
def test_the_pattern_of_acceptance(accepted: Acceptance, signature: Signature) -> None:
    assert numbers(accepted).signature is signature


def test_a_pair_that_is_faster_works() -> None:
    judgement = judge(numbers(), [])
    assert (judgement.verdict, judgement.causes) == (CheckVerdict.WORKING, ())


def test_where_hardly_anything_is_accepted_the_pattern_names_the_cause() -> None:
    useless = CheckVerdict.USELESS
    assert first_cause(numbers(SHIFTED, 0.7)) == (useless, "draft_shifted")
    shifted = ("draft_stateless", "draft_output_unsliced")
    assert first_cause(numbers(SHIFTED, 0.7), *shifted) == (useless, "draft_output_unsliced")
    assert first_cause(numbers(RANDOM, 0.5)) == (useless, "draft_of_another_target")
    assert first_cause(numbers(RANDOM, 0.5), "mask_token_in_use") == (useless, "mask_token_in_use")


def test_a_gain_on_paper_does_not_make_a_useless_draft_work() -> None:
    assert judge(numbers(RANDOM, 1.1), []).verdict is CheckVerdict.USELESS


def test_what_is_accepted_but_no_faster_is_slower_and_says_what_a_step_costs() -> None:
    judgement = judge(
        numbers(
            STATELESS,
            0.8,
            by_kind=(
                KindSpeedup(PromptKind.COUNTING, 1.2),
                KindSpeedup(PromptKind.PROSE, 0.6),
            ),
        ),
        [doubt("draft_stateless")],
    )
    assert judgement.verdict is CheckVerdict.SLOWER
    codes = [cause.code for cause in judgement.causes]
    assert codes == ["draft_stateless", "steps_too_slow", "depends_on_text"]
    assert "as long as 1.82 steps" in judgement.causes[1].words
    assert "counting (1.20x) only" in judgement.causes[2].words


def test_a_wrong_token_outweighs_every_gain() -> None:
    wrong = FirstDifference(3, " Paris", " London", gap_nats=2.5, noise_nats=0.001)
    judgement = judge(
        numbers(
            text=TextVerdict.WRONG_TOKEN,
            difference=wrong,
            kv_cache_precision=KvCachePrecision.U8,
        ),
        [],
    )
    assert judgement.verdict is CheckVerdict.WRONG_TEXT
    assert [cause.code for cause in judgement.causes] == ["wrong_token", "kv_cache_precision"]
    assert "At token 4" in judgement.causes[0].words
    assert "“London”" in judgement.causes[0].words


def test_a_numeric_tie_changes_no_verdict() -> None:
    assert judge(numbers(text=TextVerdict.NUMERIC_TIE), []).verdict is CheckVerdict.WORKING


@pytest.mark.parametrize(
    ("window", "expected"),
    [(None, 1000), (2048, 2048), (512, None), (9000, None)],
)
def test_a_gain_that_is_lost_beyond_the_window_is_named(
    window: int | None, expected: int | None
) -> None:
    points = (AcceptedAt(100, GOOD), AcceptedAt(1000, GOOD), AcceptedAt(4000, SHIFTED))
    made = numbers(by_context=points, window_tokens=window)
    assert made.falls_beyond == expected
    assert any(c.code == "beyond_window" for c in judge(made, []).causes) == bool(expected)


def test_a_gain_that_is_lost_after_an_image_is_named() -> None:
    made = numbers(without_image=GOOD, with_image=SHIFTED)
    assert first_cause(made) == (CheckVerdict.WORKING, "after_image")
    assert not numbers(without_image=GOOD, with_image=GOOD).falls_after_image
    assert not numbers(without_image=GOOD, with_image=Acceptance(2, (0,))).falls_after_image


def test_what_blocks_is_not_attached_with_the_reason_first() -> None:
    findings = [doubt("draft_stateless"), doubt("target_layer_outside", Weight.BLOCK)]
    judgement = judge_unmeasured(findings)
    assert judgement.verdict is CheckVerdict.NOT_ATTACHED
    assert [c.code for c in judgement.causes] == ["target_layer_outside", "draft_stateless"]
    refused = judge_unmeasured([], refusal="No memory.")
    assert refused.causes[0].words == "The runtime refused it. No memory."


step_lists = st.lists(st.integers(min_value=1, max_value=8), max_size=60)


@given(st.lists(step_lists, max_size=5), st.integers(min_value=1, max_value=7))
def test_acceptance_counts_what_steps_brought(answers: list[list[int]], asked: int) -> None:
    capped = [[min(count, asked + 1) for count in steps] for steps in answers]
    total = summed(acceptance(steps, asked) for steps in capped)
    drafted = [count for steps in capped for count in steps[1:]]
    assert total.steps == len(drafted)
    assert sum(total.accepted_at) == sum(drafted) - len(drafted)
    assert list(total.accepted_at) == sorted(total.accepted_at, reverse=True)
    assert all(0.0 <= rate <= 1.0 for rate in total.rates)
    assert total.tokens_per_step == (
        pytest.approx(sum(drafted) / len(drafted)) if drafted else None
    )


accepted = st.lists(st.integers(0, 200), min_size=1, max_size=7).map(
    lambda counts: Acceptance(200, tuple(sorted(counts, reverse=True)))
)
texts = st.sampled_from(TextVerdict)
speedups = st.none() | st.floats(min_value=0.05, max_value=8)
doubts = st.lists(
    st.sampled_from(["draft_stateless", "draft_output_unsliced", "locators_differ", "other"]),
    unique=True,
)


@given(accepted, speedups, texts, doubts)
def test_every_number_has_a_verdict_and_every_bad_one_a_cause(
    one: Acceptance, speedup: float | None, text: TextVerdict, codes: list[str]
) -> None:
    made = numbers(one, speedup, text=text, difference=FirstDifference(0, "a", "b", 1.0, 0.1))
    judgement = judge(made, [doubt(code) for code in codes])
    assert judgement == judge(made, [doubt(code) for code in reversed(codes)])
    is_bad = judgement.verdict is not CheckVerdict.WORKING
    assert judgement.causes or not is_bad or speedup is None
    assert len({cause.code for cause in judgement.causes}) == len(judgement.causes)
    assert (judgement.verdict is CheckVerdict.WRONG_TEXT) == (text is TextVerdict.WRONG_TOKEN)
    if judgement.verdict is CheckVerdict.WORKING:
        assert speedup is not None
        assert speedup >= 1.02
        assert (made.tokens_per_step or 0) >= 1.2


@given(accepted, st.floats(min_value=0.05, max_value=8), st.floats(min_value=1.0, max_value=4))
def test_more_speed_never_makes_a_verdict_worse(
    one: Acceptance, speedup: float, factor: float
) -> None:
    order = [CheckVerdict.USELESS, CheckVerdict.SLOWER, CheckVerdict.WORKING]
    slow, fast = (judge(numbers(one, s), []).verdict for s in (speedup, speedup * factor))
    assert order.index(fast) >= order.index(slow)


def test_a_measurement_gives_the_numbers_of_its_fastest_setting() -> None:
    tie = FirstDifference(9, "a", "b", gap_nats=0.0001, noise_nats=0.001)
    wrong = FirstDifference(5, "a", "b", gap_nats=0.9, noise_nats=0.001)
    three = replace(bench_run(3, 60.0), acceptance=Acceptance(10, (6, 4, 2)))
    seven = replace(bench_run(7, 40.0), acceptance=GOOD, identical=False, first_difference=tie)
    made = numbers_of(report(result(three, seven)))
    assert made.assistant_tokens == 3
    assert made.acceptance == GOOD
    assert (made.text, made.difference) == (TextVerdict.NUMERIC_TIE, tie)
    worse = replace(seven, first_difference=wrong)
    made = numbers_of(report(result(three, seven), result(worse)))
    assert (made.text, made.difference) == (TextVerdict.WRONG_TOKEN, wrong)
    assert numbers_of(report(result(three))).text is TextVerdict.IDENTICAL


def test_acceptance_behind_long_prompts_is_compared_at_one_setting() -> None:
    three = replace(bench_run(3, 60.0), acceptance=Acceptance(10, (6, 4, 2)))
    seven = replace(bench_run(7, 40.0), acceptance=GOOD)
    points = (
        ContextPoint(1000, 40.0, 44.0, Acceptance(20, (12, 8, 4))),
        ContextPoint(4000, 40.0, 30.0, Acceptance(20, (2, 0, 0))),
    )
    made = numbers_of(report(result(three, seven), long_context=points), window_tokens=2048)
    assert [one.acceptance.steps for one in made.by_context] == [10, 20, 20]
    assert made.falls_beyond == 2048
