"""The question in a transfer's card: what becomes of the bytes that have arrived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.theme import GAP_SMALL
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme


class CancelChoice(QWidget):
    """Hidden at first. Signals: `removed(keep_files)`, `closed` to go on with the transfer."""

    removed = Signal(bool)
    closed = Signal()

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = Label(wraps=True)
        self._keep = Button("Keep what arrived", theme=theme)
        self._keep.setToolTip("A later download of the same model goes on from here.")
        self._keep.clicked.connect(lambda: self.removed.emit(True))
        self._delete = Button("", theme=theme)
        self._delete.clicked.connect(lambda: self.removed.emit(False))
        go_on = Button("Do not cancel", theme=theme, kind=ButtonKind.QUIET)
        go_on.clicked.connect(self.closed)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self.closed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._words)
        column.addLayout(FlowRow(self._keep, self._delete, go_on))
        self.hide()

    def show_choice(self, arrived_bytes: int) -> None:
        """Name what would be kept or deleted."""
        arrived = format_bytes(arrived_bytes)
        self._words.show_text(f"Cancel this download? {arrived} have arrived.")
        self._delete.setText(f"Delete {arrived}")

    def take_focus(self) -> None:
        """Put the keyboard on the answer that loses nothing."""
        self._keep.setFocus()
