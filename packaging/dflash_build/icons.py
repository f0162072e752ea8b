"""The program's icon in all sizes, from one drawing."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Final

from dflash_build import layout

if TYPE_CHECKING:
    from pathlib import Path

DRAWING: Final = layout.REPOSITORY / "resources" / "icons" / "app.svg"
SIZES: Final = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Pixels; those that Linux desktops ask for."""

_ICO_SIZES: Final = (16, 24, 32, 48, 64, 128, 256)


def write_all(folder: Path) -> None:
    """One PNG for each size, and the .ico of them that Windows wants."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = {size: png(size) for size in SIZES}
    for size, picture in pictures.items():
        (folder / f"{layout.PACKAGE_NAME}-{size}.png").write_bytes(picture)
    ico = ico_of({size: pictures[size] for size in _ICO_SIZES})
    (folder / f"{layout.PACKAGE_NAME}.ico").write_bytes(ico)


def ico_of(pictures: dict[int, bytes]) -> bytes:
    """The container around PNGs, by their size in pixels; 256 is written as 0."""
    head = struct.pack("<HHH", 0, 1, len(pictures))
    place = len(head) + 16 * len(pictures)
    entries, bodies = b"", b""
    for size, picture in sorted(pictures.items()):
        side = size % 256
        entries += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(picture), place)
        bodies += picture
        place += len(picture)
    return head + entries + bodies


def png(size: int) -> bytes:
    """The drawing, `size` pixels wide and high."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QBuffer, QIODevice, Qt
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(DRAWING)).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]  # the stubs know str only
    return bytes(buffer.data().data())
