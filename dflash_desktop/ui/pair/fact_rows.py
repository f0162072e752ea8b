"""Names and values in two columns, where long values wrap instead of being cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from dflash_desktop.ui.pair.words import breakable
from dflash_desktop.ui.theme import GAP, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME_WIDTH: Final = 128
# Not by the keyboard too: each row would be a stop of Tab, and the report can be copied whole.
_SELECTABLE: Final = Qt.TextInteractionFlag.TextSelectableByMouse


class FactRows(QWidget):
    """The values can be selected with the mouse."""

    def __init__(
        self, facts: Iterable[tuple[str, str]] = (), *, name_width: int = _NAME_WIDTH
    ) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_TINY)
        grid.setColumnMinimumWidth(0, name_width)
        grid.setColumnStretch(1, 1)
        for row, (name, value) in enumerate(facts):
            words = Label(breakable(value), wraps=True)
            words.setTextInteractionFlags(_SELECTABLE)
            words.setAccessibleName(f"{name}: {value}")
            name_label = Label(name, role=TextRole.MUTED)
            grid.addWidget(name_label, row, 0, alignment=Qt.AlignmentFlag.AlignTop)
            grid.addWidget(words, row, 1)
