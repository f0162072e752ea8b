"""A memory as one bar of parts, told apart by pattern and legend, never by colour alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QHelpEvent, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from dflash_desktop.domain.memory_parts import MemoryPart, PartKind
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.theme import GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from dflash_desktop.ui.theme import Theme

_BAR_HEIGHT: Final = 14
_SWATCH_PX: Final = 10
_SEAM_PX: Final = 1.0
_RADIUS: Final = 3.0
_SMALLEST_PX: Final = 3.0


@dataclass(frozen=True, slots=True)
class _Look:
    ground: ColourRole
    lines: ColourRole | None = None
    pattern: Qt.BrushStyle = Qt.BrushStyle.NoBrush


_LOOKS: Final = {
    PartKind.TARGET: _Look(ColourRole.ACCENT),
    PartKind.DRAFT: _Look(ColourRole.DRAFT_TINT, ColourRole.ACCENT, Qt.BrushStyle.BDiagPattern),
    PartKind.KV_CACHE: _Look(ColourRole.TEXT_MUTED),
    PartKind.VISION: _Look(ColourRole.DRAFT_TINT, ColourRole.ACCENT, Qt.BrushStyle.Dense6Pattern),
    PartKind.OVERHEAD: _Look(ColourRole.BORDER, ColourRole.TEXT_MUTED, Qt.BrushStyle.FDiagPattern),
    PartKind.ENGINE: _Look(ColourRole.ACCENT),
    PartKind.EXPORT: _Look(ColourRole.ACCENT),
    PartKind.OTHERS: _Look(ColourRole.BORDER, ColourRole.TEXT_MUTED, Qt.BrushStyle.Dense5Pattern),
    PartKind.RESERVE: _Look(ColourRole.SURFACE, ColourRole.TEXT_MUTED, Qt.BrushStyle.HorPattern),
    PartKind.FOR_MODELS: _Look(ColourRole.DRAFT_TINT),
    PartKind.FREE: _Look(ColourRole.SURFACE),
}


class MemoryBar(QWidget):
    """The bar alone; hovering over a part tells what it is and how its size was found."""

    def __init__(self, name: str, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._parts: tuple[MemoryPart, ...] = ()
        self._limit_bytes: int | None = None
        self.setFixedHeight(_BAR_HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(name)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(160, _BAR_HEIGHT)

    def show_parts(self, parts: tuple[MemoryPart, ...], *, limit_bytes: int | None = None) -> None:
        """Show these parts from left to right; a line marks `limit_bytes` if they need more."""
        self._parts, self._limit_bytes = parts, limit_bytes
        words = ", ".join(part.words for part in parts)
        if limit_bytes is not None and self._total_bytes > limit_bytes:
            words += f"; there are only {format_bytes(limit_bytes)}"
        self.setAccessibleDescription(words)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Explain the part under the pointer."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            part = self.part_at(event.pos())
            if part is not None:
                QToolTip.showText(event.globalPos(), tip_of(part), self)
                return True
        return super().event(event)

    def part_at(self, position: QPoint) -> MemoryPart | None:
        """The part that is drawn there."""
        return next(
            (
                part
                for part, area in zip(self._parts, self._areas(), strict=True)
                if area.left() <= position.x() <= area.right()
            ),
            None,
        )

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the parts with a seam between each two."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        whole = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        outline = QPainterPath()
        outline.addRoundedRect(whole, _RADIUS, _RADIUS)
        painter.setClipPath(outline)
        for part, area in zip(self._parts, self._areas(), strict=True):
            _fill(painter, area.adjusted(0, 0, -_SEAM_PX, 0), _LOOKS[part.kind], self._theme)
        painter.setClipping(False)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.colour(ColourRole.TEXT_MUTED), 1))
        painter.drawRoundedRect(whole, _RADIUS, _RADIUS)
        if self._limit_bytes is not None and self._total_bytes > self._limit_bytes:
            x = whole.width() * self._limit_bytes / self._total_bytes
            # With a light edge, so that it is seen on a part of any colour.
            for ink, width in ((ColourRole.SURFACE, 7), (ColourRole.BAD, 3)):
                painter.setPen(QPen(self._theme.colour(ink), width))
                painter.drawLine(QPoint(round(x), 0), QPoint(round(x), self.height()))
        painter.end()

    @property
    def _total_bytes(self) -> int:
        return sum(part.size_bytes for part in self._parts)

    def _areas(self) -> list[QRectF]:
        """One for each part: in proportion, but none too small to be seen."""
        total = max(1, self._total_bytes)
        widths = [max(_SMALLEST_PX, self.width() * p.size_bytes / total) for p in self._parts]
        shrink = self.width() / max(1.0, sum(widths))
        left, areas = 0.0, []
        for width in widths:
            areas.append(QRectF(left, 0, width * shrink, self.height()))
            left += width * shrink
        return areas


class MemoryLegend(QWidget):
    """The words to a bar: a swatch, a name and a size for each part."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._row = FlowRow(line_gap=GAP_TINY)
        self.setLayout(self._row)
        self._parts: tuple[MemoryPart, ...] = ()

    def show_parts(self, parts: tuple[MemoryPart, ...]) -> None:
        """Say what the parts are."""
        if parts == self._parts:
            return
        self._parts = parts
        empty_layout(self._row)
        for part in parts:
            entry = _LegendEntry(part, theme=self._theme)
            self._row.addWidget(entry)
            entry.show()
        self.updateGeometry()


class LabelledMemoryBar(QWidget):
    """A bar with its legend below."""

    def __init__(self, name: str, *, theme: Theme) -> None:
        super().__init__()
        self._bar = MemoryBar(name, theme=theme)
        self._legend = MemoryLegend(theme=theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._bar)
        column.addWidget(self._legend)

    def show_parts(self, parts: tuple[MemoryPart, ...], *, limit_bytes: int | None = None) -> None:
        """Show these parts, and mark the limit if they need more."""
        self._bar.show_parts(parts, limit_bytes=limit_bytes)
        self._legend.show_parts(parts)


class _LegendEntry(QWidget):
    def __init__(self, part: MemoryPart, *, theme: Theme) -> None:
        super().__init__()
        self.setToolTip(tip_of(part))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addWidget(_Swatch(part.kind, theme=theme))
        words = Label(part.words, role=TextRole.CAPTION)
        words.setAccessibleDescription(part.explanation)
        row.addWidget(words)


class _Swatch(QWidget):
    def __init__(self, kind: PartKind, *, theme: Theme) -> None:
        super().__init__()
        self._kind = kind
        self._theme = theme
        self.setFixedSize(_SWATCH_PX + 2, _SWATCH_PX + 2)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it as the bar does."""
        painter = QPainter(self)
        area = QRectF(QRect(1, 1, _SWATCH_PX, _SWATCH_PX))
        _fill(painter, area, _LOOKS[self._kind], self._theme)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(self._theme.colour(ColourRole.TEXT_MUTED), 1))
        painter.drawRect(area)
        painter.end()


def tip_of(part: MemoryPart) -> str:
    """What hovering over a part says."""
    return f"{part.kind.value.capitalize()}: {format_bytes(part.size_bytes)}\n{part.explanation}"


def _fill(painter: QPainter, area: QRectF, look: _Look, theme: Theme) -> None:
    painter.fillRect(area, theme.colour(look.ground))
    if look.lines is not None:
        painter.fillRect(area, QBrush(theme.colour(look.lines), look.pattern))
