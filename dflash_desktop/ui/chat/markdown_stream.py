"""An answer in Markdown that grows: what is complete stays, only the open rest is redrawn."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, assert_never

from PySide6.QtCore import Signal
from PySide6.QtGui import QTextBlockFormat, QTextCursor
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.ui.chat.code_view import CodeView
from dflash_desktop.ui.chat.markdown_blocks import (
    BlockSplitter,
    CodeClosed,
    CodeOpened,
    CodeText,
    Piece,
    Place,
    Prose,
    TableClosed,
    TableOpened,
    TableRow,
)
from dflash_desktop.ui.chat.table_view import TableView
from dflash_desktop.ui.chat.text_view import BLEED_PX, INDENT_PX, TextView
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_TINY

if TYPE_CHECKING:
    from dflash_desktop.ui.chat.drawing import Drawing

_STEP_CHARACTERS: Final = 600
"""How much of what waits is taken in one go; a few milliseconds of work."""

_MAX_VIEW_CHARACTERS: Final = 6000
"""A text view holds no more, so that one edit never lays out a long document again."""


class MarkdownView(QWidget):
    """Grows by `append` and is completed by `finish`. Signals: `link_clicked(str)`."""

    link_clicked = Signal(str)

    def __init__(self, *, drawing: Drawing, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._drawing = drawing
        self._source: list[str] = []
        self._waiting: deque[str] = deque()
        self._is_finished = self._is_ending = False
        self._splitter = BlockSplitter()
        self._pieces: deque[Piece] = deque()
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(0)
        self._text: TextView | None = None
        self._code: CodeView | None = None
        self._table: TableView | None = None
        self._table_depth = 0
        self._open_start = 0
        self._format_before_open = QTextBlockFormat()
        self._shown_open = ""
        drawing.theme.changed.connect(self._on_theme_changed)

    @property
    def widget(self) -> QWidget:
        """For the render clock."""
        return self

    @property
    def source(self) -> str:
        """The Markdown as it arrived."""
        return "".join(self._source)

    def append(self, text: str) -> None:
        """Add Markdown at the end; it is drawn with the next frame."""
        if not text:
            return
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self._source.append(text)
        self._queue(text)
        self._drawing.clock.request(self)

    def finish(self) -> None:
        """No more text will come: what is still open is complete as it is."""
        self._is_finished = self._is_ending = True
        self._drawing.clock.request(self)

    def draw_some(self) -> bool:
        """Take in one bounded piece of what waits."""
        if self._pieces:
            self._draw(self._pieces.popleft())
        elif self._waiting:
            self._pieces.extend(self._splitter.push(self._waiting.popleft()))
        elif self._is_ending:
            self._is_ending = False
            self._pieces.extend(self._splitter.finish())
        if self._pieces or self._waiting or self._is_ending:
            return True
        self._redraw_open()
        self.setMinimumHeight(0)
        return False

    def _queue(self, text: str) -> None:
        if self._waiting and len(self._waiting[-1]) + len(text) <= _STEP_CHARACTERS:
            self._waiting[-1] += text
            return
        for start in range(0, len(text), _STEP_CHARACTERS):
            self._waiting.append(text[start : start + _STEP_CHARACTERS])

    def _draw(self, piece: Piece) -> None:
        match piece:
            case Prose(source=source, place=place):
                self._replace_open(source, place)
                self._shown_open = ""
                self._mark_open_start()
            case CodeOpened(language=language, place=place):
                self._end_text()
                drawing = self._drawing
                self._code = CodeView(
                    language, theme=drawing.theme, clock=drawing.clock, lexers=drawing.lexers
                )
                self._add_card(self._code, place.depth)
            case CodeText(text=text):
                if self._code is not None:
                    self._code.append(text + self._more_code())
            case CodeClosed():
                if self._code is not None:
                    self._code.complete()
                self._code = None
            case TableOpened(head=head, place=place):
                self._end_text()
                self._add_table(head, place.depth)
            case TableRow(line=line):
                self._add_row(line)
            case TableClosed():
                self._table = None
            case _:
                assert_never(piece)

    def _more_code(self) -> str:
        """The code that waits behind this piece, so that many lines are one edit."""
        more = []
        while self._pieces and isinstance(piece := self._pieces[0], CodeText):
            more.append(piece.text)
            self._pieces.popleft()
        return "".join(more)

    def _write(self, source: str, place: Place) -> None:
        view = self._text_view(is_new_paragraph=not place.continues_paragraph)
        cursor = view.end_cursor()
        cursor.beginEditBlock()
        if self._drawing.writer.write(cursor, source, place):
            view.expect_marks()
        cursor.endEditBlock()

    def _text_view(self, *, is_new_paragraph: bool) -> TextView:
        limit = _MAX_VIEW_CHARACTERS if is_new_paragraph else 2 * _MAX_VIEW_CHARACTERS
        is_full = self._text is not None and self._text.document().characterCount() > limit
        if self._text is None or is_full:
            self._text = TextView(theme=self._drawing.theme)
            self._text.setAccessibleName("Answer")
            self._text.link_clicked.connect(self.link_clicked)
            self._rows.addWidget(self._text)
            self._open_start = 0
        return self._text

    def _end_text(self) -> None:
        self._erase_open()
        if self._text is not None and self._text.document().isEmpty():
            self._text.hide()
            self._text.deleteLater()
        self._text = None

    def _add_card(self, card: QWidget, depth: int) -> None:
        row = QVBoxLayout()
        row.setContentsMargins(BLEED_PX + INDENT_PX * depth, GAP_TINY, BLEED_PX, GAP_MEDIUM)
        row.addWidget(card)
        self._rows.addLayout(row)

    def _add_table(self, head: str, depth: int, widths: tuple[float, ...] = ()) -> None:
        drawing = self._drawing
        self._table = TableView(head, theme=drawing.theme, writer=drawing.writer, widths=widths)
        self._table.setAccessibleName("Table")
        self._table.link_clicked.connect(self.link_clicked)
        row = QVBoxLayout()
        row.setContentsMargins(INDENT_PX * depth, 0, 0, GAP_TINY)
        row.addWidget(self._table)
        self._rows.addLayout(row)
        self._table_depth = depth

    def _add_row(self, line: str) -> None:
        if self._table is None:
            return
        if self._table.is_full:
            self._add_table(self._table.head, self._table_depth, self._table.widths)
        self._table.add_row(line)

    def _mark_open_start(self) -> None:
        if self._text is not None:
            cursor = self._text.end_cursor()
            self._open_start = cursor.position()
            self._format_before_open = cursor.blockFormat()

    def _erase_open(self) -> None:
        if not self._shown_open or self._text is None:
            return
        self._shown_open = ""
        cursor = self._text.end_cursor()
        cursor.setPosition(self._open_start, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        if self._open_start and cursor.block().length() == 1:
            # An empty block takes over the format of the block that was joined to it.
            cursor.setBlockFormat(self._format_before_open)

    def _redraw_open(self) -> None:
        source = self._splitter.open_source
        if source == self._shown_open:
            return
        if source.strip():
            self._replace_open(source, self._splitter.open_place)
            self._shown_open = source
        else:
            self._erase_open()

    def _replace_open(self, source: str, place: Place) -> None:
        """Put a piece in the place of what is shown of the open rest, as one edit."""
        if self._text is None:
            self._write(source, place)
            return
        edit = QTextCursor(self._text.document())
        edit.beginEditBlock()
        self._erase_open()
        self._write(source, place)
        edit.endEditBlock()

    def _on_theme_changed(self) -> None:
        """Formats carry colours, so everything is drawn again, a piece at a time."""
        while (item := self._rows.takeAt(0)) is not None:
            inner = item.layout()
            holder = item if inner is None else inner.takeAt(0)
            if holder is not None and (widget := holder.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self.setMinimumHeight(self.height())  # nothing below may jump meanwhile
        self._splitter = BlockSplitter()
        self._pieces.clear()
        self._waiting.clear()
        self._text = self._code = self._table = None
        self._shown_open = ""
        self._open_start = 0
        self._is_ending = self._is_finished
        self._queue(self.source)
        self._drawing.clock.request(self)
