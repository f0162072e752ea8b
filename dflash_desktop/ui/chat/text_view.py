"""Read-only rich text as high as its content, which loads nothing and opens nothing unasked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QMimeData, QPointF, QRectF, Qt, QUrl, Signal
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
CODE_PADDING: Final = "\u2007"
"""Around inline code, inside its background: unbreakable, rare, and left out of what is copied."""

_QUOTE_BAR_PX: Final = 3
_MARK_GAP_PX: Final = 8
LIST_MARK_PROPERTY: Final = QTextFormat.Property.UserProperty.value + 1
"""Qt's own lists put the mark right at the text and leave it out of what is copied."""

_RING_PX: Final = 2
KEYBOARD_REASONS: Final = frozenset(
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
        self._is_marked = False
        self.setFixedHeight(0)
        self.anchorClicked.connect(self._on_anchor_clicked)

    def end_cursor(self) -> QTextCursor:
        """A cursor behind the last letter."""
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        return cursor

    def expect_marks(self) -> None:
        """Draw list marks and bars beside quotations from now on."""
        self._is_marked = True

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
        self._has_ring = event.reason() in KEYBOARD_REASONS
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
        """Draw the text, what stands beside it, and the focus ring."""
        super().paintEvent(event)
        if not self._is_marked and not self._has_ring:
            return
        painter = QPainter(self.viewport())
        if self._is_marked:
            self._paint_marks(painter, QRectF(event.rect()))
        if self._has_ring:
            inset = _RING_PX / 2
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(self.theme.colour(ColourRole.ACCENT), _RING_PX))
            area = QRectF(self.viewport().rect()).adjusted(inset, inset, -inset, -inset)
            painter.drawRoundedRect(area, BLEED_PX, BLEED_PX)
        painter.end()

    def _paint_marks(self, painter: QPainter, exposed: QRectF) -> None:
        layout = self.document().documentLayout()
        painter.setFont(interface_font(SIZE_READING))
        block = self.cursorForPosition(exposed.topLeft().toPoint()).block()
        while block.isValid():
            area = layout.blockBoundingRect(block)
            if area.top() > exposed.bottom():
                break
            if mark := list_mark(block):
                self._paint_list_mark(painter, block, area, mark)
            if level := quote_level(block):
                below = block.next()
                goes_on = below.isValid() and quote_level(below) > 0
                end = layout.blockBoundingRect(below) if goes_on else area
                for number in range(level):
                    x = BLEED_PX + INDENT_PX * number
                    bar = QRectF(x, area.top(), _QUOTE_BAR_PX, end.bottom() - area.top())
                    painter.fillRect(bar, self.theme.colour(ColourRole.BORDER))
            block = block.next()

    def _paint_list_mark(
        self, painter: QPainter, block: QTextBlock, area: QRectF, mark: str
    ) -> None:
        line = block.layout().lineAt(0)
        if not line.isValid():
            return
        right = BLEED_PX + block.blockFormat().indent() * INDENT_PX - _MARK_GAP_PX
        baseline = area.top() + line.y() + line.ascent()
        width = painter.fontMetrics().horizontalAdvance(mark)
        painter.setPen(self.theme.colour(ColourRole.TEXT_MUTED))
        painter.drawText(QPointF(right - width, baseline), mark)


def quote_level(block: QTextBlock) -> int:
    """How deep in quotations a block stands."""
    return int(block.blockFormat().intProperty(QTextFormat.Property.BlockQuoteLevel))


def list_mark(block: QTextBlock) -> str:
    """What stands before a list item, "•" or "3."; "" for other blocks."""
    return str(block.blockFormat().stringProperty(LIST_MARK_PROPERTY))


def _selected_text(selection: QTextCursor) -> str:
    start, end = selection.selectionStart(), selection.selectionEnd()
    document = selection.document()
    block = document.findBlock(start)
    lines: list[str] = []
    while block.isValid() and block.position() <= end:
        first = max(start - block.position(), 0)
        line = block.text()[first : end - block.position()]
        if first == 0 and (mark := list_mark(block)):
            depth = block.blockFormat().indent() - 1
            line = f"{'  ' * depth}{mark} {line}"
        lines.append(line)
        block = block.next()
    return "\n".join(lines).replace("\u2028", "\n").replace(CODE_PADDING, "")
