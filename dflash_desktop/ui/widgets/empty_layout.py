"""Takes everything out of a layout before it is filled anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PySide6.QtWidgets import QLayout


def empty_layout(layout: QLayout) -> None:
    """Hide the widgets in it at once; Qt deletes them when it comes to it."""
    while (item := layout.takeAt(0)) is not None:
        if (old := item.widget()) is not None:
            old.hide()
            old.deleteLater()
