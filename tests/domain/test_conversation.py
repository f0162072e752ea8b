"""A conversation keeps what was said and gives the model only what belongs to it."""

from __future__ import annotations

from datetime import UTC, datetime

from dflash_desktop.domain.conversation import (
    UNTITLED,
    Conversation,
    Message,
    prompt_messages,
    title_from,
    with_message,
    without_last_answer,
)
from dflash_desktop.domain.generation import Role


def conversation(*messages: Message, system_prompt: str = "") -> Conversation:
    blank = Conversation("1", datetime(2026, 1, 1, tzinfo=UTC), system_prompt=system_prompt)
    for message in messages:
        blank = with_message(blank, message)
    return blank


def test_thinking_never_goes_back_into_the_prompt() -> None:
    said = conversation(
        Message(Role.USER, "q"), Message(Role.ASSISTANT, "a", thinking="long thoughts")
    )
    assert [m.content for m in prompt_messages(said)] == ["q", "a"]


def test_the_system_prompt_comes_first_and_a_blank_one_not_at_all() -> None:
    said = conversation(Message(Role.USER, "q"), system_prompt="Be brief.")
    assert prompt_messages(said)[0].role is Role.SYSTEM
    assert len(prompt_messages(conversation(Message(Role.USER, "q"), system_prompt=" "))) == 1


def test_an_answer_without_text_is_not_sent_but_a_question_always_is() -> None:
    said = conversation(Message(Role.USER, "q"), Message(Role.ASSISTANT, "", thinking="cut"))
    assert [m.role for m in prompt_messages(said)] == [Role.USER]


def test_the_first_question_names_the_conversation() -> None:
    said = conversation(Message(Role.USER, "  What is\n a tensor? "), Message(Role.USER, "more"))
    assert said.title == "What is a tensor?"
    assert title_from("word " * 40) == "word word word word word word word word word…"
    assert title_from(" \n ") == UNTITLED
    assert len(title_from("x" * 200)) == 48


def test_retry_goes_back_to_before_the_last_question() -> None:
    said = conversation(
        Message(Role.USER, "one"), Message(Role.ASSISTANT, "1"), Message(Role.USER, "two")
    )
    shorter, question = without_last_answer(said)
    assert question == Message(Role.USER, "two")
    assert [m.text for m in shorter.messages] == ["one", "1"]
    assert without_last_answer(conversation()) == (conversation(), None)
