"""What a person typed, made safe for the engine without changing what they meant."""

from __future__ import annotations

from dataclasses import dataclass

from dflash_desktop.domain.problems import AppError, Problem

MAX_MESSAGE_CHARACTERS = 4_000_000
"""More than any context holds; keeps a pasted file from freezing the tokenizer."""


@dataclass(frozen=True, slots=True)
class CleanMessage:
    """A message ready to send; `notice` says what had to be changed, or is empty."""

    text: str
    notice: str = ""


def clean_message(raw: str, *, may_be_blank: bool = False) -> CleanMessage:
    """Check and clean a message; with a picture it may be blank.

    Lone surrogates (half of an emoji, from a broken paste) become U+FFFD, since no tokenizer
    takes them; NUL characters are dropped. Everything else, markup included, stays literal.
    Raises `AppError` for a blank message (code "message_blank") or a gigantic one.
    """
    if len(raw) > MAX_MESSAGE_CHARACTERS:
        raise AppError(
            Problem(
                code="message_too_long",
                headline="This message is too long for any model.",
                advice=f"It has {len(raw):,} characters. Send a shorter part of it.",
            )
        )
    text = raw.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    notes = []
    if text != raw:
        notes.append("characters that are not valid text were replaced by �")
    if "\0" in text:
        text = text.replace("\0", "")
        notes.append("invisible NUL characters were removed")
    if not text.strip() and not may_be_blank:
        raise AppError(
            Problem(
                code="message_blank",
                headline="There is nothing to send.",
                advice="Type a message first.",
            )
        )
    notice = " and ".join(notes)
    return CleanMessage(text, f"{notice[:1].upper()}{notice[1:]}." if notice else "")
