"""Frames for the surfaces of the look: page, panel, card, and the line between two parts."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class Surface(StrEnum):
    """What a frame is; the value is what the style sheet matches."""

    PAGE = "page"
    PANEL = "panel"
    CARD = "card"


class SurfaceFrame(QFrame):
    """A frame in the colours of one surface."""

    def __init__(self, surface: Surface, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", surface.value)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)


class Line(QFrame):
    """A line of one pixel between two parts."""

    def __init__(self, orientation: Qt.Orientation, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("surface", "line")
        if orientation is Qt.Orientation.Horizontal:
            self.setFixedHeight(1)
        else:
            self.setFixedWidth(1)
