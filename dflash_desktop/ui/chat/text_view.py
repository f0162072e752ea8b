"""Read-only rich text as high as its content, which loads nothing and opens nothing unasked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QMimeData, QRectF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QPainter,
    QPen,
    QTextBlock,
    QTextCursor,
    QTextFormat,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QSizePolicy, QTextBrowser

from dflash_desktop.ui.chat.markdown_blocks import is_safe_link
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import SIZE_READING, interface_font

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QPaintEvent, QResizeEvent, QWheelEvent
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

BLEED_PX: Final = 4
"""Room around the text for the focus ring; everything beside it is inset by as much."""

INDENT_PX: Final = 24
_QUOTE_BAR_PX: Final = 3
_RING_PX: Final = 2
_KEYBOARD_REASONS: Final = frozenset(
    {Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason}
)


class TextView(QTextBrowser):
    """Signals: `link_clicked(str)` with a target that passed `is_safe_link`."""

    link_clicked = Signal(str)

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.setProperty("kind", "bare")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setUndoRedoEnabled(False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextBrowserInteraction
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.DefaultContextMenu)
        document = self.document()
        document.setDefaultFont(interface_font(SIZE_READING))
        document.setDocumentMargin(BLEED_PX)
        document.setIndentWidth(INDENT_PX)
        document.documentLayout().documentSizeChanged.connect(self._fit)
        self._has_ring = False
        self._has_quotes = False
        self.setFixedHeight(0)
        self.anchorClicked.connect(self._on_anchor_clicked)

    def end_cursor(self) -> QTextCursor:
        """A cursor behind the last letter."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def expect_quotes(self) -> None:
        """Draw bars beside quotations from now on."""
        self._has_quotes = True

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Nothing that an answer names is ever loaded."""
        return None

    def createMimeDataFromSelection(self) -> QMimeData:
        """Plain text with the marks of lists, which Qt leaves out."""
        data = QMimeData()
        data.setText(_selected_text(self.textCursor()))
        return data

    def _fit(self) -> None:
        height = math.ceil(self.document().size().height()) + self._height_below_text()
        if height != self.height():
            self.setFixedHeight(height)

    def _height_below_text(self) -> int:
        return 0

    def _on_anchor_clicked(self, url: QUrl) -> None:
        target = url.toString()
        if is_safe_link(target):
            self.link_clicked.emit(target)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A new width means a new height."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The transcript scrolls, not the text in it."""
        event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring when the keyboard brought the focus here."""
        self._has_ring = event.reason() in _KEYBOARD_REASONS
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        self._has_ring = False
        super().focusOutEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Fit again after a change of font."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, the bars of quotations and the focus ring."""
        super().paintEvent(event)
        if not self._has_quotes and not self._has_ring:
            return
        painter = QPainter(self.viewport())
        if self._has_quotes:
            self._paint_quote_bars(painter, QRectF(event.rect()))
        if self._has_ring:
            inset = _RING_PX / 2
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self.theme.colour(ColourRole.ACCENT), _RING_PX))
            area = QRectF(self.viewport().rect()).adjusted(inset, inset, -inset, -inset)
            painter.drawRoundedRect(area, BLEED_PX, BLEED_PX)
        painter.end()

    def _paint_quote_bars(self, painter: QPainter, exposed: QRectF) -> None:
        layout = self.document().documentLayout()
        colour = self.theme.colour(ColourRole.BORDER)
        block = self.cursorForPosition(exposed.topLeft().toPoint()).block()
        while block.isValid():
            area = layout.blockBoundingRect(block)
            if area.top() > exposed.bottom():
                break
            level = quote_level(block)
            below = block.next()
            goes_on = below.isValid() and quote_level(below) > 0
            bottom = layout.blockBoundingRect(below).bottom() if goes_on else area.bottom()
            for number in range(level):
                x = BLEED_PX + INDENT_PX * number
                painter.fillRect(QRectF(x, area.top(), _QUOTE_BAR_PX, bottom - area.top()), colour)
            block = below


def quote_level(block: QTextBlock) -> int:
    """How deep in quotations a block stands."""
    return int(block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel))


def _selected_text(selection: QTextCursor) -> str:
    start, end = selection.selectionStart(), selection.selectionEnd()
    document = selection.document()
    block = document.findBlock(start)
    lines: list[str] = []
    while block.isValid() and block.position() <= end:
        first = max(start - block.position(), 0)
        line = block.text()[first : end - block.position()]
        items = block.textList()
        if first == 0 and items is not None:
            depth = items.format().indent() - 1
            mark = items.itemText(block).strip() or "•"
            line = f"{'  ' * depth}{mark} {line}"
        lines.append(line)
        block = block.next()
    return "\n".join(lines).replace("\u2028", "\n").replace("\u00a0", " ")
