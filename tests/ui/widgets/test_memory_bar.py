from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLabel

from dflash_desktop.domain.memory_parts import MemoryPart, PartKind
from dflash_desktop.ui.widgets.memory_bar import LabelledMemoryBar, MemoryBar, tip_of

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

TARGET = MemoryPart(PartKind.TARGET, 6_000_000_000, "The weights.")
DRAFT = MemoryPart(PartKind.DRAFT, 1_000_000, "The small one.")
FREE = MemoryPart(PartKind.FREE, 4_000_000_000, "What is left.")


@pytest.fixture
def bar(qtbot: QtBot, theme: Theme) -> MemoryBar:
    bar = MemoryBar("Memory", theme=theme)
    qtbot.addWidget(bar)
    bar.resize(400, bar.height())
    return bar


def test_the_part_under_the_pointer_explains_itself(bar: MemoryBar) -> None:
    bar.show_parts((TARGET, FREE))
    assert bar.part_at(QPoint(10, 5)) == TARGET
    assert bar.part_at(QPoint(390, 5)) == FREE
    assert tip_of(TARGET) == "Target: 6.00 GB\nThe weights."


def test_a_tiny_part_can_still_be_seen_and_hovered(bar: MemoryBar) -> None:
    bar.show_parts((TARGET, DRAFT, FREE))
    found = {bar.part_at(QPoint(x, 5)) for x in range(400)}
    assert DRAFT in found


def test_everything_is_said_for_screen_readers(bar: MemoryBar) -> None:
    bar.show_parts((TARGET, DRAFT), limit_bytes=5_000_000_000)
    words = bar.accessibleDescription()
    assert words == "target 6.00 GB, draft 1.00 MB; there are only 5.00 GB"


def test_what_is_too_much_is_marked_where_the_memory_ends(bar: MemoryBar, theme: Theme) -> None:
    bar.show_parts((TARGET,), limit_bytes=3_000_000_000)
    assert bar.grab().toImage().pixelColor(200, 7) == QColor(theme.colours.bad)
    bar.show_parts((TARGET,), limit_bytes=6_000_000_000)
    assert bar.grab().toImage().pixelColor(200, 7) != QColor(theme.colours.bad)


def test_no_parts_are_no_fault(bar: MemoryBar) -> None:
    bar.show_parts(())
    assert bar.part_at(QPoint(10, 5)) is None
    bar.grab()


def test_every_kind_of_part_has_its_look(bar: MemoryBar) -> None:
    bar.show_parts(tuple(MemoryPart(kind, 1_000, "") for kind in PartKind))
    bar.grab()


def test_the_legend_has_words_for_each_part(qtbot: QtBot, theme: Theme) -> None:
    bar = LabelledMemoryBar("Memory", theme=theme)
    qtbot.addWidget(bar)
    bar.show_parts((TARGET, DRAFT))
    bar.show_parts((TARGET, FREE))
    bar.show()
    shown = [label.text() for label in bar.findChildren(QLabel) if label.isVisible()]
    assert shown == ["target 6.00 GB", "free 4.00 GB"]
