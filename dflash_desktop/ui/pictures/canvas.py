"""A picture that can be enlarged at the pointer and moved about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName

if TYPE_CHECKING:
    from PySide6.QtGui import QImage, QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent

    from dflash_desktop.ui.theme import Theme

ZOOM_STEP: Final = 1.25
MAX_SCALE: Final = 16.0
_WHEEL_NOTCH: Final = 120
_SHOWS_PIXELS_FROM: Final = 3.0
"""From here on each pixel is a square: who enlarges that far wants to see what is there."""
_PAN_SHARE: Final = 0.15
_ICON_PX: Final = 48


class PictureCanvas(QWidget):
    """Scale 1 is one pixel of the picture for one of the screen, whatever the screen's ratio is.

    Signals: `scale_changed(float)`.
    """

    scale_changed = Signal(float)

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._levels: tuple[QImage, ...] = ()
        self._is_missing = False
        self._fits = True
        self._scale = 1.0
        self._centre = QPointF()  # the point of the picture in the middle of the widget
        self._grabbed_at: QPointF | None = None
        self.setMinimumSize(120, 80)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # its keys are the viewer's
        theme.changed.connect(self.update)

    @property
    def scale(self) -> float:
        """Screen pixels for one of the picture."""
        return self._scale

    @property
    def has_picture(self) -> bool:
        """Whether there is something to look at."""
        return bool(self._levels)

    @property
    def is_fitted(self) -> bool:
        """Whether the picture follows the size of the widget."""
        return self._fits

    def show_levels(self, levels: tuple[QImage, ...], *, is_missing: bool = False) -> None:
        """Show a picture as `read_levels` gives it; empty while it is being read, or missing."""
        self._levels = levels
        self._is_missing = is_missing
        self.fit()

    def fit(self) -> None:
        """All of it, never enlarged."""
        self._fits = True
        self._scale = self._fitting_scale()
        self._centre = self._middle()
        self._changed()

    def show_full_size(self) -> None:
        """100 %, around what is in the middle."""
        self._zoom_to(1.0, QPointF(self.rect().center()))

    def zoom(self, factor: float, at: QPointF | None = None) -> None:
        """Enlarge by a factor; the point under `at` (in the widget) stays under it."""
        self._zoom_to(self._scale * factor, at or QPointF(self.rect().center()))

    def pan(self, dx: float, dy: float) -> None:
        """Move by shares of the widget's size."""
        step = QPointF(dx * self.width(), dy * self.height()) * _PAN_SHARE
        self._move_by(step * self._ratio())

    def picture_point(self, at: QPointF) -> QPointF:
        """The point of the picture under a point of the widget."""
        from_middle = at - QPointF(self.rect().center())
        return self._centre + from_middle * (self.devicePixelRatioF() / self._scale)

    # --- events ---------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture with a fine line around it, or that there is none."""
        painter = QPainter(self)
        if not self._levels:
            if self._is_missing:
                icon = self._theme.icon(IconName.IMAGE_OFF, ColourRole.TEXT_MUTED)
                middle = self.rect().center()
                half = _ICON_PX // 2
                icon.paint(painter, middle.x() - half, middle.y() - half, _ICON_PX, _ICON_PX)
            painter.end()
            return
        area = self._area()
        is_smooth = self._scale < _SHOWS_PIXELS_FROM
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, is_smooth)
        painter.drawImage(area, self._level_for(area))
        painter.setPen(QPen(self._theme.colour(ColourRole.BORDER), 0))
        painter.drawRect(area)
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A fitted picture stays fitted."""
        super().resizeEvent(event)
        if self._fits:
            self.fit()
        else:
            self._hold()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom at the pointer."""
        notches = event.angleDelta().y() / _WHEEL_NOTCH
        if notches:
            self.zoom(ZOOM_STEP**notches, event.position())
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the picture."""
        if event.button() is Qt.MouseButton.LeftButton:
            self._grabbed_at = event.position()
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
        else:
            super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """It goes with the pointer."""
        if self._grabbed_at is not None:
            moved = event.position() - self._grabbed_at
            self._grabbed_at = event.position()
            self._move_by(-moved * self._ratio())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let go."""
        self._grabbed_at = None
        self.unsetCursor()
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """From all of it to 100 % at the pointer, and back."""
        if self._fits and self._scale < 1:
            self._zoom_to(1.0, event.position())
        else:
            self.fit()

    # --- geometry -------------------------------------------------------------------------------

    def _zoom_to(self, scale: float, at: QPointF) -> None:
        if not self._levels:
            return
        kept = self.picture_point(at)
        self._fits = False
        self._scale = max(min(self._fitting_scale(), 1.0), min(scale, MAX_SCALE))
        from_middle = at - QPointF(self.rect().center())
        self._centre = kept - from_middle * self._ratio()
        self._hold()
        self._changed()

    def _move_by(self, in_picture: QPointF) -> None:
        self._centre += in_picture
        self._hold()
        self.update()

    def _hold(self) -> None:
        """Keep the picture in sight: no edge goes further in than it has to."""
        if not self._levels:
            return
        full = self._levels[0]
        ratio = self._ratio()
        x = _held(self._centre.x(), full.width(), self.width() * ratio)
        y = _held(self._centre.y(), full.height(), self.height() * ratio)
        self._centre = QPointF(x, y)

    def _changed(self) -> None:
        self.update()
        self.scale_changed.emit(self._scale)

    def _ratio(self) -> float:
        """Pixels of the picture for one of the widget's."""
        return self.devicePixelRatioF() / self._scale

    def _middle(self) -> QPointF:
        if not self._levels:
            return QPointF()
        return QPointF(self._levels[0].width() / 2, self._levels[0].height() / 2)

    def _fitting_scale(self) -> float:
        if not self._levels or not self.width() or not self.height():
            return 1.0
        full, ratio = self._levels[0], self.devicePixelRatioF()
        room = min(self.width() * ratio / full.width(), self.height() * ratio / full.height())
        return min(1.0, room)

    def _area(self) -> QRectF:
        """Where the whole picture lies in the widget."""
        full = self._levels[0]
        share = 1 / self._ratio()
        corner = QPointF(self.rect().center()) - self._centre * share
        return QRectF(corner.x(), corner.y(), full.width() * share, full.height() * share)

    def _level_for(self, area: QRectF) -> QImage:
        """The smallest level that has all the pixels which the screen can show."""
        needed = area.width() * self.devicePixelRatioF()
        return next(
            (level for level in reversed(self._levels) if level.width() >= needed), self._levels[0]
        )


def _held(centre: float, length: float, shown: float) -> float:
    """The centre of a line of which `shown` is in sight."""
    if length <= shown:
        return length / 2
    return max(shown / 2, min(centre, length - shown / 2))
