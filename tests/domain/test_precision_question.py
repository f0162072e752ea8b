"""Is it the precision or the draft? The numbers of seed drafts give the known answers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.precision_question import (
    PrecisionAnswer,
    PrecisionCheck,
    compare_precisions,
)


def checked(name: str, tokens_per_step: float | None, speedup: float = 1.0) -> PrecisionCheck:
    return PrecisionCheck(name, name, CheckVerdict.WORKING, tokens_per_step, speedup)


@pytest.mark.parametrize(
    ("brought", "answer"),
    [
        # A draft that is broken whatever its precision: unquantised it is the slowest.
        ((1.0, 1.02, 1.0), PrecisionAnswer.DRAFT),
        ((1.0, None), PrecisionAnswer.DRAFT),
        # int4 in groups, int8, fp16, int4 by column, as measured on the starter draft.
        ((2.54, 2.49, 2.51, 2.41), PrecisionAnswer.NEITHER),
        ((3.7, 1.0), PrecisionAnswer.PRECISION),
        ((2.5, None), PrecisionAnswer.PRECISION),
    ],
)
def test_known_drafts(brought: tuple[float | None, ...], answer: PrecisionAnswer) -> None:
    checks = [checked(f"d{n}", value) for n, value in enumerate(brought)]
    comparison = compare_precisions(checks)
    assert comparison.answer is answer
    assert comparison.checks == tuple(checks)
    assert comparison.statement


def test_where_all_are_alike_the_fastest_is_named() -> None:
    comparison = compare_precisions([checked("int8", 2.5, 1.1), checked("int4", 2.5, 1.3)])
    assert "The fastest here is int4 (int4)." in comparison.statement


@given(st.lists(st.floats(min_value=1.0, max_value=8.0), min_size=2, max_size=5))
def test_the_order_of_the_checks_does_not_matter(brought: list[float]) -> None:
    checks = [checked(f"d{n}", value) for n, value in enumerate(brought)]
    one, other = compare_precisions(checks), compare_precisions(checks[::-1])
    assert one.answer is other.answer
