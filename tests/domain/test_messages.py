"""What a person may type: everything literal, nothing that a tokenizer cannot take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.messages import MAX_MESSAGE_CHARACTERS, clean_message
from dflash_desktop.domain.problems import AppError


@pytest.mark.parametrize("blank", ["", " ", "\n\t \u3000", "\0", " \0 "])
def test_a_blank_message_is_refused_in_words(blank: str) -> None:
    with pytest.raises(AppError) as error:
        clean_message(blank)
    assert error.value.problem.code == "message_blank"
    assert error.value.problem.advice


def test_lone_surrogates_are_replaced_and_said() -> None:
    clean = clean_message("half \ud83d emoji")
    assert clean.text == "half \N{REPLACEMENT CHARACTER} emoji"
    assert "not valid text" in clean.notice
    clean.text.encode()


def test_a_surrogate_pair_is_the_character_that_was_meant() -> None:
    assert clean_message("\ud83c\udf89").text == "🎉"


def test_nul_is_removed_and_said() -> None:
    clean = clean_message("a\0b")
    assert clean.text == "ab"
    assert "NUL" in clean.notice


@pytest.mark.parametrize(
    "text",
    ["<b>bold</b>", "<|im_end|>", "![x](file:///etc/passwd)", "<script>1</script>", "🎉\u200d"],
)
def test_markup_stays_as_it_was_typed(text: str) -> None:
    clean = clean_message(text)
    assert clean.text == text
    assert clean.notice == ""


def test_a_megabyte_passes_and_a_gigantic_message_does_not() -> None:
    assert len(clean_message("word " * 200_000).text) == 1_000_000
    with pytest.raises(AppError) as error:
        clean_message("a" * (MAX_MESSAGE_CHARACTERS + 1))
    assert error.value.problem.code == "message_too_long"


@given(st.text(st.characters(codec=None)))  # lone surrogates included
def test_whatever_passes_can_be_encoded(text: str) -> None:
    try:
        clean = clean_message(text)
    except AppError:
        return
    assert "\0" not in clean.text
    clean.text.encode("utf-8")
