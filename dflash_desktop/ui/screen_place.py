"""Keeps a remembered window where it can be seen: screens come and go between two starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRect

if TYPE_CHECKING:
    from collections.abc import Sequence

_GRIP_WIDTH: Final = 120
_GRIP_HEIGHT: Final = 32
"""So much of the top of a window must be on a screen, or nobody can take hold of it."""


def onto_screens(place: QRect, screens: Sequence[QRect]) -> QRect:
    """`place`, or the nearest sensible one; `screens` are their usable areas, the first one first.

    A window that fits where it is stays to the pixel, even half outside, as people put it.
    """
    if not screens:
        return place
    grip = QRect(place.x(), place.y(), place.width(), _GRIP_HEIGHT)
    shared = [(screen, screen.intersected(grip)) for screen in screens]
    is_held = any(s.width() >= _GRIP_WIDTH and s.height() >= _GRIP_HEIGHT // 2 for _, s in shared)
    home = max(shared, key=lambda one: one[1].width() * one[1].height())[0]
    if is_held and place.width() <= home.width() and place.height() <= home.height():
        return place
    width, height = min(place.width(), home.width()), min(place.height(), home.height())
    if is_held:
        x = min(max(place.x(), home.x()), home.right() + 1 - width)
        y = min(max(place.y(), home.y()), home.bottom() + 1 - height)
    else:
        x, y = home.center().x() - width // 2, home.center().y() - height // 2
    return QRect(x, y, width, height)
