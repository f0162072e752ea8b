from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtGui import QColor, QGuiApplication
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from dflash_desktop.ui.chat.code_view import CodeView
from dflash_desktop.ui.colours import LIGHT
from tests.ui.chat.conftest import draw, pump_until

if TYPE_CHECKING:
    from PySide6.QtGui import QTextCharFormat, QTextLayout
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.chat.drawing import Drawing


def make(qtbot: QtBot, drawing: Drawing, language: str) -> CodeView:
    view = CodeView(language, theme=drawing.theme, clock=drawing.clock, lexers=drawing.lexers)
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    return view


def body(view: CodeView) -> QPlainTextEdit:
    (found,) = view.findChildren(QPlainTextEdit)
    return found


def colours_of_line(view: CodeView, number: int) -> dict[str, str]:
    block = body(view).document().findBlockByNumber(number)
    # Qt counts in UTF-16 units.
    units = block.text().encode("utf-16-le")
    return {
        units[2 * span.start : 2 * (span.start + span.length)].decode("utf-16-le"): ink_of(span)
        for span in block.layout().formats()
    }


def ink_of(span: QTextLayout.FormatRange) -> str:
    made: QTextCharFormat = span.format
    return made.foreground().color().name().upper()


def is_coloured(view: CodeView, number: int) -> bool:
    return bool(colours_of_line(view, number))


def test_words_get_their_colours_while_the_code_grows(qtbot: QtBot, drawing: Drawing) -> None:
    view = make(qtbot, drawing, "python")
    for character in "def f():\n    return 1  # one\n" + "x = 2\n" * 20:
        view.append(character)
    pump_until(lambda: is_coloured(view, 0))
    view.complete()
    pump_until(lambda: is_coloured(view, 21))
    assert colours_of_line(view, 0)["def"] == QColor(LIGHT.accent).name().upper()
    assert colours_of_line(view, 1)["# one"] == QColor(LIGHT.text_muted).name().upper()
    assert "Python" in [label.text() for label in view.findChildren(QLabel)]


def test_a_string_over_many_lines_is_one_string(qtbot: QtBot, drawing: Drawing) -> None:
    view = make(qtbot, drawing, "python")
    view.append('x = """\ndef f():\n"""\n')
    view.complete()
    pump_until(lambda: is_coloured(view, 1))
    assert colours_of_line(view, 1) == {"def f():": QColor(LIGHT.good).name().upper()}


def test_colours_stand_right_behind_an_emoji(qtbot: QtBot, drawing: Drawing) -> None:
    view = make(qtbot, drawing, "python")
    view.append("x = '\U0001f600'; return 1\n")
    view.complete()
    pump_until(lambda: is_coloured(view, 0))
    assert "return" in colours_of_line(view, 0)


@pytest.mark.parametrize("language", ["", "no-such-language", "python"])
def test_code_of_any_language_is_shown_as_it_is(
    qtbot: QtBot, drawing: Drawing, language: str
) -> None:
    view = make(qtbot, drawing, language)
    view.append("<b>&amp;</b>\n\ttab\n")
    view.complete()
    draw(drawing)
    assert body(view).toPlainText() == "<b>&amp;</b>\n\ttab"


def test_copying_gives_the_code_without_the_broken_lines_of_the_screen(
    qtbot: QtBot, drawing: Drawing
) -> None:
    view = make(qtbot, drawing, "")
    long_line = "x" * 10_000
    for start in range(0, len(long_line), 999):
        view.append(long_line[start : start + 999])
    view.append("\nend\n")
    assert body(view).document().blockCount() == 11
    (copy,) = view.findChildren(QPushButton)
    copy.click()
    assert QGuiApplication.clipboard().text() == f"{long_line}\nend"
    assert copy.text() == "Copied"


def test_it_is_as_high_as_its_lines_and_scrolls_only_sideways(
    qtbot: QtBot, drawing: Drawing
) -> None:
    view = make(qtbot, drawing, "")
    view.append("a\nb\nc\n")
    draw(drawing)
    three = body(view).height()
    view.append("d\ne\nf\n")
    draw(drawing)
    assert body(view).height() > three
    assert body(view).verticalScrollBar().maximum() == 0
    view.append("x" * 500)
    draw(drawing)
    assert body(view).horizontalScrollBar().maximum() > 0
    assert body(view).verticalScrollBar().maximum() == 0
