"""An icon in the colour of its role, with words beside it that say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from dflash_desktop.ui.theme import GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from dflash_desktop.ui.pair.words import Look
    from dflash_desktop.ui.theme import Theme

_ICON_PX = 20


class IconLine(QWidget):
    """One sentence with its sign."""

    def __init__(
        self, look: Look, text: str, *, theme: Theme, role: TextRole = TextRole.STRONG
    ) -> None:
        super().__init__()
        self._theme = theme
        self._look = look
        self._icon = QLabel()
        self._icon.setFixedSize(_ICON_PX, _ICON_PX)
        self.words = Label(text, role=role, wraps=True)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP_SMALL)
        row.addWidget(self._icon, alignment=Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.words, 1)
        self._draw_icon()
        theme.changed.connect(self._draw_icon)

    def show_line(self, look: Look, text: str) -> None:
        """Change both."""
        self._look = look
        self.words.show_text(text)
        self._draw_icon()

    def _draw_icon(self) -> None:
        name, role = self._look
        self._icon.setPixmap(self._theme.icon(name, role).pixmap(_ICON_PX, _ICON_PX))
