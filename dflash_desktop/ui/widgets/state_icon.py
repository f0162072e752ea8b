"""The sign of a state, beside words that say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QLabel

from dflash_desktop.ui.theme import ICON_SIZE

if TYPE_CHECKING:
    from dflash_desktop.ui.colours import ColourRole
    from dflash_desktop.ui.icons import IconName
    from dflash_desktop.ui.theme import Theme


class StateIcon(QLabel):
    """Empty at first; drawn again whenever the theme changes."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._look: tuple[IconName, ColourRole] | None = None
        self.setFixedSize(ICON_SIZE, ICON_SIZE)
        theme.changed.connect(self._draw)

    def show_state(self, icon: IconName, role: ColourRole) -> None:
        """Show another one."""
        if (icon, role) != self._look:
            self._look = icon, role
            self._draw()

    def _draw(self) -> None:
        if self._look is not None:
            drawn = self._theme.icon(*self._look)
            size = QSize(ICON_SIZE, ICON_SIZE)
            self.setPixmap(drawn.pixmap(size, self.devicePixelRatioF()))
