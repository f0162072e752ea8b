"""Where a line of Markdown may be cut, and what of an unfinished one should be shown."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_MARKER_ONLY: Final = re.compile(r"\s*(?:[-=*+_#>|`~]+|\d{1,9}[.)]?)?\s*\Z")
_FENCE_START: Final = re.compile(r"\s*(?:```|~~~)")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?: {1,4}(?=\S)| |\Z)")
_DELIMITER_ROW: Final = re.compile(r"[\s|:-]*-[\s|:-]*\Z")
_TRIED_CUTS: Final = 24
_ZERO_WIDTH_JOINER: Final = "\u200d"
# Closed in this order; a mark that is part of a longer one is counted without it.
_INLINE_MARKS: Final = ("`", "**", "~~")


def indent_of(line: str) -> int:
    """How many spaces a line begins with."""
    return len(line) - len(line.lstrip(" "))


def item_offset(line: str) -> int:
    """The column where the text of a list item begins; 0 if the line does not begin one."""
    match = _ITEM.match(line)
    return match.end() if match else 0


def may_begin_card(line: str) -> bool:
    """Whether this line could open a code block or be the second line of a table."""
    return "```" in line or "~~~" in line or bool(_DELIMITER_ROW.match(line))


def shown_source(lines: str, tail: str) -> str:
    """Complete lines and an unfinished one as they should be shown now.

    What may yet turn out to be a marker, a fence or a table is held back, and emphasis that is
    still open is closed, so that nothing on the screen changes its kind a moment later.
    """
    if _MARKER_ONLY.match(tail) or _FENCE_START.match(tail) or tail.lstrip().startswith("|"):
        tail = ""
    source = lines + tail
    if not tail:
        source = source.rstrip("\n")
        while source.rpartition("\n")[2].lstrip().startswith("|"):
            source = source.rpartition("\n")[0]
    return _completed(source)


def _completed(source: str) -> str:
    last = source.rpartition("\n\n")[2]
    for mark in _INLINE_MARKS:
        if last.count(mark) % 2:
            bare = source.rstrip()
            # An opening mark with nothing behind it would close itself to literal stars.
            return bare.removesuffix(mark).rstrip() if bare.endswith(mark) else bare + mark
    return source


def cut_position(text: str, limit: int) -> int:
    """Where to cut a paragraph at `limit` or before: after a sentence or word, outside markup."""
    window = text[:limit]
    best = 0
    position = limit
    for _ in range(_TRIED_CUTS):
        position = max(window.rfind(" ", 0, position), window.rfind("\n", 0, position))
        if position < limit // 2:
            break
        if _is_balanced(window[:position]):
            # A space begins the rest, so that it is not lost; the end of a line stays behind.
            cut = position + 1 if window[position] == "\n" else position
            if window[position - 1] in ".!?:;" or window[position] == "\n":
                return cut
            best = best or cut
    if best:
        return best
    last_space = window.rfind(" ")
    return last_space if last_space >= limit // 2 else _hard_cut(text, limit)


def _is_balanced(text: str) -> bool:
    return (
        not any(text.count(mark) % 2 for mark in ("`", "*", "~~"))
        and text.count("[") == text.count("]")
        and text.count("(") == text.count(")")
    )


def _hard_cut(text: str, limit: int) -> int:
    """A cut that parts neither an escape nor a letter from its marks."""
    cut = limit
    for _ in range(limit // 4):
        if cut < len(text) and (
            unicodedata.combining(text[cut])
            or _ZERO_WIDTH_JOINER in text[cut - 1 : cut + 1]
            or unicodedata.category(text[cut]) in {"Mn", "Me"}
        ):
            cut -= 1
        else:
            break
    backslashes = len(text[:cut]) - len(text[:cut].rstrip("\\"))
    return cut - 1 if backslashes % 2 and cut > 1 else cut
