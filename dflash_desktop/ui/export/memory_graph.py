"""Memory over the last minutes: what the export takes, what the system has, and both limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from dflash_desktop.domain.export_run import ExportMemory
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.export.run_words import whole_seconds
from dflash_desktop.ui.theme import GAP_SMALL, GAP_TINY, SIZE_CAPTION, TextRole, interface_font
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

    from dflash_desktop.ui.theme import Theme

SHOWN_SECONDS: Final = 180.0
_HEIGHT: Final = 150
_AXIS_HEIGHT: Final = 18
"""Below the frame: from when to when."""
_HEADROOM: Final = 1.08
_MOST_POINTS: Final = 240
"""More are not seen, and Qt takes 20 ms to draw four lines through 720 points."""
_RADIUS: Final = 6.0
_FILL_OPACITY: Final = 0.18
_SAMPLE_WIDTH: Final = 22


@dataclass(frozen=True, slots=True)
class _Curve:
    """One line: what it is of, how it is drawn, and what it means."""

    name: str
    value: Callable[[ExportMemory], int]
    role: ColourRole
    style: Qt.PenStyle
    explanation: str
    is_filled: bool = False


_CURVES: Final = (
    _Curve(
        "the export",
        lambda sample: sample.tree_bytes,
        ColourRole.ACCENT,
        Qt.PenStyle.SolidLine,
        "What the export takes, with all processes that it started.",
        is_filled=True,
    ),
    _Curve(
        "its limit",
        lambda sample: sample.limit_bytes,
        ColourRole.BAD,
        Qt.PenStyle.DashLine,
        "The export is stopped when it takes more than this.",
    ),
    _Curve(
        "available",
        lambda sample: sample.available_bytes,
        ColourRole.GOOD,
        Qt.PenStyle.SolidLine,
        "What the system could still give to any program.",
    ),
    _Curve(
        "kept free",
        lambda sample: sample.floor_bytes,
        ColourRole.WARN,
        Qt.PenStyle.DotLine,
        "The export is stopped when less than this is available.",
    ),
)


class MemoryGraph(QWidget):
    """The curves with their legend below, which also tells the values of now."""

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._plot = MemoryPlot(theme=theme)
        self._entries = tuple(_LegendEntry(curve, theme=theme) for curve in _CURVES)
        legend = QWidget()
        legend.setLayout(FlowRow(*self._entries, line_gap=GAP_TINY))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._plot)
        column.addWidget(legend)

    def show_samples(self, samples: Sequence[ExportMemory], *, is_over: bool = False) -> None:
        """Show the last minutes of these, oldest first; of a run that is over nothing is "now"."""
        self._plot.show_samples(samples, is_over=is_over)
        last = samples[-1] if samples and not is_over else None
        for entry in self._entries:
            entry.show_value(last)


class MemoryPlot(QWidget):
    """The curves alone; hovering tells the values of a moment."""

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._samples: tuple[ExportMemory, ...] = ()
        self._is_over = False
        self.setFixedHeight(_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName("Memory over time")
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(320, _HEIGHT)

    def show_samples(self, samples: Sequence[ExportMemory], *, is_over: bool = False) -> None:
        """Show the last minutes of these, oldest first."""
        self._is_over = is_over
        if samples:
            begin = samples[-1].at_seconds - SHOWN_SECONDS
            samples = [sample for sample in samples if sample.at_seconds >= begin]
        self._samples = thinned(samples)
        self.setAccessibleDescription(spoken_memory(self._samples))
        self.update()

    def sample_at(self, x: float) -> ExportMemory | None:
        """The sample that is drawn nearest to `x`."""
        return min(self._samples, key=lambda sample: abs(self._x(sample) - x), default=None)

    def event(self, event: QEvent) -> bool:
        """Tell the values under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            sample = self.sample_at(event.pos().x())
            if sample is not None:
                QToolTip.showText(event.globalPos(), self._tip(sample), self)
                return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the frame, the scale and the curves."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -_AXIS_HEIGHT - 0.5)
        painter.setPen(QPen(self._theme.colour(ColourRole.BORDER), 1))
        painter.setBrush(self._theme.colour(ColourRole.SURFACE))
        painter.drawRoundedRect(whole, _RADIUS, _RADIUS)
        top = self._top_bytes
        if len(self._samples) > 1:
            for curve in _CURVES:
                self._draw_curve(painter, curve, top)
        self._draw_scale(painter, top)
        painter.end()

    @property
    def _bottom(self) -> int:
        """Where the frame ends, in px from above."""
        return self.height() - _AXIS_HEIGHT

    @property
    def _top_bytes(self) -> float:
        """At the upper edge: whatever is shown stays below it."""
        values = [curve.value(sample) for sample in self._samples for curve in _CURVES]
        return max(values, default=0) * _HEADROOM or 1.0

    def _draw_scale(self, painter: QPainter, top: float) -> None:
        painter.setFont(interface_font(SIZE_CAPTION, tabular=True))
        lines = QPen(self._theme.colour(ColourRole.BORDER), 1)
        words = QPen(self._theme.colour(ColourRole.TEXT_MUTED), 1)
        if not self._samples:
            painter.setPen(words)
            area = self.rect().adjusted(0, 0, 0, -_AXIS_HEIGHT)
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, "Shown while a model is made")
            return
        middle = self._bottom / 2
        painter.setPen(lines)
        painter.drawLine(QPointF(1, middle), QPointF(self.width() - 1, middle))
        painter.setPen(words)
        painter.drawText(QPointF(GAP_SMALL, middle - GAP_TINY), format_bytes(round(top / 2)))
        span = self._samples[-1].at_seconds - self._samples[0].at_seconds
        edge = self.rect()
        bottom = Qt.AlignmentFlag.AlignBottom
        if span >= 1:
            begin, end = ("before", "the end") if self._is_over else ("ago", "now")
            since = f"{whole_seconds(span)} {begin}"
            painter.drawText(edge, bottom | Qt.AlignmentFlag.AlignLeft, since)
            painter.drawText(edge, bottom | Qt.AlignmentFlag.AlignRight, end)

    def _draw_curve(self, painter: QPainter, curve: _Curve, top: float) -> None:
        points = [
            QPointF(self._x(sample), self._y(curve.value(sample), top)) for sample in self._samples
        ]
        ink = self._theme.colour(curve.role)
        if curve.is_filled:
            area = [*points, QPointF(points[-1].x(), self._bottom - 1)]
            area.append(QPointF(points[0].x(), self._bottom - 1))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setOpacity(_FILL_OPACITY)
            painter.setBrush(ink)
            painter.drawPolygon(QPolygonF(area))
            painter.setOpacity(1.0)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(_pen(curve, self._theme))
        painter.drawPolyline(QPolygonF(points))

    def _x(self, sample: ExportMemory) -> float:
        """The newest at the right edge; a run that is young begins at the left one."""
        first, last = self._samples[0].at_seconds, self._samples[-1].at_seconds
        span = max(1.0, last - first)
        return 1 + (self.width() - 2) * (sample.at_seconds - first) / span

    def _y(self, value: int, top: float) -> float:
        return self._bottom - 1 - (self._bottom - 2) * value / top

    def _tip(self, sample: ExportMemory) -> str:
        ago = self._samples[-1].at_seconds - sample.at_seconds
        begin, end = ("before the end", "The end") if self._is_over else ("ago", "Now")
        when = f"{whole_seconds(ago)} {begin}" if ago >= 1 else end
        lines = [f"{curve.name}: {format_bytes(curve.value(sample))}" for curve in _CURVES]
        return "\n".join((when, *lines))


