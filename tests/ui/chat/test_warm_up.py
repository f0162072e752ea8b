from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from dflash_desktop.ui.chat.drawing import Drawing
from dflash_desktop.ui.chat.warm_up import warm_up

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


def test_it_leaves_no_widget_and_no_thread_behind(qtbot: QtBot, theme: Theme) -> None:
    before = set(QApplication.allWidgets())
    drawing = Drawing(theme)
    warm_up(drawing)
    qtbot.waitUntil(lambda: set(QApplication.allWidgets()) <= before and drawing.clock.is_idle)
