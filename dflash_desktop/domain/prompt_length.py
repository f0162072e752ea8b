"""How long a prompt is at least for a CLIP text encoder, which reads a fixed number of tokens.

How many tokens a word becomes is known to the model's own tokenizer alone, which runs in the
engine. What can be told without it is a lower bound: that tokenizer first cuts a text into pieces
by a fixed rule, and each piece becomes one token or more.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ENDS: Final = 2
"""Tokens that mark the beginning and the end of every prompt."""
_MARKS: Final = re.compile(r"<\|(?:start|end)oftext\|>", re.IGNORECASE)
_PIECES: Final = re.compile(
    r"'(?:s|t|re|ve|m|ll|d)|[^\W\d_]+|\d|(?:[^\w\s]|_)+",
    re.IGNORECASE,
)


def least_tokens(prompt: str) -> int:
    """How many tokens a prompt has at least, without those at its ends."""
    text = unicodedata.normalize("NFC", _MARKS.sub(" ", prompt))
    return sum(1 for _ in _PIECES.finditer(text))


def is_cut_off(prompt: str, prompt_tokens: int | None) -> bool:
    """Whether an encoder of so many tokens surely leaves the end of it unread; None: no limit."""
    return prompt_tokens is not None and least_tokens(prompt) > prompt_tokens - _ENDS
