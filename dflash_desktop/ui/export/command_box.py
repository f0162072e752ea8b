"""Command lines to read and to copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_SMALL, SIZE_CAPTION, TextRole, code_font
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

_COPIED_MS: Final = 2000
_MOST_LINES: Final = 8


class CommandBox(QWidget):
    """`name` is what is said of the text to whoever cannot see it."""

    def __init__(self, name: str, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setFont(code_font(SIZE_CAPTION))
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setTabChangesFocus(True)
        self._text.setAccessibleName(name)
        self._copy = Button("Copy", theme=theme, kind=ButtonKind.QUIET, icon=IconName.COPY)
        self._copy.setAccessibleName(f"Copy: {name}")
        self._copy.clicked.connect(self._on_copy_clicked)
        self._name = Label(name, role=TextRole.CAPTION)
        top = QHBoxLayout()
        top.addWidget(self._name, 1)
        top.addWidget(self._copy)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL // 2)
        column.addLayout(top)
        column.addWidget(self._text)

    def show_text(self, text: str) -> None:
        """Show these lines."""
        self._text.setPlainText(text)
        lines = min(_MOST_LINES, text.count("\n") + 1)
        height = QFontMetrics(self._text.font()).lineSpacing() * lines
        frame = 2 * (self._text.frameWidth() + round(self._text.document().documentMargin()) + 4)
        bar = self._text.horizontalScrollBar().sizeHint().height()
        self._text.setFixedHeight(height + frame + bar)

    def _on_copy_clicked(self) -> None:
        QGuiApplication.clipboard().setText(self._text.toPlainText())
        self._copy.setText("Copied")
        QTimer.singleShot(_COPIED_MS, self._copy, lambda: self._copy.setText("Copy"))
