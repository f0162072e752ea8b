"""Tell a model's thinking from its answer while the text streams in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

OPEN_TAG: Final = "<think>"
CLOSE_TAG: Final = "</think>"


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """A piece of streamed text and which side it belongs to."""

    text: str
    is_thinking: bool


class ThinkingSplitter:
    """Splits a stream at `<think>` and `</think>`, tags themselves left out.

    Many templates open the tag inside the prompt, so the answer starts in the middle of the
    thinking and has only the closing tag, or none when it was cut: `is_open` says so. A tag opens
    thinking only as the answer's first visible text; anywhere else it is the model talking about
    tags, and stays. Tags may arrive in pieces; what could still become one is held back.
    """

    def __init__(self, *, is_open: bool) -> None:
        self._is_thinking = is_open
        self._may_open = not is_open
        self._held = ""
        self._at_answer_start = False

    def push(self, text: str) -> tuple[ThinkingPart, ...]:
        """Take the next piece of text."""
        buffer = self._held + text
        self._held = ""
        parts: list[ThinkingPart] = []
        if self._may_open:
            visible = buffer.lstrip()
            if not visible or OPEN_TAG.startswith(visible):
                self._held = buffer
                return ()
            self._may_open = False
            if visible.startswith(OPEN_TAG):
                self._is_thinking = True
                buffer = visible.removeprefix(OPEN_TAG)
        if self._is_thinking:
            thinking, tag, rest = buffer.partition(CLOSE_TAG)
            if tag:
                self._is_thinking = False
                self._at_answer_start = True
                _add(parts, thinking, is_thinking=True)
                self._add_answer(parts, rest)
            else:
                held = _partial_tag_length(buffer, CLOSE_TAG)
                self._held = buffer[len(buffer) - held :]
                _add(parts, buffer[: len(buffer) - held], is_thinking=True)
        else:
            self._add_answer(parts, buffer)
        return tuple(parts)

    def finish(self) -> tuple[ThinkingPart, ...]:
        """What was held back: at the end it cannot become a tag any more."""
        held, self._held = self._held, ""
        parts: list[ThinkingPart] = []
        _add(parts, held, is_thinking=self._is_thinking)
        return tuple(parts)

    def _add_answer(self, parts: list[ThinkingPart], text: str) -> None:
        """Add answer text; the blank lines between the thinking and the answer are neither's."""
        if self._at_answer_start:
            text = text.lstrip("\n")
            self._at_answer_start = not text
        _add(parts, text, is_thinking=False)


def _add(parts: list[ThinkingPart], text: str, *, is_thinking: bool) -> None:
    if text:
        parts.append(ThinkingPart(text, is_thinking))


def _partial_tag_length(text: str, tag: str) -> int:
    """How many characters at the end of `text` could be the start of `tag`."""
    for length in range(min(len(tag) - 1, len(text)), 0, -1):
        if tag.startswith(text[-length:]):
            return length
    return 0
