"""A card for something that takes a while: what happens, how far it is, and a way to stop it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout

from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme
    from dflash_desktop.ui.widgets.labels import ElidedLabel

_BAR_STEPS: Final = 1000


class ProgressCard(SurfaceFrame):
    """`sentence` shows the first line, cut or wrapped as its page needs. Signal: `cancelled`."""

    cancelled = Signal()

    def __init__(self, *, sentence: Label | ElidedLabel, name: str, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        self._sentence = sentence
        self._bar = QProgressBar()
        self._bar.setRange(0, _BAR_STEPS)
        self._bar.setTextVisible(False)
        self._bar.setAccessibleName(name)
        self._numbers = Label(role=TextRole.CAPTION)
        cancel = Button("Cancel", theme=theme)
        cancel.clicked.connect(self.cancelled)
        bottom = QHBoxLayout()
        bottom.addWidget(self._numbers, 1)
        bottom.addWidget(cancel)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._sentence)
        column.addWidget(self._bar)
        column.addLayout(bottom)

    def show_progress(self, sentence: str, numbers: str, share: float) -> None:
        """`share` of the whole, 0 to 1."""
        self._sentence.show_text(sentence)
        self._numbers.show_text(numbers)
        self._bar.setValue(round(share * _BAR_STEPS))
