"""Something that is there for whoever wants to know more, folded until asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_SMALL
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme


class Fold(QWidget):
    """A button with what it opens below."""

    def __init__(self, title: str, content: QWidget, *, theme: Theme) -> None:
        super().__init__()
        self._content = content
        self._button = Button(
            title, theme=theme, kind=ButtonKind.LINK, icon=IconName.CHEVRON_RIGHT
        )
        self._button.setCheckable(True)
        self._button.toggled.connect(self._on_toggled)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(content)
        content.hide()

    @property
    def button(self) -> Button:
        """What opens and closes it, for the order of the keyboard."""
        return self._button

    def _on_toggled(self, is_open: bool) -> None:
        self._content.setVisible(is_open)
        self._button.show_icon(IconName.CHEVRON_DOWN if is_open else IconName.CHEVRON_RIGHT)
