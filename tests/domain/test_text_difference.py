from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.text_difference import first_difference

TOKENS = st.lists(st.integers(0, 3), max_size=12)


@given(TOKENS)
def test_equal_texts_do_not_differ(tokens: list[int]) -> None:
    assert first_difference(tokens, list(tokens)) is None


@given(TOKENS, TOKENS)
def test_everything_before_the_difference_is_shared_and_the_next_token_is_not(
    left: list[int], right: list[int]
) -> None:
    index = first_difference(left, right)
    assert (index is None) == (left == right)
    if index is not None:
        assert left[:index] == right[:index]
        assert left[index : index + 1] != right[index : index + 1]


@given(TOKENS, st.lists(st.integers(0, 3), min_size=1, max_size=3))
def test_a_text_that_ends_early_differs_where_it_ends(start: list[int], rest: list[int]) -> None:
    assert first_difference(start, start + rest) == len(start)
    assert first_difference(start + rest, start) == len(start)


def test_early_and_late_differences_are_found() -> None:
    text = list(range(300))
    for place in (3, 250):
        other = [*text[:place], -1, *text[place + 1 :]]
        assert first_difference(text, other) == place
