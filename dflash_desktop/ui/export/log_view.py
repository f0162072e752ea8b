"""The log of an export as it grows: follows its end only while one reads there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_SMALL, SIZE_CAPTION, TextRole, code_font
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.ui.theme import Theme

MOST_LINES: Final = 10_000
_HEIGHT: Final = 220


class LogView(QWidget):
    """The lines with a way to their end. `text` is the field itself."""

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._count = 0
        self._last = ""
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setUndoRedoEnabled(False)
        self.text.setMaximumBlockCount(MOST_LINES)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(code_font(SIZE_CAPTION))
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName("Log of the export")
        self.text.setFixedHeight(_HEIGHT)
        self.text.verticalScrollBar().valueChanged.connect(self._show_jump)
        self._jump = Button(
            "Newest lines", theme=theme, kind=ButtonKind.QUIET, icon=IconName.ARROW_DOWN
        )
        self._jump.clicked.connect(self.jump_to_end)
        self._jump.hide()
        top = QHBoxLayout()
        top.addWidget(Label("Log", role=TextRole.STRONG), 1)
        top.addWidget(self._jump)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addLayout(top)
        column.addWidget(self.text)

    @property
    def is_at_end(self) -> bool:
        """Whether one reads the newest lines."""
        bar = self.text.verticalScrollBar()
        return bar.value() >= bar.maximum()

    def clear(self) -> None:
        """Begin anew, with another export."""
        self.text.clear()
        self._count, self._last = 0, ""

    def show_lines(self, lines: Sequence[str], count: int) -> None:
        """`lines` are the last ones of `count`; only what is new is added.

        The last line may have changed since: a progress that a program writes over itself.
        """
        new = min(len(lines), count - self._count)
        if new < 0:  # another run of the same export
            self.clear()
            new = len(lines)
        was_at_end = self.is_at_end
        old = lines[len(lines) - new - 1] if len(lines) > new else self._last
        if self._count and old != self._last:
            self._replace_last(old)
        if new:
            self._append(lines[len(lines) - new :], was_at_end=was_at_end)
        self._count, self._last = count, lines[-1] if lines else ""
        if was_at_end:
            self.jump_to_end()
        self._show_jump()

    def jump_to_end(self) -> None:
        """Go on with the newest lines."""
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())
        self.text.horizontalScrollBar().setValue(0)

    def _append(self, lines: Sequence[str], *, was_at_end: bool) -> None:
        bar = self.text.verticalScrollBar()
        place = bar.value()
        is_empty = self.text.document().isEmpty()
        before = 0 if is_empty else self.text.blockCount()
        self.text.appendPlainText("\n".join(lines))
        dropped = before + len(lines) - self.text.blockCount()
        if not was_at_end:
            # What was taken off the top moves everything up under whoever reads.
            bar.setValue(max(0, place - max(0, dropped)))

    def _replace_last(self, line: str) -> None:
        cursor = QTextCursor(self.text.document().lastBlock())
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(line)

    def _show_jump(self) -> None:
        self._jump.setVisible(not self.is_at_end)
