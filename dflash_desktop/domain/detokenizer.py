"""Text from tokens, step by step, without ever cutting a character in half."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.generation import TextOrigin, TextRun

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Decode = Callable[[list[list[int]]], list[str]]

_INCOMPLETE: Final = "\N{REPLACEMENT CHARACTER}"
_MAX_HELD_TOKENS: Final = 16
"""No character is spread over more tokens; what looks so is a model writing broken bytes."""


@dataclass(frozen=True, slots=True)
class _Token:
    origin: TextOrigin
    step: int
    end: int  # index behind it


class IncrementalDetokenizer:
    """Turns the token lists of verification steps into `TextRun`s.

    `decode` gives the text of several token lists at once, special tokens left out. A token's
    text depends on what stands before it (spaces, bytes of one character), so each call decodes
    a short window that starts at the last text given out, and gives out what is new in it.
    """

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._waiting: list[_Token] = []  # whose text has not been given out
        self._window_start = 0
        self._given_out = 0  # tokens whose text has been given out

    def push(self, tokens: Sequence[int], *, step: int, drafted: int) -> tuple[TextRun, ...]:
        """Take one step's tokens, of which the first `drafted` were the draft's proposals."""
        for index, token in enumerate(tokens):
            self._ids.append(token)
            origin = TextOrigin.DRAFT if index < drafted else TextOrigin.TARGET
            self._waiting.append(_Token(origin, step, len(self._ids)))
        runs = self._take(final=False)
        if len(self._ids) - self._given_out > _MAX_HELD_TOKENS:
            runs += self._take(final=True)
        return runs

    def finish(self) -> tuple[TextRun, ...]:
        """Everything that was held back, broken characters included."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> tuple[TextRun, ...]:
        if not self._waiting:
            return ()
        start = self._window_start
        ends = [self._given_out, *(token.end for token in self._waiting)]
        texts = self._decode([self._ids[start:end] for end in ends])
        done = texts[0]
        runs: list[TextRun] = []
        taken = 0
        for index, (token, text) in enumerate(zip(self._waiting, texts[1:], strict=True), start=1):
            is_last = index == len(self._waiting)
            grew = len(text) > len(done)
            # Tokenizers show half a character as U+FFFD or not at all. Either way the token
            # that completes it brings it, and the window must not start in its middle.
            if not (final and is_last) and (not grew or text.endswith(_INCOMPLETE)):
                continue
            if grew:
                _add(runs, TextRun(text[len(done) :], token.origin, token.step))
            done = text
            taken = index
        if taken:
            self._window_start = self._given_out
            self._given_out = self._waiting[taken - 1].end
            del self._waiting[:taken]
        return tuple(runs)


def _add(runs: list[TextRun], run: TextRun) -> None:
    """Join what one model proposed in one step."""
    if runs and (runs[-1].origin, runs[-1].step) == (run.origin, run.step):
        runs[-1] = TextRun(runs[-1].text + run.text, run.origin, run.step)
    else:
        runs.append(run)
