"""Cuts a stream of Markdown into pieces that never change again and one open rest.

Only the open rest has to be drawn again when more text arrives, and it is kept short: a long
paragraph, list, table or code block is handed out in parts while it is still growing. So the work
for one more token does not depend on how long the answer is, nor on what it consists of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt

from dflash_desktop.ui.chat.markdown_cuts import (
    cut_position,
    indent_of,
    item_offset,
    may_begin_card,
    shown_source,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

SAFE_SCHEMES: Final = frozenset({"http", "https", "mailto"})

MAX_OPEN_CHARACTERS: Final = 800
"""A longer open rest is cut; drawing this much again takes a few milliseconds."""

CONTINUATION_MARK: Final = "\u2060"
"""Put before the rest of a line that was cut, so that "- " in it cannot start a list."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a piece stands: how deep in lists, and how it follows the piece before it."""

    depth: int = 0
    continues_paragraph: bool = False
    is_mid_line: bool = False  # the cut was inside a line, so no block can begin here
    first_number: int | None = None  # of an ordered list that began in an earlier piece


@dataclass(frozen=True, slots=True)
class Prose:
    """Complete Markdown without code blocks and tables of its own."""

    source: str
    place: Place


@dataclass(frozen=True, slots=True)
class CodeOpened:
    """A code block begins."""

    language: str
    place: Place


@dataclass(frozen=True, slots=True)
class CodeText:
    """More of the code block, as it is to be shown."""

    text: str


@dataclass(frozen=True, slots=True)
class CodeClosed:
    """The code block is complete."""


@dataclass(frozen=True, slots=True)
class TableOpened:
    """A table begins; `head` holds its first two lines."""

    head: str
    place: Place


@dataclass(frozen=True, slots=True)
class TableRow:
    """One more row, as one line of Markdown."""

    line: str


@dataclass(frozen=True, slots=True)
class TableClosed:
    """The table is complete."""


Piece = Prose | CodeOpened | CodeText | CodeClosed | TableOpened | TableRow | TableClosed


def is_safe_link(url: str) -> bool:
    """Whether a link may be offered at all; other targets stay literal text."""
    try:
        return urlsplit(url.strip()).scheme.lower() in SAFE_SCHEMES
    except ValueError:
        return False


def markdown_parser() -> MarkdownIt:
    """The parser for answers: tags are literal, links lead to the web or to mail only."""
    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": 20})
    parser.enable(["table", "strikethrough"])
    # A definition would vanish from the text and could not reach the pieces before it.
    parser.disable(["reference", "html_block"])
    parser.validateLink = is_safe_link  # type: ignore[method-assign]  # its documented hook
    return parser


@dataclass(frozen=True, slots=True)
class _Fence:
    mark: str  # the character, ` or ~
    length: int
    column: int

    def is_closed_by(self, line: str) -> bool:
        bare = line.strip()
        return len(bare) >= self.length and not bare.strip(self.mark)

    def may_be_closed_by(self, beginning: str) -> bool:
        return not beginning.strip().strip(self.mark)


