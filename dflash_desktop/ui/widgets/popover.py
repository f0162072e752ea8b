"""A small card over the window that goes away with a click beside it or Esc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout

from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class Popover(QFrame):
    """Subclasses fill `rows`."""

    def __init__(self, name: str, *, width: int, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("surface", "popover")
        self.setWindowFlag(Qt.WindowType.NoDropShadowWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)  # for round corners
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(name)
        self.setFixedWidth(width)
        self.rows = QVBoxLayout(self)
        self.rows.setContentsMargins(GAP, GAP, GAP, GAP)
        self.rows.setSpacing(GAP_MEDIUM)

    def open_above(self, anchor: QWidget) -> None:
        """Open over `anchor`, or under it where there is no room above."""
        self.adjustSize()
        corner = anchor.mapToGlobal(QPoint(0, -self.height() - GAP_SMALL))
        screen = anchor.screen().availableGeometry()
        if corner.y() < screen.top():
            corner = anchor.mapToGlobal(QPoint(0, anchor.height() + GAP_SMALL))
        corner.setX(max(screen.left(), min(corner.x(), screen.right() - self.width())))
        self.move(corner)
        self.show()
