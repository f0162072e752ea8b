"""Tab goes through a page as one reads it, also after cards were added or moved."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from PySide6.QtWidgets import QLayout


def order_tabs(page: QWidget) -> None:
    """Let Tab follow the layouts: Qt alone puts what is built later behind everything else."""
    for widget, following in pairwise(_tab_stops(page)):
        QWidget.setTabOrder(widget, following)


def _tab_stops(widget: QWidget) -> Iterator[QWidget]:
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget  # a field with parts of its own keeps them together
    elif (layout := widget.layout()) is not None:
        yield from _in_layout(layout)


def _in_layout(layout: QLayout) -> Iterator[QWidget]:
    for position in range(layout.count()):
        item = layout.itemAt(position)
        if item is None:
            continue
        inner_layout, inner = item.layout(), item.widget()
        if inner_layout is not None:
            yield from _in_layout(inner_layout)
        elif inner is not None:
            yield from _tab_stops(inner)
