"""A bar with a sentence, numbers and a way to stop it, for use inside a card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from dflash_desktop.ui.theme import GAP_SMALL, SIZE_CAPTION, TextRole, interface_font
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

_BAR_STEPS: Final = 1000


class ProgressStrip(QWidget):
    """Hidden until `show_progress`. Signal: `cancelled`."""

    cancelled = Signal()

    def __init__(self, name: str, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._sentence = ElidedLabel()
        self._bar = QProgressBar()
        self._bar.setRange(0, _BAR_STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(name)
        self._numbers = Label(role=TextRole.CAPTION)
        self._numbers.setFont(interface_font(SIZE_CAPTION, tabular=True))
        self._cancel = Button("Cancel", theme=theme)
        self._cancel.clicked.connect(self.cancelled)
        bottom = QHBoxLayout()
        bottom.addWidget(self._numbers, 1)
        bottom.addWidget(self._cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._sentence)
        column.addWidget(self._bar)
        column.addLayout(bottom)
        self.hide()

    def show_progress(self, sentence: str, numbers: str, share: float) -> None:
        """`share` of the whole, 0 to 1."""
        self._sentence.show_text(sentence)
        self._numbers.show_text(numbers)
        self._bar.setValue(round(max(0.0, min(1.0, share)) * _BAR_STEPS))
        self.show()

    def take_focus(self) -> None:
        """Put the keyboard on the way to stop it."""
        self._cancel.setFocus()
