"""Text from tokens: nothing lost, nothing cut in half, every piece credited to who proposed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dflash_desktop.domain.detokenizer import IncrementalDetokenizer
from dflash_desktop.domain.generation import TextOrigin, TextRun

if TYPE_CHECKING:
    from dflash_desktop.domain.detokenizer import Decode


def decode_bytes(lists: list[list[int]]) -> list[str]:
    """A tokenizer whose tokens are single bytes, so that characters span up to four of them."""
    return [bytes(ids).decode("utf-8", "replace") for ids in lists]


def decode_dropping(lists: list[list[int]]) -> list[str]:
    """The same, but half a character is left out, as OpenVINO's detokenizers do."""
    return [bytes(ids).decode("utf-8", "ignore") for ids in lists]


def decode_words(lists: list[list[int]]) -> list[str]:
    """A tokenizer that drops the first word's leading space, as sentencepiece does."""
    words = ["one", "two", "three"]
    return [" ".join(words[i % 3] for i in ids) for ids in lists]


@pytest.mark.parametrize("decode", [decode_bytes, decode_dropping])
@example(text="a漢漢漢漢漢é🎉", sizes=[1, 3, 8, 3, 5])
@given(
    text=st.text(st.sampled_from("aé漢🎉 \n"), max_size=60),
    sizes=st.lists(st.integers(1, 8), min_size=1, max_size=60),
)
def test_runs_joined_are_the_whole_text_whatever_the_steps(
    decode: Decode, text: str, sizes: list[int]
) -> None:
    tokens = list(text.encode())
    detokenizer = IncrementalDetokenizer(decode)
    runs: list[TextRun] = []
    step = 0
    while tokens:
        size = sizes[step % len(sizes)]
        part, tokens = tokens[:size], tokens[size:]
        runs += detokenizer.push(part, step=step, drafted=len(part) - 1)
        step += 1
    runs += detokenizer.finish()
    assert "".join(run.text for run in runs) == text
    assert all(run.text for run in runs)


@pytest.mark.parametrize("decode", [decode_bytes, decode_dropping])
def test_half_a_character_waits_for_the_other_half(decode: Decode) -> None:
    first, second = "🎉".encode()[:2], "🎉".encode()[2:]
    detokenizer = IncrementalDetokenizer(decode)
    assert detokenizer.push(list(first), step=0, drafted=0) == ()
    runs = detokenizer.push(list(second), step=1, drafted=0)
    assert [run.text for run in runs] == ["🎉"]


def test_accepted_tokens_are_the_drafts_and_the_last_is_the_targets() -> None:
    detokenizer = IncrementalDetokenizer(decode_bytes)
    runs = detokenizer.push(list(b"abcd"), step=7, drafted=3)
    assert [(run.text, run.origin, run.step) for run in runs] == [
        ("abc", TextOrigin.DRAFT, 7),
        ("d", TextOrigin.TARGET, 7),
    ]


def test_spaces_between_words_survive_a_tokenizer_that_strips_them() -> None:
    detokenizer = IncrementalDetokenizer(decode_words)
    runs = [run for i in range(6) for run in detokenizer.push([i], step=i, drafted=0)]
    assert "".join(run.text for run in runs) == "one two three one two three"


def test_broken_bytes_do_not_hold_the_text_back_for_ever() -> None:
    detokenizer = IncrementalDetokenizer(decode_bytes)
    shown = ""
    for step in range(40):
        shown += "".join(run.text for run in detokenizer.push([0x80], step=step, drafted=0))
    assert "\N{REPLACEMENT CHARACTER}" in shown


def test_decoding_stays_cheap_in_a_long_answer() -> None:
    longest = 0

    def counting(lists: list[list[int]]) -> list[str]:
        nonlocal longest
        longest = max(longest, *(len(ids) for ids in lists))
        return decode_bytes(lists)

    detokenizer = IncrementalDetokenizer(counting)
    for step in range(2_000):
        detokenizer.push(list(b"abc"), step=step, drafted=2)
    assert longest <= 12
