"""Fixtures of the chat page's tests."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from dflash_desktop.ui.chat.drawing import Drawing

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

PATIENCE_SECONDS = 20.0


@pytest.fixture
def drawing(theme: Theme) -> Drawing:
    return Drawing(theme)


def draw(drawing: Drawing) -> None:
    """Run the window's loop until everything that waits is drawn."""
    pump_until(lambda: drawing.clock.is_idle)
    # Heights go up through the layouts one level an event.
    for _ in range(5):
        QApplication.processEvents()


def press(
    widget: QWidget, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Press a key; pytest-qt's own functions for this have no types."""
    QTest.keyClick(widget, key, modifier)


def type_text(widget: QWidget, text: str) -> None:
    """Type letters."""
    QTest.keyClicks(widget, text)


def pump_until(condition: Callable[[], bool]) -> None:
    """Run the window's loop until a condition holds; raises `TimeoutError` if it never does."""
    end = time.monotonic() + PATIENCE_SECONDS
    QApplication.processEvents()
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        QApplication.processEvents()
        time.sleep(0.001)
    QApplication.processEvents()
