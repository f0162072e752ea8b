"""Lucide icons, drawn in the colour that their role has now."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

if TYPE_CHECKING:
    from pathlib import Path

# 16, 20 and 24 px at 100, 150 and 200 %; QIcon takes the next larger one.
_PIXEL_SIZES = (16, 20, 24, 32, 48)


class IconName(StrEnum):
    """The icons in resources/icons; the value is the file's name there."""

    ARROW_DOWN = "arrow-down"
    ARROW_UP = "arrow-up"
    BRAIN = "brain"
    CHECK = "check"
    CHEVRON_DOWN = "chevron-down"
    CHEVRON_LEFT = "chevron-left"
    CHEVRON_RIGHT = "chevron-right"
    CHEVRON_UP = "chevron-up"
    CIRCLE = "circle"
    CIRCLE_ALERT = "circle-alert"
    CIRCLE_CHECK = "circle-check"
    CIRCLE_DOT = "circle-dot"
    CLOSE = "x"
    COLUMNS = "columns-2"
    COPY = "copy"
    CPU = "cpu"
    DICES = "dices"
    DISK = "hard-drive"
    DOWNLOAD = "download"
    ELLIPSIS = "ellipsis"
    EXTERNAL_LINK = "external-link"
    FILE_TEXT = "file-text"
    FOLDER_OPEN = "folder-open"
    GAUGE = "gauge"
    HAMMER = "hammer"
    HELP = "circle-help"
    HIGHLIGHTER = "highlighter"
    HISTORY = "history"
    IMAGE_OFF = "image-off"
    IMAGE = "image"
    INFO = "info"
    LAYERS = "layers"
    LOCK = "lock"
    LOCK_OPEN = "lock-open"
    MAXIMIZE = "maximize"
    MESSAGE = "message-square"
    MODELS = "boxes"
    MONITOR = "monitor"
    MOON = "moon"
    NEW_CHAT = "message-square-plus"
    PANEL_LEFT = "panel-left"
    PANEL_RIGHT = "panel-right"
    PAPERCLIP = "paperclip"
    PAUSE = "pause"
    PENCIL = "pencil"
    PLUS = "plus"
    REFRESH = "refresh-cw"
    RETRY = "rotate-ccw"
    SEARCH = "search"
    SEND = "send"
    SETTINGS = "settings"
    SLIDERS = "sliders-horizontal"
    STOP = "square"
    SUN = "sun"
    TRASH = "trash-2"
    TRIANGLE_ALERT = "triangle-alert"
    UNDO = "undo-2"
    ZAP = "zap"
    ZAP_OFF = "zap-off"
    ZOOM_IN = "zoom-in"
    ZOOM_OUT = "zoom-out"


class Icons:
    """Draws icons from a folder of SVG files and keeps what it has drawn."""

    def __init__(self, *, folder: Path) -> None:
        self._folder = folder
        self._drawn: dict[tuple[IconName, str, str, float], QIcon] = {}

    def icon(
        self, name: IconName, *, colour: str, disabled_colour: str, gap_share: float = 0.0
    ) -> QIcon:
        """The icon in these colours ("#RRGGBB"), sharp up to 200 %.

        `gap_share` of its size stays free on its right, where a button's words begin.
        """
        key = (name, colour, disabled_colour, gap_share)
        if key not in self._drawn:
            svg = (self._folder / f"{name.value}.svg").read_text(encoding="utf-8")
            icon = QIcon()
            for mode, ink in ((QIcon.Mode.Normal, colour), (QIcon.Mode.Disabled, disabled_colour)):
                data = QByteArray(svg.replace("currentColor", ink).encode())
                renderer = QSvgRenderer(data)
                for size in _PIXEL_SIZES:
                    icon.addPixmap(_drawn(renderer, size, round(size * gap_share)), mode)
            self._drawn[key] = icon
        return self._drawn[key]


def _drawn(renderer: QSvgRenderer, size: int, gap: int) -> QPixmap:
    pixmap = QPixmap(size + gap, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap
