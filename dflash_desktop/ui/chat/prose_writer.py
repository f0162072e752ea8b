"""Writes Markdown into a text document: paragraphs, headings, lists, quotations, rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtGui import (
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextFormat,
    QTextLength,
)

from dflash_desktop.ui.chat.inline_writer import ProseFormats, write_inline
from dflash_desktop.ui.chat.markdown_blocks import markdown_parser, marked
from dflash_desktop.ui.chat.text_view import INDENT_PX, LIST_MARK_PROPERTY, list_mark
from dflash_desktop.ui.theme import GAP_LARGE, GAP_MEDIUM, GAP_SMALL, GAP_TINY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from markdown_it.token import Token

    from dflash_desktop.ui.chat.markdown_blocks import Place

_MAX_BRACKETS: Final = 80
"""With more of them in one piece, looking for links takes quadratic time, so none are sought."""

_MAX_BLOCK_CHARACTERS: Final = 4000
"""A paragraph in more than one piece becomes several blocks beyond this, to keep layout cheap."""


class ProseWriter:
    """Appends Markdown at a cursor; one for each theme's colours, shared by all messages."""

    def __init__(self, formats: ProseFormats) -> None:
        self.formats = formats
        self._parser = markdown_parser()
        self._parser_without_links = markdown_parser()
        self._parser_without_links.disable(["link", "image"])

    def parse(self, source: str) -> list[Token]:
        """Tokens of a short piece, in bounded time whatever it holds."""
        has_many = source.count("[") > _MAX_BRACKETS
        parser = self._parser_without_links if has_many else self._parser
        return parser.parse(source)

    def write(self, cursor: QTextCursor, source: str, place: Place) -> bool:
        """Append a piece at the document's end; True if something must stand beside the text."""
        piece = _Piece(cursor, self.formats, place)
        for token in self.parse(marked(source, place)):
            if (act := _ACTS.get(token.type)) is not None:
                act(piece, token)
        return piece.has_marks


@dataclass(slots=True)
class _List:
    is_ordered: bool
    number: int
    is_item_new: bool = False

    def mark(self, depth: int) -> str:
        if self.is_ordered:
            return f"{self.number}."
        return "•" if depth % 2 else "◦"


class _Piece:
    """Where the writer stands while it goes through the tokens of one piece."""

    def __init__(self, cursor: QTextCursor, formats: ProseFormats, place: Place) -> None:
        self._cursor = cursor
        self._formats = formats
        self._place = place
        self._lists: list[_List] = []
        self._quotes = 0
        self._heading: QTextCharFormat | None = None
        self._is_first_block = True
        self.has_marks = False

    def open_list(self, token: Token) -> None:
        number = int(token.attrGet("start") or 1)
        if not self._lists and self._place.first_number is not None:
            number = self._place.first_number
        self.has_marks = True
        self._lists.append(_List(token.type == "ordered_list_open", number))

    def close_list(self, _token: Token) -> None:
        self._lists.pop()

    def open_item(self, _token: Token) -> None:
        self._lists[-1].is_item_new = True

    def close_item(self, _token: Token) -> None:
        if self._lists[-1].is_item_new:  # an item without text
            self._begin_block()
        self._lists[-1].number += 1

    def open_quote(self, _token: Token) -> None:
        self._quotes += 1
        self.has_marks = True

    def close_quote(self, _token: Token) -> None:
        self._quotes -= 1

    def open_heading(self, token: Token) -> None:
        is_large = token.tag in {"h1", "h2"}
        self._heading = self._formats.heading if is_large else self._formats.small_heading
        self._begin_block()

    def close_heading(self, _token: Token) -> None:
        self._heading = None

    def open_paragraph(self, _token: Token) -> None:
        self._begin_block()

    def inline(self, token: Token) -> None:
        base = self._heading or self._formats.text
        write_inline(self._cursor, token.children or (), base, self._formats)

    def end_cell(self, _token: Token) -> None:
        self._cursor.insertText("  ", self._formats.text)

    def rule(self, _token: Token) -> None:
        self._begin_block()
        made = self._cursor.blockFormat()
        width = QTextLength(QTextLength.Type.PercentageLength, 100)
        made.setProperty(QTextFormat.Property.BlockTrailingHorizontalRulerWidth, width)
        made.setBottomMargin(GAP_LARGE)
        self._cursor.setBlockFormat(made)

    def code(self, token: Token) -> None:
        plain = QTextCharFormat(self._formats.code)
        plain.clearBackground()
        for line in token.content.rstrip("\n").split("\n"):
            self._begin_block()
            made = self._cursor.blockFormat()
            made.setBackground(self._formats.code_background)
            made.setBottomMargin(0)
            self._cursor.setBlockFormat(made)
            self._cursor.insertText(line, plain)

    def _begin_block(self) -> None:
        cursor = self._cursor
        is_document_empty = cursor.atStart()
        if self._goes_on() and not is_document_empty:
            if not self._place.is_mid_line:
                cursor.insertText(" ", self._formats.text)
            return
        follows_list = bool(list_mark(cursor.block()) or cursor.blockFormat().indent())
        made = self._block_format(is_first=is_document_empty, follows_list=follows_list)
        text = self._heading or self._formats.text
        if is_document_empty:
            cursor.setBlockFormat(made)
            cursor.setBlockCharFormat(text)
        else:
            cursor.insertBlock(made, text)

    def _goes_on(self) -> bool:
        """Whether the first block is the rest of the paragraph before it."""
        is_first, self._is_first_block = self._is_first_block, False
        return (
            is_first
            and self._place.continues_paragraph
            and self._heading is None
            and not self._lists
            and self._cursor.block().length() < _MAX_BLOCK_CHARACTERS
        )

    def _block_format(self, *, is_first: bool, follows_list: bool) -> QTextBlockFormat:
        depth = self._place.depth + len(self._lists)
        if self._heading is None:
            made = self._formats.block(
                depth=depth,
                above=GAP_SMALL if follows_list and not depth else 0,
                below=GAP_TINY if depth else GAP_MEDIUM,
            )
        else:
            above = GAP_SMALL if self._heading is self._formats.small_heading else GAP_MEDIUM
            made = self._formats.block(
                depth=depth, above=0 if is_first else above, below=GAP_SMALL
            )
        if self._quotes:
            made.setProperty(QTextFormat.Property.BlockQuoteLevel, self._quotes)
            made.setLeftMargin(INDENT_PX * self._quotes - INDENT_PX / 2)
        if self._lists and self._lists[-1].is_item_new:
            self._lists[-1].is_item_new = False
            made.setProperty(LIST_MARK_PROPERTY, self._lists[-1].mark(depth))
        return made


_ACTS: Final[Mapping[str, Callable[[_Piece, Token], None]]] = {
    "bullet_list_open": _Piece.open_list,
    "ordered_list_open": _Piece.open_list,
    "bullet_list_close": _Piece.close_list,
    "ordered_list_close": _Piece.close_list,
    "list_item_open": _Piece.open_item,
    "list_item_close": _Piece.close_item,
    "blockquote_open": _Piece.open_quote,
    "blockquote_close": _Piece.close_quote,
    "heading_open": _Piece.open_heading,
    "heading_close": _Piece.close_heading,
    "paragraph_open": _Piece.open_paragraph,
    "inline": _Piece.inline,
    "hr": _Piece.rule,
    "fence": _Piece.code,
    "code_block": _Piece.code,
    # Tables inside quotations have no widget of their own: a line for each row.
    "tr_open": _Piece.open_paragraph,
    "td_close": _Piece.end_cell,
    "th_close": _Piece.end_cell,
}
