"""A small picture that can be pressed; one that is missing says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QAbstractButton

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pictures.pixels import draw_rounded, thumbnail_pixmap

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtGui import QPaintEvent, QPixmap
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

RADIUS_PX: Final = 6
_RING_PX: Final = 2
_ICON_SHARE: Final = 0.3


class PictureThumbnail(QAbstractButton):
    """Draws the file of a kept thumbnail, cut to a square. Signals: `clicked`."""

    def __init__(self, *, side_px: int, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._side_px = side_px
        self._path: Path | None = None
        self._pixmap: QPixmap | None = None
        self._is_missing = False
        self.setFixedSize(side_px, side_px)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)

    @property
    def is_missing(self) -> bool:
        """Whether there was nothing to draw when it was last tried."""
        return self._is_missing

    def show_file(self, path: Path | None, name: str) -> None:
        """Draw this file; None while there is none yet. `name` is for screen readers."""
        self._path = path
        self._pixmap = None
        self._is_missing = False
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.update()

    def sizeHint(self) -> QSize:
        """A square."""
        return QSize(self._side_px, self._side_px)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, its border, and the ring of the focus."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect())
        pixmap = self._drawn()
        if pixmap is not None:
            draw_rounded(painter, area, pixmap, RADIUS_PX)
        else:
            self._paint_empty(painter, area)
        ring = _RING_PX if self.hasFocus() else 1
        ink = ColourRole.ACCENT if self.hasFocus() or self.underMouse() else ColourRole.BORDER
        painter.setPen(QPen(self._theme.colour(ink), ring))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        half = ring / 2
        painter.drawRoundedRect(area.adjusted(half, half, -half, -half), RADIUS_PX, RADIUS_PX)
        painter.end()

    def event(self, event: QEvent) -> bool:
        """Another screen may be sharper, or show other colours."""
        if event.type() in (QEvent.Type.DevicePixelRatioChange, QEvent.Type.ScreenChangeInternal):
            self._pixmap = None
            self.update()
        return super().event(event)

    def _drawn(self) -> QPixmap | None:
        """Read when it is first seen, so that what is scrolled away costs nothing."""
        if self._pixmap is None and self._path is not None and not self._is_missing:
            pixmap = thumbnail_pixmap(self._path, self._side_px, widget=self)
            self._is_missing = pixmap.isNull()
            if not self._is_missing:
                self._pixmap = pixmap
        return self._pixmap

    def _paint_empty(self, painter: QPainter, area: QRectF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour(ColourRole.SURFACE_RAISED))
        painter.drawRoundedRect(area, RADIUS_PX, RADIUS_PX)
        if self._is_missing:
            side = max(16, round(self._side_px * _ICON_SHARE))
            icon = self._theme.icon(IconName.IMAGE_OFF, ColourRole.TEXT_MUTED)
            left = round(area.center().x() - side / 2)
            icon.paint(painter, left, round(area.center().y() - side / 2), side, side)
