"""Says beside attached pictures that the model reads only text, and leads to one that sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from dflash_desktop.ui.theme import GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme


class SightNote(QWidget):
    """Hidden unless pictures wait for a model without sight. Signals: `models_requested`."""

    models_requested = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._model_title = ""
        self._sees_pictures = True
        self._count = 0
        self._words = Label(role=TextRole.WARN, wraps=True)
        choose = Button("Choose a model that sees", theme=theme, kind=ButtonKind.LINK)
        choose.setToolTip("Your message and its pictures wait here")
        choose.clicked.connect(self.models_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_SMALL, 0, 0, 0)
        row.setSpacing(GAP_SMALL)
        row.addWidget(self._words, 1)
        row.addWidget(choose)
        self.hide()

    @property
    def is_needed(self) -> bool:
        """Whether these pictures cannot be sent to this model."""
        return self._count > 0 and bool(self._model_title) and not self._sees_pictures

    def show_pictures(self, count: int) -> None:
        """How many wait."""
        self._count = count
        self._show()

    def show_model(self, title: str, *, sees_pictures: bool) -> None:
        """Which model answers; "" while there is none."""
        self._model_title = title
        self._sees_pictures = sees_pictures
        self._show()

    def _show(self) -> None:
        what = "this picture" if self._count == 1 else "these pictures"
        self._words.show_text(f"“{self._model_title}” reads text only and cannot see {what}.")
        self.setVisible(self.is_needed)
