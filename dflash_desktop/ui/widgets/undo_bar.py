"""What was deleted, with the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_SMALL, GAP_TINY
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.labels import ElidedLabel
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme


class UndoBar(SurfaceFrame):
    """Hidden until there is something to undo. Signals: `undo_requested`."""

    undo_requested = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        self._words = ElidedLabel()
        undo = Button("Undo", theme=theme, kind=ButtonKind.LINK)
        undo.clicked.connect(self.undo_requested)
        close = IconButton(IconName.CLOSE, "Hide this note", theme=theme)
        close.clicked.connect(self.hide)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_SMALL, GAP_TINY, GAP_TINY, GAP_TINY)
        row.setSpacing(GAP_TINY)
        row.addWidget(self._words, 1)
        row.addWidget(undo)
        row.addWidget(close)
        self.hide()

    def show_words(self, words: str, *, spoken: str = "") -> None:
        """Offer to undo; empty words take the offer away. `spoken` is for screen readers."""
        self.setVisible(bool(words))
        if words:
            self._words.show_text(words)
            self._words.setAccessibleName(spoken or words)
