"""Painting over what is to be made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from PySide6.QtWidgets import QDialog, QHBoxLayout, QSlider, QVBoxLayout, QWidget

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.pictures.pixels import png_of
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label, name_label

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent

    from dflash_desktop.ui.theme import Theme

_VEIL: Final = 0.55
_SIZE: Final = (820, 640)
_SMALLEST_BRUSH_PX: Final = 4
_LARGEST_BRUSH_PX: Final = 200
_USUAL_BRUSH_PX: Final = 48
_MOST_UNDO: Final = 20


class MaskCanvas(QWidget):
    """Paints with the left button, takes away with the right one or with Shift.

    The mask has the picture's pixels: white is made anew. Signals: `changed`.
    """

    changed = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._picture = QImage()
        self._mask = QImage()
        self._nothing = QImage()
        self._undo: list[QImage] = []
        self._last: QPointF | None = None
        self._pointer: QPointF | None = None
        self.brush_px = _USUAL_BRUSH_PX
        self.setMinimumSize(240, 180)
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.CrossCursor)
        self.setAccessibleName("The picture with what is painted on it")

    @property
    def is_painted(self) -> bool:
        """Whether anything is to be made anew."""
        return self._mask != self._nothing

    def show_picture(self, picture: QImage) -> None:
        """Begin with nothing painted."""
        self._picture = picture
        self._mask = QImage(picture.size(), QImage.Format.Format_Grayscale8)
        self._mask.fill(0)
        self._nothing = self._mask.copy()
        self._undo.clear()
        self.changed.emit()
        self.update()

    def undo(self) -> None:
        """Take the last stroke back."""
        if self._undo:
            self._mask = self._undo.pop()
            self.changed.emit()
            self.update()

    def invert(self) -> None:
        """Exchange what changes and what stays."""
        self._remember()
        self._mask.invertPixels()
        self.changed.emit()
        self.update()

    def png(self) -> bytes:
        """The mask as a file."""
        return png_of(self._mask.convertToFormat(QImage.Format.Format_RGB888))

    def stroke(self, start: QPointF, end: QPointF, *, takes_away: bool) -> None:
        """Paint a line between two points of the picture."""
        painter = QPainter(self._mask)
        ink = QColor(Qt.GlobalColor.black if takes_away else Qt.GlobalColor.white)
        cap, join = Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin
        painter.setPen(QPen(ink, self.brush_px, Qt.PenStyle.SolidLine, cap, join))
        painter.drawLine(start, end)
        painter.drawPoint(end)
        painter.end()
        self.changed.emit()
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a stroke."""
        self._remember()
        self._last = self._on_picture(event.position())
        self.stroke(self._last, self._last, takes_away=_takes_away(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on with it."""
        self._pointer = event.position()
        if self._last is not None and event.buttons() != Qt.MouseButton.NoButton:
            here = self._on_picture(event.position())
            self.stroke(self._last, here, takes_away=_takes_away(event))
            self._last = here
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End it."""
        self._last = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture under a veil where it stays, and the brush."""
        if self._picture.isNull():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        area = self._area()
        painter.drawImage(area, self._picture)
        tint = QImage(self._mask.size(), QImage.Format.Format_ARGB32_Premultiplied)
        tint.fill(self._theme.colour(ColourRole.ACCENT))
        tint.setAlphaChannel(self._mask)
        painter.setOpacity(_VEIL)
        painter.drawImage(area, tint)
        painter.setOpacity(1)
        if self._pointer is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            radius = self.brush_px * area.width() / self._picture.width() / 2
            for ink, width in ((Qt.GlobalColor.black, 3), (Qt.GlobalColor.white, 1)):
                painter.setPen(QPen(QColor(ink), width))
                painter.drawEllipse(self._pointer, radius, radius)
        painter.end()

    def _remember(self) -> None:
        self._undo.append(self._mask.copy())
        del self._undo[:-_MOST_UNDO]

    def _area(self) -> QRectF:
        size = self._picture.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        area = QRectF(0, 0, size.width(), size.height())
        area.moveCenter(QRectF(self.rect()).center())
        return area

    def _on_picture(self, at: QPointF) -> QPointF:
        area = self._area()
        share = (at - area.topLeft()) / area.width()
        return QPointF(share.x() * self._picture.width(), share.y() * self._picture.width())


class MaskEditor(QDialog):
    """Signals: `painted(png)`, the mask as the bytes of a file."""

    painted = Signal(bytes)

    def __init__(self, *, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Change only a part")
        self.canvas = MaskCanvas(theme=theme)
        self._brush = QSlider(Qt.Orientation.Horizontal)
        self._brush.setRange(_SMALLEST_BRUSH_PX, _LARGEST_BRUSH_PX)
        self._brush.setValue(_USUAL_BRUSH_PX)
        self._brush.setFixedWidth(160)
        self._brush.valueChanged.connect(self._on_brush)
        undo = Button("Undo", theme=theme, kind=ButtonKind.QUIET)
        undo.setToolTip("Take the last stroke back (Ctrl+Z)")
        undo.setShortcut("Ctrl+Z")
        undo.clicked.connect(self.canvas.undo)
        invert = Button("Invert", theme=theme, kind=ButtonKind.QUIET)
        invert.setToolTip("Exchange what changes and what stays")
        invert.clicked.connect(self.canvas.invert)
        self._done = Button("Change this part", theme=theme, kind=ButtonKind.PRIMARY)
        self._done.clicked.connect(self._on_done)
        cancel = Button("Cancel", theme=theme)
        cancel.clicked.connect(self.reject)
        self.canvas.changed.connect(self._show)
        bottom = QHBoxLayout()
        bottom.setSpacing(GAP_SMALL)
        bottom.addWidget(name_label("Brush", self._brush))
        bottom.addWidget(self._brush)
        bottom.addWidget(undo)
        bottom.addWidget(invert)
        bottom.addStretch(1)
        bottom.addWidget(cancel)
        bottom.addWidget(self._done)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        words = "Paint over what is to be made anew. The right button, or Shift, takes away."
        column.addWidget(Label(words, role=TextRole.MUTED, wraps=True))
        column.addWidget(self.canvas, 1)
        column.addLayout(bottom)
        self.resize(*_SIZE)
        self._show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc closes; Enter presses nothing by itself."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)

    def _on_brush(self, size: int) -> None:
        self.canvas.brush_px = size
        self.canvas.update()

    def _on_done(self) -> None:
        self.painted.emit(self.canvas.png())
        self.accept()

    def _show(self) -> None:
        self._done.setEnabled(self.canvas.is_painted)
        self._done.setToolTip("" if self.canvas.is_painted else "Paint something first")


def _takes_away(event: QMouseEvent) -> bool:
    with_shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
    return with_shift or bool(event.buttons() & Qt.MouseButton.RightButton)
