from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QWidget

from dflash_desktop.ui.chat.drawing import Drawing
from dflash_desktop.ui.chat.markdown_stream import MarkdownView
from dflash_desktop.ui.chat.warm_up import warm_up

if TYPE_CHECKING:
    import pytest
    from PySide6.QtGui import QPixmap
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


def test_it_paints_one_of_everything(
    theme: Theme, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[str] = []
    grab = MarkdownView.grab

    def watched(view: MarkdownView) -> QPixmap:
        painted.extend(type(child).__name__ for child in view.findChildren(QWidget))
        return grab(view)

    monkeypatch.setattr(MarkdownView, "grab", watched)
    warm_up(Drawing(theme))
    assert any("Code" in name for name in painted)
    assert any("Table" in name for name in painted)
    assert any("Text" in name or "Prose" in name for name in painted)


def test_it_leaves_no_widget_and_no_thread_behind(qtbot: QtBot, theme: Theme) -> None:
    before = set(QApplication.allWidgets())
    drawing = Drawing(theme)
    warm_up(drawing)
    qtbot.waitUntil(lambda: set(QApplication.allWidgets()) <= before and drawing.clock.is_idle)
