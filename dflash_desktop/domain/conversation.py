"""A conversation as it is kept: what was said, how each answer came about, nothing lost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from dflash_desktop.domain.generation import (
    DraftUse,
    FinishReason,
    GenerationStats,
    PromptMessage,
    Role,
    TextRun,
)
from dflash_desktop.domain.pictures import Picture

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

UNTITLED = "New chat"
TITLE_CHARACTERS = 48


@dataclass(frozen=True, slots=True)
class Message:
    """One message; the fields after `text` are for answers only, but for `pictures`."""

    role: Role
    text: str
    thinking: str = ""
    runs: tuple[TextRun, ...] = ()  # which model proposed which words, for the marked view
    stats: GenerationStats | None = None
    draft: DraftUse | None = None
    finish: FinishReason | None = None
    problem_headline: str = ""  # why the answer was cut, if it was
    notice: str = ""
    model_title: str = ""
    pictures: tuple[Picture, ...] = ()  # of a question, in the person's order


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages in order; the system prompt is apart so that leaving out turns never drops it."""

    id: str
    created_at: datetime
    title: str = UNTITLED
    system_prompt: str = ""
    messages: tuple[Message, ...] = ()


def with_message(conversation: Conversation, message: Message) -> Conversation:
    """The conversation with one more message; the first question names an untitled one."""
    title = conversation.title
    if title == UNTITLED and message.role is Role.USER:
        title = title_from(message.text)
        if title == UNTITLED and message.pictures:
            title = title_from(message.pictures[0].title)
    return replace(conversation, title=title, messages=(*conversation.messages, message))


def title_from(text: str) -> str:
    """A short title from the first words of a question, on one line."""
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARACTERS:
        return line or UNTITLED
    cut = line[: TITLE_CHARACTERS - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut else cut}…"


def prompt_messages(
    conversation: Conversation,
    files_of: Callable[[tuple[Picture, ...]], tuple[Path, ...]] = lambda _: (),
) -> tuple[PromptMessage, ...]:
    """What the model is given: thinking is left out, and so are answers without text.

    `files_of` tells the files of pictures that this model can be shown.
    """
    turns = [
        PromptMessage(m.role, m.text, files_of(m.pictures))
        for m in conversation.messages
        if m.text or m.role is Role.USER
    ]
    if conversation.system_prompt.strip():
        turns.insert(0, PromptMessage(Role.SYSTEM, conversation.system_prompt))
    return tuple(turns)


def last_question(messages: tuple[Message, ...]) -> Message | None:
    """What the person said last, with its pictures."""
    return next((m for m in reversed(messages) if m.role is Role.USER), None)


def without_last_answer(conversation: Conversation) -> tuple[Conversation, Message | None]:
    """For "retry": the conversation up to before the last question, and that question."""
    messages = conversation.messages
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].role is Role.USER:
            kept = tuple(messages[:index])
            return replace(conversation, messages=kept), messages[index]
    return conversation, None
