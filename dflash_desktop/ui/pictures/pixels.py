"""Reads picture files for the screen: in its colours, and in sizes that are quick to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColorSpace,
    QImage,
    QImageReader,
    QImageWriter,
    QPainter,
    QPainterPath,
    QPixmap,
)

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

MAX_VIEW_PIXELS: Final = 100_000_000
_SMALLEST_LEVEL_PX: Final = 256
_SRGB: Final = QColorSpace.NamedColorSpace.SRgb


def colour_space_of(widget: QWidget) -> QColorSpace:
    """What the colours that are drawn on this widget mean; sRGB where its window does not say."""
    handle = widget.window().windowHandle()
    space = handle.format().colorSpace() if handle is not None else QColorSpace()
    return space if space.isValid() else QColorSpace(_SRGB)


def read_levels(path: Path, colour_space: QColorSpace) -> tuple[QImage, ...]:
    """The picture, its half, its quarter, and so on; empty when it cannot be read.

    Takes long (a quarter of a second for 3 million pixels): call it in a thread. Smaller ones
    make a reduced picture quick to draw without flickering edges.
    """
    image = _read(path)
    if image.isNull():
        return ()
    image = _in_space(image, colour_space)
    levels = [image]
    while max(levels[-1].width(), levels[-1].height()) > 2 * _SMALLEST_LEVEL_PX:
        last = levels[-1]
        half = QSize(max(1, last.width() // 2), max(1, last.height() // 2))
        levels.append(_scaled(last, half))
    return tuple(levels)


def thumbnail_pixmap(path: Path, side_px: int, *, widget: QWidget) -> QPixmap:
    """A picture that fills a square of `side_px`, cut in the middle, for this widget's screen.

    Null when the file is not there. Quick for the kept thumbnails, and only for them.
    """
    image = _read(path)
    if image.isNull():
        return QPixmap()
    ratio = widget.devicePixelRatioF()
    side = round(side_px * ratio)
    covering = image.size().scaled(
        QSize(side, side), Qt.AspectRatioMode.KeepAspectRatioByExpanding
    )
    image = _scaled(_in_space(image, colour_space_of(widget)), covering)
    left, top = (image.width() - side) // 2, (image.height() - side) // 2
    pixmap = QPixmap.fromImage(image.copy(left, top, side, side))
    pixmap.setDevicePixelRatio(ratio)
    return pixmap


def draw_rounded(painter: QPainter, area: QRectF, pixmap: QPixmap, radius_px: float) -> None:
    """Draw a thumbnail with round corners."""
    path = QPainterPath()
    path.addRoundedRect(area, radius_px, radius_px)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setClipPath(path)
    painter.drawPixmap(area.topLeft(), pixmap)
    painter.restore()


def png_of(image: QImage) -> bytes:
    """The bytes of a PNG file; large and quick, since they are read again at once."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(b"png"))
    writer.setQuality(100)  # of a PNG: as little compression as there is
    writer.write(image)
    return bytes(buffer.data().data())


def _read(path: Path) -> QImage:
    reader = QImageReader(str(path))
    size = reader.size()
    if size.isValid() and size.width() * size.height() > MAX_VIEW_PIXELS:
        return QImage()
    return reader.read()


def _in_space(image: QImage, colour_space: QColorSpace) -> QImage:
    own = image.colorSpace() if image.colorSpace().isValid() else QColorSpace(_SRGB)
    image.setColorSpace(own)
    return image if own == colour_space else image.convertedToColorSpace(colour_space)


def _scaled(image: QImage, size: QSize) -> QImage:
    return image.scaled(
        size,
        Qt.AspectRatioMode.IgnoreAspectRatio,
        Qt.TransformationMode.SmoothTransformation,
    )
