from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QWidget

from dflash_desktop.ui.theme import GAP_SMALL
from dflash_desktop.ui.widgets.flow_row import FlowRow

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    parent = QWidget()
    qtbot.addWidget(parent)
    return parent


@pytest.fixture
def row(parent: QWidget) -> FlowRow:
    boxes = [QWidget() for _ in range(3)]
    for box in boxes:
        box.setFixedSize(100, 30)
    row = FlowRow(*boxes)
    parent.setLayout(row)
    parent.show()
    return row


def places(row: FlowRow) -> list[tuple[int, int]]:
    rects = [item.geometry() for n in range(row.count()) if (item := row.itemAt(n))]
    return [(rect.x(), rect.y()) for rect in rects]


def test_with_room_everything_stands_in_one_line(row: FlowRow) -> None:
    row.setGeometry(QRect(0, 0, 300 + 2 * GAP_SMALL, 30))
    assert places(row) == [(0, 0), (100 + GAP_SMALL, 0), (200 + 2 * GAP_SMALL, 0)]
    assert row.heightForWidth(300 + 2 * GAP_SMALL) == 30


def test_what_does_not_fit_goes_into_the_next_line(row: FlowRow) -> None:
    row.setGeometry(QRect(0, 0, 299 + 2 * GAP_SMALL, 100))
    assert places(row)[2] == (0, 30 + GAP_SMALL)
    assert row.heightForWidth(100) == 3 * 30 + 2 * GAP_SMALL


def test_hidden_widgets_take_no_room(row: FlowRow) -> None:
    first = row.itemAt(0)
    assert first is not None
    widget = first.widget()
    assert widget is not None
    widget.hide()
    row.setGeometry(QRect(0, 0, 400, 30))
    assert places(row)[1] == (0, 0)
    assert row.minimumSize().width() == 100


def test_items_can_be_taken_out(row: FlowRow) -> None:
    assert row.takeAt(7) is None
    assert row.takeAt(0) is not None
    assert row.count() == 2