class _LegendEntry(QWidget):
    def __init__(self, curve: _Curve, *, theme: Theme) -> None:
        super().__init__()
        self._curve = curve
        self.setToolTip(curve.explanation)
        self._words = Label(curve.name, role=TextRole.CAPTION)
        self._words.setFont(interface_font(SIZE_CAPTION, tabular=True))
        self._words.setAccessibleDescription(curve.explanation)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, GAP_SMALL, 0)
        row.setSpacing(6)
        row.addWidget(_LineSample(curve, theme=theme))
        row.addWidget(self._words)

    def show_value(self, sample: ExportMemory | None) -> None:
        """The value of now beside the name."""
        words = self._curve.name
        if sample is not None:
            words = f"{words} {format_bytes(self._curve.value(sample))}"
        self._words.show_text(words)


class _LineSample(QWidget):
    def __init__(self, curve: _Curve, *, theme: Theme) -> None:
        super().__init__()
        self._curve = curve
        self._theme = theme
        self.setFixedSize(_SAMPLE_WIDTH, 12)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it as the plot does."""
        painter = QPainter(self)
        painter.setPen(_pen(self._curve, self._theme))
        painter.drawLine(QPointF(1, 6), QPointF(_SAMPLE_WIDTH - 1, 6))
        painter.end()


def thinned(samples: Sequence[ExportMemory]) -> tuple[ExportMemory, ...]:
    """So many as can be drawn, the newest among them: of neighbours the one that took most."""
    size = -(-len(samples) // _MOST_POINTS)
    if size <= 1:
        return tuple(samples)
    groups = [samples[max(0, end - size) : end] for end in range(len(samples) - 1, 0, -size)]
    peaks = [max(group, key=lambda sample: sample.tree_bytes) for group in reversed(groups)]
    return (*peaks, samples[-1])


def spoken_memory(samples: Sequence[ExportMemory]) -> str:
    """The newest sample in a sentence, for screen readers."""
    if not samples:
        return "Shown while a model is made."
    now = samples[-1]
    return (
        f"The export takes {format_bytes(now.tree_bytes)} of at most "
        f"{format_bytes(now.limit_bytes)}. The system has {format_bytes(now.available_bytes)} "
        f"available, of which {format_bytes(now.floor_bytes)} are kept free."
    )


def _pen(curve: _Curve, theme: Theme) -> QPen:
    return QPen(theme.colour(curve.role), 2 if curve.is_filled else 1.5, curve.style)
