"""A Markdown table: columns as wide as they need, scrolling sideways if that is too wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QTextBlockFormat,
    QTextCharFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
    QTextTableFormat,
)

from dflash_desktop.ui.chat.inline_writer import write_inline
from dflash_desktop.ui.chat.text_view import BLEED_PX, TextView
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import GAP_SMALL, SIZE_READING, interface_font

if TYPE_CHECKING:
    from markdown_it.token import Token
    from PySide6.QtGui import QResizeEvent

    from dflash_desktop.ui.chat.prose_writer import ProseWriter
    from dflash_desktop.ui.theme import Theme

MAX_ROWS: Final = 25
"""Adding a row lays the whole table out again, so a longer one goes on in a second view."""

_MAX_COLUMN_PX: Final = 320
_MIN_COLUMN_PX: Final = 72
_PADDING_PX: Final = GAP_SMALL
_SLACK_PX: Final = 6  # borders, and bold words wider than they were measured


class TableView(TextView):
    """Grows by `add_row`; `widths` are given on when the table continues in a second view."""

    def __init__(
        self, head: str, *, theme: Theme, writer: ProseWriter, widths: tuple[float, ...] = ()
    ) -> None:
        super().__init__(theme=theme)
        self._writer = writer
        self._head = head
        self._metrics = QFontMetricsF(interface_font(SIZE_READING))
        self._head_metrics = QFontMetricsF(interface_font(SIZE_READING, semibold=True))
        cells = _cells_of(writer.parse(head))
        self._widths = list(widths) or [float(_MIN_COLUMN_PX)] * len(cells)
        self._alignments = [_alignment_of(cell) for cell in cells]
        self._table = self._make_table()
        self._row_count = 0
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self.horizontalScrollBar().rangeChanged.connect(self._fit)
        if not widths:
            self._fill_row(cells, is_head=True)

    @property
    def head(self) -> str:
        """The two lines that a continuation needs."""
        return self._head

    @property
    def widths(self) -> tuple[float, ...]:
        """The columns' wanted widths in px."""
        return tuple(self._widths)

    @property
    def is_full(self) -> bool:
        """Whether the next row should go into a new view."""
        return self._row_count >= MAX_ROWS

    def add_row(self, line: str) -> None:
        """Add a row, given as its line of Markdown."""
        cells = _cells_of(self._writer.parse(f"{self._head}\n{line}"))[len(self._alignments) :]
        self._fill_row(cells, is_head=False)

    def _make_table(self) -> QTextTable:
        made = QTextTableFormat()
        made.setBorder(1)
        made.setBorderCollapse(True)
        made.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
        made.setBorderBrush(self.theme.colour(ColourRole.BORDER))
        made.setCellPadding(_PADDING_PX)
        made.setCellSpacing(0)
        made.setMargin(0)
        cursor = self.end_cursor()
        return cursor.insertTable(1, len(self._alignments), made)

    def _fill_row(self, cells: list[Token], *, is_head: bool) -> None:
        cursor = self.end_cursor()
        cursor.beginEditBlock()
        if self._row_count:
            self._table.appendRows(1)
        row = self._row_count
        self._row_count += 1
        base = QTextCharFormat(self._writer.formats.text)
        if is_head:
            base.setFont(interface_font(SIZE_READING, semibold=True))
        for column, cell in enumerate(cells[: len(self._alignments)]):
            place = self._table.cellAt(row, column)
            inner = place.firstCursorPosition()
            block = QTextBlockFormat()
            block.setAlignment(self._alignments[column])
            inner.setBlockFormat(block)
            write_inline(inner, cell.children or (), base, self._writer.formats)
            metrics = self._head_metrics if is_head else self._metrics
            words = metrics.horizontalAdvance(cell.content)
            wanted = min(float(_MAX_COLUMN_PX), words + 2 * _PADDING_PX + _SLACK_PX)
            self._widths[column] = max(self._widths[column], wanted)
            if is_head:
                look = place.format()
                look.setBackground(self.theme.colour(ColourRole.SURFACE_RAISED))
                place.setFormat(look)
        self._apply_widths()
        cursor.endEditBlock()

    def _apply_widths(self) -> None:
        room = self.viewport().width() - 2 * BLEED_PX - 2
        widths = fitted_widths(self._widths, room)
        lengths = [QTextLength(QTextLength.Type.FixedLength, width) for width in widths]
        made = self._table.format()
        if made.columnWidthConstraints() != lengths:
            made.setColumnWidthConstraints(lengths)
            made.setWidth(QTextLength(QTextLength.Type.FixedLength, sum(widths)))
            self._table.setFormat(made)

    def _height_below_text(self) -> int:
        bar = self.horizontalScrollBar()
        return bar.sizeHint().height() if bar.maximum() > 0 else 0

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the columns the new room."""
        super().resizeEvent(event)
        self._apply_widths()


def fitted_widths(wanted: list[float], room: float) -> list[float]:
    """Widths that fill no more than `room` if possible: wide columns give way first."""
    widths = list(wanted)
    excess = sum(widths) - room
    if excess <= 0:
        return widths
    spare = [max(0.0, width - _MIN_COLUMN_PX) for width in widths]
    total = sum(spare)
    if total <= 0:
        return widths
    share = min(1.0, excess / total)
    return [width - part * share for width, part in zip(widths, spare, strict=True)]


def _cells_of(tokens: list[Token]) -> list[Token]:
    """The inline tokens of all cells in order, each with the alignment of its column."""
    cells: list[Token] = []
    style = ""
    for token in tokens:
        if token.type in {"th_open", "td_open"}:
            style = str(token.attrGet("style") or "")
        elif token.type == "inline":
            token.attrSet("style", style)
            cells.append(token)
    return cells


def _alignment_of(cell: Token) -> Qt.AlignmentFlag:
    style = str(cell.attrGet("style") or "")
    if "right" in style:
        return Qt.AlignmentFlag.AlignRight
    return Qt.AlignmentFlag.AlignHCenter if "center" in style else Qt.AlignmentFlag.AlignLeft
