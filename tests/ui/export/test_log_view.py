"""The log follows its end only while one reads there, and stays quick with 10,000 lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication, QPushButton

from dflash_desktop.ui.export.log_view import MOST_LINES, LogView

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

KEPT = 500


@pytest.fixture
def view(qtbot: QtBot, theme: Theme) -> LogView:
    view = LogView(theme=theme)
    qtbot.addWidget(view)
    view.resize(700, 300)
    view.show()
    return view


def lines(begin: int, end: int) -> tuple[str, ...]:
    return tuple(f"line {number}" for number in range(begin, end))


def grow(view: LogView, count: int) -> None:
    view.show_lines(lines(max(0, count - KEPT), count), count)
    QApplication.processEvents()


def shown(view: LogView) -> list[str]:
    return view.text.toPlainText().splitlines()


def top_line(view: LogView) -> str:
    return view.text.firstVisibleBlock().text()


def test_only_what_is_new_is_added(view: LogView) -> None:
    for count in (3, 3, 40, 700):
        grow(view, count)
    # Of the last 660, 500 are known: the others were never told.
    assert shown(view) == [*lines(0, 40), *lines(200, 700)]


def test_it_follows_the_end(view: LogView) -> None:
    for count in (50, 100, 300):
        grow(view, count)
        assert view.is_at_end


def test_one_who_reads_further_up_is_left_there_and_can_jump(view: LogView) -> None:
    grow(view, 300)
    view.text.verticalScrollBar().setValue(100)
    before = top_line(view)
    grow(view, 420)
    assert top_line(view) == before
    jump = view.findChild(QPushButton)
    assert jump is not None
    assert jump.isVisible()
    jump.click()
    assert view.is_at_end
    assert not jump.isVisible()
    grow(view, 430)
    assert view.is_at_end


def test_what_falls_off_the_top_does_not_move_the_text_under_a_reader(view: LogView) -> None:
    for count in range(KEPT, MOST_LINES + 1, KEPT):
        grow(view, count)
    view.text.verticalScrollBar().setValue(5_000)
    before = top_line(view)
    grow(view, MOST_LINES + 300)
    assert top_line(view) == before
    assert view.text.blockCount() == MOST_LINES


def test_a_line_that_is_written_over_itself_is_replaced(view: LogView) -> None:
    view.show_lines(("a", "10 %"), 2)
    view.show_lines(("a", "20 %"), 2)
    assert shown(view) == ["a", "20 %"]
    view.show_lines(("a", "100 %", "b"), 3)
    assert shown(view) == ["a", "100 %", "b"]


def test_another_run_begins_an_empty_log(view: LogView) -> None:
    grow(view, 40)
    view.show_lines(("new",), 1)
    assert shown(view) == ["new"]


def test_a_full_log_takes_a_batch_within_a_frame(view: LogView) -> None:
    for count in range(KEPT, MOST_LINES + 1, KEPT):
        grow(view, count)
    best = min(_seconds_of(view, MOST_LINES + batch * 50) for batch in range(1, 8))
    assert best < 0.016


def _seconds_of(view: LogView, count: int) -> float:
    began = time.thread_time()
    view.show_lines(lines(count - KEPT, count), count)
    return time.thread_time() - began
