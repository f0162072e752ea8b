"""A prompt is called too long for CLIP only where that is certain."""

from __future__ import annotations

import pytest

from dflash_desktop.domain.prompt_length import is_cut_off, least_tokens


@pytest.mark.parametrize(
    ("prompt", "least"),
    [
        ("", 0),
        ("  \n", 0),
        ("a lighthouse, oil painting", 5),
        ("don't, it's 35mm", 8),  # as CLIP cuts it: don 't , it 's 3 5 mm
        ("(((best quality:1.2)))", 8),
        ("snow_white", 3),
        ("Kätzchen", 1),
        ("Ka\N{COMBINING DIAERESIS}tzchen", 1),
        ("灯台", 1),
        ("a<|endoftext|>b", 2),
    ],
)
def test_each_piece_becomes_one_token_or_more(prompt: str, least: int) -> None:
    assert least_tokens(prompt) == least


def test_the_two_ends_of_a_prompt_take_their_room() -> None:
    assert not is_cut_off("word " * 75, 77)
    assert is_cut_off("word " * 76, 77)
    assert not is_cut_off("word " * 1000, None)
