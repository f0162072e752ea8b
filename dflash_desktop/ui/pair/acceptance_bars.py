"""How often the proposal at each position was accepted, as a row of small bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import SIZE_CAPTION, interface_font

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from dflash_desktop.ui.theme import Theme

_BAR_HEIGHT: Final = 48
_LINE_HEIGHT: Final = 18
_MOST_WIDTH: Final = 56.0
_WIDTH_FOR_NUMBERS: Final = 36.0
_GAP: Final = 6.0


class AcceptanceBars(QWidget):
    """Each bar with its share above and its position below; all of it is the accessible name."""

    def __init__(self, rates: tuple[float, ...], words: str, *, theme: Theme) -> None:
        super().__init__()
        self._rates = rates
        self._theme = theme
        self.setFont(interface_font(SIZE_CAPTION, tabular=True))
        self.setAccessibleName(words)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room, with a line above and below the bars."""
        return QSize(240, _BAR_HEIGHT + 2 * _LINE_HEIGHT)

    def event(self, event: QEvent) -> bool:
        """Tell the number under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._rates:
            position = int(event.pos().x() / self._column_width)
            if position < len(self._rates):
                words = f"Position {position + 1}: {self._rates[position]:.1%} accepted"
                QToolTip.showText(event.globalPos(), words, self)
                return True
            QToolTip.hideText()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the tracks, the bars and the numbers."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width = self._column_width
        for number, rate in enumerate(self._rates):
            left = number * width
            self._draw_bar(painter, QRectF(left, 0, width - _GAP, self.height()), rate)
            painter.setPen(self._theme.colour(ColourRole.TEXT_MUTED))
            place = QRectF(left, _LINE_HEIGHT + _BAR_HEIGHT, width - _GAP, _LINE_HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(number + 1))
            if width >= _WIDTH_FOR_NUMBERS:
                painter.setPen(self._theme.colour(ColourRole.TEXT))
                above = QRectF(left, 0, width - _GAP, _LINE_HEIGHT)
                painter.drawText(above, Qt.AlignmentFlag.AlignCenter, f"{rate:.0%}")
        painter.end()

    def _draw_bar(self, painter: QPainter, column: QRectF, rate: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        track = QRectF(column.left(), _LINE_HEIGHT, column.width(), _BAR_HEIGHT)
        painter.setBrush(self._theme.colour(ColourRole.BORDER))
        painter.drawRoundedRect(track, 3, 3)
        painter.setBrush(self._theme.colour(ColourRole.ACCENT))
        filled = max(1.0, _BAR_HEIGHT * min(1.0, rate)) if rate > 0 else 0.0
        painter.drawRoundedRect(track.adjusted(0, _BAR_HEIGHT - filled, 0, 0), 3, 3)

    @property
    def _column_width(self) -> float:
        return min(_MOST_WIDTH, self.width() / max(1, len(self._rates)))
