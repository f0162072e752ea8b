"""A remembered window on the screens that are there today."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QRect, QSettings
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QMainWindow

from dflash_desktop.ui.main_window import MainWindow
from dflash_desktop.ui.screen_place import onto_screens

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

LEFT = QRect(0, 0, 1920, 1040)
RIGHT = QRect(1920, 0, 2560, 1400)


@pytest.mark.parametrize(
    "place",
    [
        QRect(100, 100, 1180, 760),
        QRect(2000, 100, 2400, 1200),
        QRect(1500, 500, 1180, 760),  # over both
        QRect(-900, 100, 1180, 760),  # half outside, as somebody put it
    ],
)
def test_a_window_that_can_be_held_stays_to_the_pixel(place: QRect) -> None:
    assert onto_screens(place, [LEFT, RIGHT]) == place


@pytest.mark.parametrize(
    "place",
    [
        QRect(2000, 100, 1180, 760),  # on a screen that is gone
        QRect(-5000, -5000, 1180, 760),
        QRect(100, 1200, 1180, 760),  # below the screen
        QRect(100, -700, 1180, 760),  # its top is above
        QRect(1900, 100, 1180, 760),  # a sliver
        QRect(0, 0, 4000, 3000),  # of a larger screen
    ],
)
def test_any_other_comes_back_whole(place: QRect) -> None:
    assert LEFT.contains(onto_screens(place, [LEFT]))


def test_without_any_screen_nothing_is_moved() -> None:
    assert onto_screens(QRect(1, 2, 3, 4), []) == QRect(1, 2, 3, 4)


def test_the_window_remembered_on_a_lost_screen_opens_on_one_that_is_there(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    other = QMainWindow()
    qtbot.addWidget(other)
    other.setGeometry(9000, 7000, 1000, 700)
    remember = QSettings(str(tmp_path / "w.ini"), QSettings.Format.IniFormat)
    remember.setValue("window/geometry", other.saveGeometry())
    window = MainWindow(
        theme=theme, logo=QIcon(), report=str, remember=remember, may_close=lambda: True
    )
    qtbot.addWidget(window)
    screens = [screen.availableGeometry() for screen in QGuiApplication.screens()]
    assert any(screen.intersects(window.geometry()) for screen in screens)
    top = QRect(window.geometry().topLeft(), window.geometry().topRight())
    assert any(screen.contains(top.center()) for screen in screens)
