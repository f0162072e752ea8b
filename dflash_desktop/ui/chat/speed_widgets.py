"""What the speed panel draws by hand: the live line and the bar of the context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from dflash_desktop.ui.chat.speed_history import KEPT_POINTS
from dflash_desktop.ui.colours import ColourRole

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from dflash_desktop.ui.theme import Theme

_SPARKLINE_HEIGHT: Final = 48
_BAR_HEIGHT: Final = 6
_DOT_PX: Final = 3.0
NEARLY_FULL_SHARE: Final = 0.9


class Sparkline(QWidget):
    """The rates of one answer as a line; a dashed line marks the speed without a draft."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._points: tuple[float, ...] = ()
        self._baseline: float | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Speed of this answer")
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(120, _SPARKLINE_HEIGHT)

    def show_points(self, points: tuple[float, ...], baseline: float | None) -> None:
        """Rates in tokens per second, oldest first."""
        if (points, baseline) != (self._points, self._baseline):
            self._points, self._baseline = points, baseline
            self.setAccessibleDescription(
                f"between {min(points):.0f} and {max(points):.0f} tokens per second"
                if points
                else "nothing measured yet"
            )
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the base line, the area and the line, and a dot at its end."""
        colour = self._theme.colour
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 2 + _DOT_PX, -0.5 - _DOT_PX, -0.5)
        painter.setPen(QPen(colour(ColourRole.BORDER), 1))
        painter.drawLine(area.bottomLeft(), QPointF(self.width(), area.bottom()))
        top = max((*self._points, self._baseline or 0.0), default=0.0) * 1.1
        if top > 0 and self._baseline is not None:
            y = area.bottom() - area.height() * self._baseline / top
            painter.setPen(QPen(colour(ColourRole.TEXT_MUTED), 1, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(area.left(), y), QPointF(area.right(), y))
        if len(self._points) >= 2 and top > 0:
            self._paint_line(painter, area, top)
        painter.end()

    def _paint_line(self, painter: QPainter, area: QRectF, top: float) -> None:
        step = area.width() / (max(len(self._points), KEPT_POINTS // 4) - 1)
        line = QPolygonF(
            [
                QPointF(area.left() + index * step, area.bottom() - area.height() * rate / top)
                for index, rate in enumerate(self._points)
            ]
        )
        accent = self._theme.colour(ColourRole.ACCENT)
        under = QPainterPath()
        under.addPolygon(line)
        under.lineTo(line.last().x(), area.bottom())
        under.lineTo(line.first().x(), area.bottom())
        faint = self._theme.colour(ColourRole.ACCENT)
        faint.setAlphaF(0.12)
        painter.fillPath(under, faint)
        painter.setPen(QPen(accent, 1.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawPolyline(line)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(accent)
        painter.drawEllipse(line.last(), _DOT_PX, _DOT_PX)


class ShareBar(QWidget):
    """How much of something is used, from 0 to 1; from 90 % on in the colour of a warning."""

    def __init__(self, name: str, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._share = 0.0
        self.setFixedHeight(_BAR_HEIGHT)
        self.setAccessibleName(name)
        theme.changed.connect(self.update)

    def show_share(self, share: float, words: str) -> None:
        """The share, and the same in words for screen readers."""
        self._share = min(1.0, max(0.0, share))
        self.setAccessibleDescription(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the track and the used part."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        area = QRectF(self.rect())
        radius = _BAR_HEIGHT / 2
        painter.setBrush(self._theme.colour(ColourRole.BORDER))
        painter.drawRoundedRect(area, radius, radius)
        if self._share > 0:
            is_nearly_full = self._share >= NEARLY_FULL_SHARE
            role = ColourRole.WARN if is_nearly_full else ColourRole.ACCENT
            painter.setBrush(self._theme.colour(role))
            used = QRectF(area)
            used.setWidth(max(2 * radius, area.width() * self._share))
            painter.drawRoundedRect(used, radius, radius)
        painter.end()
