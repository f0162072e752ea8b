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
class _Segment:
    origin: TextOrigin
    step: int
    end: int  # index behind its last token


class IncrementalDetokenizer:
    """Turns the token lists of verification steps into `TextRun`s.

    `decode` gives the text of several token lists at once, special tokens left out. A token's
    text depends on what stands before it (spaces, bytes of one character), so each call decodes
    a short window that starts at the last text given out, and gives out what is new in it.
    """

    def __init__(self, decode: Decode) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._segments: list[_Segment] = []
        self._window_start = 0
        self._given_out = 0  # tokens whose text has been given out

    def push(self, tokens: Sequence[int], *, step: int, drafted: int) -> tuple[TextRun, ...]:
        """Take one step's tokens, of which the first `drafted` were the draft's proposals."""
        for origin, part in (
            (TextOrigin.DRAFT, tokens[:drafted]),
            (TextOrigin.TARGET, tokens[drafted:]),
        ):
            if part:
                self._ids.extend(part)
                self._segments.append(_Segment(origin, step, len(self._ids)))
        return self._take(final=len(self._ids) - self._given_out > _MAX_HELD_TOKENS)

    def finish(self) -> tuple[TextRun, ...]:
        """Everything that was held back, broken characters included."""
        return self._take(final=True)

    def _take(self, *, final: bool) -> tuple[TextRun, ...]:
        if not self._segments:
            return ()
        start = self._window_start
        ends = [self._given_out, *(segment.end for segment in self._segments)]
        texts = self._decode([self._ids[start:end] for end in ends])
        done = texts[0]
        runs: list[TextRun] = []
        taken = 0
        for index, (segment, text) in enumerate(
            zip(self._segments, texts[1:], strict=True), start=1
        ):
            is_last = index == len(self._segments)
            grew = len(text) > len(done)
            # Tokenizers show half a character as U+FFFD or not at all. Either way the segment
            # that completes it brings it, and the window must not start in its middle.
            if not (final and is_last) and (not grew or text.endswith(_INCOMPLETE)):
                continue
            if grew:
                runs.append(TextRun(text[len(done) :], segment.origin, segment.step))
            done = text
            taken = index
        if taken:
            self._window_start = self._given_out
            self._given_out = self._segments[taken - 1].end
            del self._segments[:taken]
        return tuple(runs)
