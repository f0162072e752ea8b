"""Thinking is told from the answer, whatever the template opened and however text is cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.thinking import ThinkingSplitter


def split(pieces: list[str], *, is_open: bool) -> tuple[str, str]:
    splitter = ThinkingSplitter(is_open=is_open)
    parts = [part for piece in pieces for part in splitter.push(piece)]
    parts += splitter.finish()
    thinking = "".join(part.text for part in parts if part.is_thinking)
    return thinking, "".join(part.text for part in parts if not part.is_thinking)


@pytest.mark.parametrize(
    ("pieces", "is_open", "thinking", "answer"),
    [
        (["</thi", "nk>answer"], True, "", "answer"),
        (["hm, ", "</think>\n\n42"], True, "hm, ", "42"),
        (["still thinking when it was cut"], True, "still thinking when it was cut", ""),
        (["<th", "ink>hm", "</think>ok"], False, "hm", "ok"),
        (["\n<think>hm</think>ok"], False, "hm", "ok"),
        (["no tags at all"], False, "", "no tags at all"),
        (["I write <think> as text </think>"], False, "", "I write <think> as text </think>"),
        (["```xml\n<think>\n```"], False, "", "```xml\n<think>\n```"),
        (["a </think"], True, "a </think", ""),
        (["<thin"], False, "", "<thin"),
        (["hm</think>then <think>is only text</think>"], True, "hm",
         "then <think>is only text</think>"),
    ],
)  # fmt: skip
def test_thinking_and_answer(pieces: list[str], is_open: bool, thinking: str, answer: str) -> None:
    assert split(pieces, is_open=is_open) == (thinking, answer)


@given(
    text=st.lists(
        st.sampled_from(["<think>", "</think>", "\n", " ", "a", "<", "</", "think>"]), max_size=12
    ).map("".join),
    cuts=st.lists(st.integers(0, 60), max_size=12),
    is_open=st.booleans(),
)
def test_where_the_stream_is_cut_never_matters(text: str, cuts: list[int], is_open: bool) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in pairwise(edges)]
    assert split(pieces, is_open=is_open) == split([text], is_open=is_open)