class BlockSplitter:
    """Takes text as it streams in and hands out pieces; `open_source` is what is still open.

    Give it about a thousand characters at a time: the work is bounded for each call.
    """

    def __init__(self) -> None:
        self._parser = markdown_parser()
        # Inline markup is of no interest for where blocks begin and end.
        self._parser.core.ruler.disable("inline")
        self._open = ""  # complete lines, without the indent of the lists they stand in
        self._tail = ""  # the last line, without its end
        self._containers: list[int] = []  # columns where the text of open list items begins
        self._continues = False
        self._is_mid_line = False
        self._next_number: int | None = None
        self._fence: _Fence | None = None
        self._shown_of_tail = 0  # in a code block
        self._is_in_table = False

    @property
    def open_place(self) -> Place:
        """Where the open rest stands."""
        return Place(
            depth=len(self._containers),
            continues_paragraph=self._continues,
            is_mid_line=self._is_mid_line,
            first_number=self._next_number,
        )

    @property
    def open_source(self) -> str:
        """The open rest as it should be shown now, or "" while nothing of it is certain."""
        if self._fence is not None or self._is_in_table:
            return ""
        return shown_source(self._open, self._dedented(self._tail))

    def push(self, text: str) -> Iterator[Piece]:
        """Take more text."""
        lines = (self._tail + text).split("\n")
        self._tail, tail = "", lines.pop()
        for line in lines:
            yield from self._take_line(line)
        self._tail = tail
        yield from self._split()
        if self._fence is not None:
            yield from self._show_code_tail()
        elif not self._is_in_table:
            yield from self._cut_long_paragraph()

    def finish(self) -> Iterator[Piece]:
        """The stream is over: everything that is still open, as it is."""
        if self._tail:
            line, self._tail = self._tail, ""
            yield from self._take_line(line, is_last=True)
        yield from self._split()
        if self._fence is not None:
            self._fence = None
            yield CodeClosed()
        if self._is_in_table:
            self._is_in_table = False
            yield TableClosed()
        yield from self._hand_out_all()

    def _take_line(self, line: str, *, is_last: bool = False) -> Iterator[Piece]:
        if self._fence is not None:
            yield from self._take_code_line(self._fence, line, is_last=is_last)
            return
        if self._is_in_table:
            if "|" in line:
                yield TableRow(line.strip())
                return
            self._is_in_table = False
            yield TableClosed()
        if not self._is_rest_of_line():
            yield from self._leave_lists(line)
        self._open += self._dedented(line) + "\n"
        if may_begin_card(line) or len(self._open) > MAX_OPEN_CHARACTERS:
            yield from self._split()
            if self._fence is None and not self._is_in_table:
                yield from self._cut_long_paragraph()

    def _is_rest_of_line(self) -> bool:
        return self._is_mid_line and not self._open

    def _leave_lists(self, line: str) -> Iterator[Piece]:
        if not self._containers or not line.strip() or indent_of(line) >= self._containers[-1]:
            return
        yield from self._split()
        yield from self._hand_out_all()
        while self._containers and indent_of(line) < self._containers[-1]:
            self._containers.pop()

    def _dedented(self, line: str) -> str:
        if not self._containers or self._is_rest_of_line():
            return line
        return line[min(self._containers[-1], indent_of(line)) :]

    def _take_code_line(self, fence: _Fence, line: str, *, is_last: bool) -> Iterator[Piece]:
        shown, self._shown_of_tail = self._shown_of_tail, 0
        if fence.is_closed_by(line):
            self._fence = None
            yield CodeClosed()
            return
        start = max(shown, min(fence.column, indent_of(line)))
        yield CodeText(line[start:] + ("" if is_last else "\n"))

    def _show_code_tail(self) -> Iterator[Piece]:
        fence, tail = self._fence, self._tail
        if fence is None or fence.may_be_closed_by(tail):
            return
        start = max(self._shown_of_tail, min(fence.column, indent_of(tail)))
        if start < len(tail):
            self._shown_of_tail = len(tail)
            yield CodeText(tail[start:])

    def _split(self) -> Iterator[Piece]:
        """Hand out what is complete of `_open`; begin a code block or table that it ends with."""
        if self._continues and self._open.startswith("\n"):
            self._continues = self._is_mid_line = False
        while self._open.strip():
            tokens = self._parser.parse(marked(self._open, self.open_place))
            card = _card_in(tokens)
            if card is not None:
                yield from self._begin_card(tokens, card)
                return
            tops = [t for t in tokens if t.level == 0 and t.nesting >= 0 and t.map]
            if len(tops) > 1:
                yield from self._hand_out(_line_of(tops[-1]))
                self._next_number = None
                continue
            top = tops[0]
            if top.type == "ordered_list_open" or top.type == "bullet_list_open":
                yield from self._hand_out_items(tokens, top)
            is_complete = top.type in {"heading_open", "hr"} or (
                top.type == "paragraph_open" and self._open.endswith("\n\n")
            )
            if is_complete:
                yield from self._hand_out_all()
            elif len(self._open) > MAX_OPEN_CHARACTERS and top.type != "paragraph_open":
                self._containers += _offsets_of_open_items(tokens, self._open, self._column)
                yield from self._hand_out_all()
            return
        self._open = ""

    def _hand_out_items(self, tokens: Sequence[Token], top: Token) -> Iterator[Piece]:
        items = [t for t in tokens if t.type == "list_item_open" and t.level == 1]
        if len(items) < 2:
            return
        number = self._next_number or int(top.attrGet("start") or 1)
        yield from self._hand_out(_line_of(items[-1]))
        if top.type == "ordered_list_open":
            self._next_number = number + len(items) - 1

    def _hand_out(self, line_count: int) -> Iterator[Piece]:
        lines = self._open.split("\n")
        source = "\n".join(lines[:line_count])
        place = self.open_place
        self._open = "\n".join(lines[line_count:])
        if source.strip():
            self._continues = self._is_mid_line = False
            yield Prose(source, place)

    def _hand_out_all(self) -> Iterator[Piece]:
        source, place, self._open = self._open, self.open_place, ""
        self._continues = self._is_mid_line = False
        self._next_number = None
        if source.strip():
            yield Prose(source, place)

    @property
    def _column(self) -> int:
        return self._containers[-1] if self._containers else 0

    def _begin_card(self, tokens: Sequence[Token], card: Token) -> Iterator[Piece]:
        """Begin the code block or table whose opening lines are the last ones of `_open`."""
        start = _line_of(card)
        lines = self._open.split("\n")
        offsets = _offsets_of_open_items(tokens, self._open, self._column, until=card)
        opening = lines[start]
        if (inner := item_offset(opening)) and card.type == "fence":
            lines.insert(start, opening[:inner])  # "- ```": the marker is an item of its own
            self._open = "\n".join(lines)
            start += 1
        yield from self._hand_out(start)
        self._open = ""
        self._next_number = None
        column = self._column
        self._containers += offsets
        place = Place(depth=len(self._containers))
        if card.type == "fence":
            fence_column = column + opening.index(card.markup)
            self._fence = _Fence(card.markup[0], len(card.markup), fence_column)
            yield CodeOpened(card.info.strip().partition(" ")[0], place)
        else:
            self._is_in_table = True
            yield TableOpened("\n".join(row.strip() for row in lines[-3:-1]), place)

    def _cut_long_paragraph(self) -> Iterator[Piece]:
        while len(self._open) + len(self._tail) > MAX_OPEN_CHARACTERS:
            text = self._open + self._dedented(self._tail)
            cut = cut_position(text, MAX_OPEN_CHARACTERS)
            tokens = self._parser.parse(marked(text[:cut], self.open_place))
            place = self.open_place
            self._containers += _offsets_of_open_items(tokens, text, self._column)
            self._next_number = None
            self._continues = True
            self._is_mid_line = text[cut - 1] != "\n"
            self._open, newline, self._tail = text[cut:].rpartition("\n")
            self._open += newline
            yield Prose(text[:cut], place)


def marked(source: str, place: Place) -> str:
    """The source as the parser must see it at this place."""
    return CONTINUATION_MARK + source if place.is_mid_line else source


def _line_of(token: Token) -> int:
    return token.map[0] if token.map else 0


def _card_in(tokens: Sequence[Token]) -> Token | None:
    """The code block or table that gets a widget of its own: not those inside quotations."""
    quotes = 0
    for token in tokens:
        if token.type in {"blockquote_open", "blockquote_close"}:
            quotes += token.nesting
        elif token.type in {"fence", "table_open"} and not quotes:
            return token
    return None


def _offsets_of_open_items(
    tokens: Sequence[Token], source: str, base: int, *, until: Token | None = None
) -> list[int]:
    """The columns where the text of the list items begins that the last block stands in.

    `until` names the block if it is not the last one with text.
    """
    lines = source.split("\n")
    now: list[Token] = []
    found: list[Token] = []
    for token in tokens:
        if token.type == "list_item_open":
            now.append(token)
        elif token.type == "list_item_close":
            now.pop()
        elif token.nesting == 0:
            found = list(now)
        if token is until:
            found = list(now)
            break
    return [base + item_offset(lines[_line_of(token)]) for token in found]
