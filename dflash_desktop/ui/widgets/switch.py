"""A switch: on or off, at once, with its state in words beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QAbstractButton

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import CONTROL_HEIGHT

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

_TRACK_WIDTH = 36
_TRACK_HEIGHT = 20
_RING = 2


class Switch(QAbstractButton):
    """`label` is its accessible name; connect to `toggled` or, for clicks only, `clicked`."""

    def __init__(self, label: str, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setCheckable(True)
        self.setAccessibleName(label)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """The track, and room around it for the focus ring."""
        return QSize(_TRACK_WIDTH + 4 * _RING, CONTROL_HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Never smaller than its hint."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the track, the knob and the focus ring."""
        colour = self._theme.colour
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        track = QRectF(0, 0, _TRACK_WIDTH, _TRACK_HEIGHT)
        track.moveCenter(QRectF(self.rect()).center())
        is_on = self.isChecked()
        fill = colour(ColourRole.ACCENT if is_on else ColourRole.SURFACE)
        edge = colour(ColourRole.ACCENT if is_on else ColourRole.TEXT_MUTED)
        knob_ink = colour(ColourRole.ACCENT_TEXT if is_on else ColourRole.TEXT_MUTED)
        painter.setOpacity(1.0 if self.isEnabled() else 0.45)
        painter.setPen(QPen(edge, 1))
        painter.setBrush(fill)
        painter.drawRoundedRect(track.adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        radius = _TRACK_HEIGHT / 2 - 4
        x = track.right() - 4 - radius if is_on else track.left() + 4 + radius
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(knob_ink)
        painter.drawEllipse(
            QRectF(x - radius, track.center().y() - radius, 2 * radius, 2 * radius)
        )
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour(ColourRole.ACCENT), _RING))
            painter.drawRoundedRect(track.adjusted(-3, -3, 3, 3), 13, 13)
        painter.end()
