"""The hub pairs that a person entered: each can be got, or taken off the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, IconButton
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme


class OwnPairList(QWidget):
    """Signals: `get_requested(pair_id)`, `remove_requested(pair_id)`."""

    get_requested = Signal(str)
    remove_requested = Signal(str)

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._get_buttons: dict[str, Button] = {}
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(GAP_SMALL)
        self.hide()

    def show_pairs(self, pairs: tuple[tuple[str, str], ...]) -> None:
        """The pairs as id and title; without any the list is not there."""
        self._get_buttons = {}
        empty_layout(self._rows)
        if pairs:
            self._rows.addWidget(Label("In the setup's list:", role=TextRole.MUTED))
        for pair_id, title in pairs:
            self._rows.addWidget(self._built_row(pair_id, title))
        self.setVisible(bool(pairs))

    def focus_pair(self, pair_id: str) -> None:
        """Put the keyboard on getting this pair."""
        button = self._get_buttons.get(pair_id)
        if button is not None:
            button.show()
            button.setFocus()

    def _built_row(self, pair_id: str, title: str) -> QWidget:
        get = Button("Get it", theme=self._theme, icon=IconName.DOWNLOAD)
        get.setAccessibleName(f"Get {title}")
        get.clicked.connect(lambda: self.get_requested.emit(pair_id))
        remove = IconButton(
            IconName.CLOSE,
            f"Take {title} off the list. What was downloaded stays.",
            theme=self._theme,
        )
        remove.clicked.connect(lambda: self.remove_requested.emit(pair_id))
        self._get_buttons[pair_id] = get
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP_SMALL)
        row.addWidget(ElidedLabel(title), 1)
        row.addWidget(get)
        row.addWidget(remove)
        return line
