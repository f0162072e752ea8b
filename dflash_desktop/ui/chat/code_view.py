"""A code block as a card: its language, a copy button, and lines that scroll sideways."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QFontMetricsF, QGuiApplication, QPainter, QPen, QTextCursor
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QSizePolicy, QVBoxLayout

from dflash_desktop.ui.chat.code_colours import CodeColours
from dflash_desktop.ui.chat.text_view import KEYBOARD_REASONS
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import (
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    SIZE_INTERFACE,
    TextRole,
    code_font,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtGui import QFocusEvent, QPaintEvent, QResizeEvent, QWheelEvent
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.chat.code_colours import Lexers
    from dflash_desktop.ui.chat.render_clock import RenderClock
    from dflash_desktop.ui.theme import Theme

_MAX_COLUMNS: Final = 1000
"""A longer line is broken on the screen, not in what is copied: its layout would take too long."""

_COPIED_MS: Final = 2000


class CodeView(SurfaceFrame):
    """Grows by `append`; the colours follow when there is time."""

    def __init__(self, language: str, *, theme: Theme, clock: RenderClock, lexers: Lexers) -> None:
        super().__init__(Surface.CARD)
        self._language = language
        self._clock = clock
        self._lexers = lexers
        self._parts: list[str] = []
        self._name = Label(language or "Text", role=TextRole.CAPTION)
        self._copy = Button("Copy", theme=theme, kind=ButtonKind.QUIET, icon=IconName.COPY)
        self._copy.setAccessibleName("Copy code")
        self._copy.clicked.connect(self._on_copy)
        self._body = _CodeBody(theme=theme)
        self._body.setAccessibleName(f"{language} code".strip())
        self._colours = CodeColours(self._body.document(), theme=theme)
        head = QHBoxLayout()
        head.setContentsMargins(GAP_MEDIUM, GAP_TINY, GAP_TINY, 0)
        head.addWidget(self._name, 1)
        head.addWidget(self._copy)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(1, 0, 1, 1)
        rows.setSpacing(0)
        rows.addLayout(head)
        rows.addWidget(self._body)
        lexers.loaded.connect(self._on_lexer_loaded)
        theme.changed.connect(self._on_theme_changed)

    @property
    def widget(self) -> QWidget:
        """For the render clock."""
        return self

    @property
    def code(self) -> str:
        """The code as it arrived."""
        return "".join(self._parts)

    def append(self, text: str) -> None:
        """Add text at the end."""
        self._parts.append(text)
        self._body.append_text(text)
        self._clock.request(self)

    def complete(self) -> None:
        """No more code will come."""
        self._colours.complete()
        self._clock.request(self)

    def draw_some(self) -> bool:
        """Colour a few more lines."""
        lexer = self._lexers.lexer(self._language)
        return lexer is not None and self._colours.advance(lexer)

    def _on_lexer_loaded(self, name: str) -> None:
        if name == self._language.lower():
            lexer = self._lexers.lexer(self._language)
            if lexer is not None:
                self._name.show_text(lexer.name)
            self._clock.request(self)

    def _on_theme_changed(self) -> None:
        self._colours.restart()
        self._clock.request(self)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.code.rstrip("\n"))
        self._copy.setText("Copied")
        self._copy.show_icon(IconName.CHECK)
        QTimer.singleShot(_COPIED_MS, self._copy, self._show_copy)

    def _show_copy(self) -> None:
        self._copy.setText("Copy")
        self._copy.show_icon(IconName.COPY)


class _CodeBody(QPlainTextEdit):
    """As high as its lines; wider lines scroll."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._column = 0
        self._held_newline = ""
        self._has_ring = False
        self.setProperty("kind", "bare")
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(code_font(SIZE_INTERFACE))
        self.document().setDefaultFont(code_font(SIZE_INTERFACE))
        self.document().setDocumentMargin(GAP_TINY)
        self.setViewportMargins(GAP_SMALL, 0, GAP_SMALL, 0)
        self.setTabStopDistance(4 * self.fontMetrics().horizontalAdvance(" "))
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.horizontalScrollBar().rangeChanged.connect(self._fit)
        self.blockCountChanged.connect(self._fit)
        self._fit()

    def append_text(self, text: str) -> None:
        text = self._held_newline + text
        # The end of the last line would show as one more, empty line.
        self._held_newline = "\n" if text.endswith("\n") else ""
        text = text.removesuffix("\n")
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText("\n".join(self._broken(text)))

    def _broken(self, text: str) -> list[str]:
        shown: list[str] = []
        for index, line in enumerate(text.split("\n")):
            room = _MAX_COLUMNS - self._column if index == 0 else _MAX_COLUMNS
            parts = [line[:room]]
            rest = line[room:]
            parts += [rest[i : i + _MAX_COLUMNS] for i in range(0, len(rest), _MAX_COLUMNS)]
            self._column = len(parts[-1]) + (self._column if index == 0 and len(parts) == 1 else 0)
            shown += parts
        return shown

    def _fit(self) -> None:
        metrics = QFontMetricsF(self.document().defaultFont())
        # As Qt's layout rounds them: one by one.
        line = math.ceil(metrics.ascent()) + math.ceil(metrics.descent())
        bar = self.horizontalScrollBar()
        below = bar.sizeHint().height() if bar.maximum() > 0 else GAP_SMALL
        # One more: with fonts of fractional height Qt takes a last line that just fits for cut.
        height = self.blockCount() * line + 2 * GAP_TINY + below + 1
        if height != self.height():
            self.setFixedHeight(height)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The scroll bar may come or go."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Sideways here; up and down is the transcript's."""
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the ring when the keyboard brought the focus here."""
        self._has_ring = event.reason() in KEYBOARD_REASONS
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the ring away."""
        self._has_ring = False
        super().focusOutEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the code and the focus ring."""
        super().paintEvent(event)
        if self._has_ring:
            painter = QPainter(self.viewport())
            painter.setPen(QPen(self._theme.colour(ColourRole.ACCENT), 2))
            painter.drawRect(QRectF(self.viewport().rect()).adjusted(1, 1, -1, -1))
            painter.end()
