from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.ui.problem_view import ProblemView

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

PROBLEM = Problem(
    code="cache_full",
    headline="The answer was cut off.",
    advice="Leave out the oldest messages or start a new chat.",
    detail="Request 0 was dropped <b>by the scheduler</b>",
    remedies=(Remedy.LEAVE_OUT_OLDEST, Remedy.NEW_CHAT),
)


def view_of(qtbot: QtBot, theme: Theme) -> ProblemView:
    view = ProblemView(theme=theme, report=lambda problem: f"report of {problem.code}")
    qtbot.addWidget(view)
    return view


def button(view: ProblemView, text: str) -> QPushButton:
    return next(b for b in view.findChildren(QPushButton) if b.text() == text)


def test_nothing_shows_before_there_is_a_problem(qtbot: QtBot, theme: Theme) -> None:
    assert view_of(qtbot, theme).isHidden()


def test_each_way_out_is_a_button(qtbot: QtBot, theme: Theme) -> None:
    view = view_of(qtbot, theme)
    view.show_problem(PROBLEM)
    with qtbot.waitSignal(view.remedy_chosen) as chosen:
        button(view, "Leave out the oldest messages").click()
    assert chosen.args == [Remedy.LEAVE_OUT_OLDEST]
    assert view.accessibleName() == "Error: The answer was cut off."
    assert view.accessibleDescription() == PROBLEM.advice


def test_the_raw_text_is_folded_and_literal(qtbot: QtBot, theme: Theme) -> None:
    view = view_of(qtbot, theme)
    view.show_problem(PROBLEM)
    (detail,) = view.findChildren(QPlainTextEdit)
    assert detail.isHidden()
    button(view, "Details").click()
    assert not detail.isHidden()
    assert detail.toPlainText() == PROBLEM.detail


def test_details_are_copied_through_the_report(qtbot: QtBot, theme: Theme) -> None:
    view = view_of(qtbot, theme)
    view.show_problem(PROBLEM)
    button(view, "Copy details").click()
    assert QGuiApplication.clipboard().text() == "report of cache_full"


def test_a_second_problem_replaces_the_first(qtbot: QtBot, theme: Theme) -> None:
    view = view_of(qtbot, theme)
    view.show_problem(PROBLEM)
    view.show_problem(Problem(code="y", headline="Other.", advice=""))
    assert view.problem is not None
    assert view.problem.code == "y"
    assert button(view, "Details").isHidden()


def test_a_problem_that_is_told_again_stays_as_it_is_read(qtbot: QtBot, theme: Theme) -> None:
    view = view_of(qtbot, theme)
    view.follow(PROBLEM)
    button(view, "Details").click()
    view.follow(PROBLEM)
    (detail,) = view.findChildren(QPlainTextEdit)
    assert not detail.isHidden()
    view.follow(None)
    assert view.isHidden()


def test_it_can_be_dismissed(qtbot: QtBot, theme: Theme) -> None:
    view = view_of(qtbot, theme)
    view.show_problem(PROBLEM)
    with qtbot.waitSignal(view.dismissed):
        view._close.click()
    assert view.isHidden()
    assert view.problem is None
