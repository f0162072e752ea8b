"""A small card over the window that goes away with a click beside it or Esc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QFrame, QVBoxLayout

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import CARD_RADIUS, GAP, GAP_MEDIUM, GAP_SMALL

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme


class Popover(QFrame):
    """Subclasses fill `rows`."""

    def __init__(self, name: str, *, theme: Theme, width: int, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._theme = theme
        self.setWindowFlag(Qt.WindowType.NoDropShadowWindowHint)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)  # for round corners
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

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card; style sheets leave a translucent window without a background."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(self._theme.colours.control_border))
        painter.setBrush(self._theme.colour(ColourRole.SURFACE))
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(area, CARD_RADIUS, CARD_RADIUS)
        painter.end()
