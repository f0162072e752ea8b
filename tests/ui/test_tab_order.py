"""Tab goes through the pages about models as one reads them, and every stop has a name."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.ui.export.pane import ExportPane
from dflash_desktop.ui.models.library_words import model_row
from dflash_desktop.ui.models.pane import ModelsPane
from dflash_desktop.ui.models.words import CardState, PairCardContent
from dflash_desktop.ui.pair.pane import PairPane
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.transfers.pane import TransfersPane
from tests.ui.export.export_values import (
    DONE,
    ENVIRONMENTS,
    EVERY_RUN,
    REQUEST,
    RUNNING,
    TIGHT,
)
from tests.ui.export.export_values import PLAN as EXPORT_PLAN
from tests.ui.library_values import MODELS, NOW
from tests.ui.pair_values import PLAN, USELESS, WARNINGS, WORKING
from tests.ui.transfers.transfer_values import EVERY_STATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


def transfers(theme: Theme) -> QWidget:
    pane = TransfersPane(theme=theme, report=lambda problem: problem.detail)
    pane.show_transfers(EVERY_STATE[1:])
    pane.show_transfers((EVERY_STATE[0], *reversed(EVERY_STATE[1:])))
    return pane


def library(theme: Theme) -> QWidget:
    pane = ModelsPane(theme=theme, report=lambda problem: problem.detail)
    rows = tuple(model_row(m, in_use_on="", now=NOW) for m in MODELS)
    pane.library.show_models(rows, summary="", count=len(rows))
    cards = tuple(
        PairCardContent(f"id{n}", f"Pair {n}", "", CardState.AVAILABLE, (), has_draft=True)
        for n in range(3)
    )
    pane.show_cards(cards[1:])
    pane.show_cards(cards)
    return pane


def pair(theme: Theme) -> QWidget:
    pane = PairPane(theme=theme, report=lambda problem: problem.detail)
    pane.show_contract(WARNINGS)
    pane.show_plan(PLAN, can_undo=True, is_in_vain=False)
    pane.show_checks((WORKING, USELESS))
    pane.show_contract(WARNINGS)
    return pane


def export_start(theme: Theme) -> QWidget:
    pane = ExportPane(theme=theme, report=lambda problem: problem.detail, cores=4)
    pane.environments.show_environments(ENVIRONMENTS)
    pane.environments.open()
    pane.runs.show_runs(EVERY_RUN[:2])
    pane.form.show_pairs((REQUEST,))
    pane.runs.show_runs(EVERY_RUN)
    pane.show_start()
    return pane


def export_plan(theme: Theme) -> QWidget:
    pane = ExportPane(theme=theme, report=lambda problem: problem.detail, cores=4)
    pane.show_plan(EXPORT_PLAN)
    pane.show_plan(TIGHT)
    return pane


def export_run(theme: Theme) -> QWidget:
    pane = ExportPane(theme=theme, report=lambda problem: problem.detail, cores=4)
    pane.show_run(RUNNING)
    pane.show_run(replace(DONE, id=RUNNING.id))
    return pane


def tab_stops(page: QWidget) -> list[QWidget]:
    stops: list[QWidget] = []
    widget = page.nextInFocusChain()
    while widget is not None and widget is not page:
        can_stop = widget.isVisible() and widget.isEnabled()
        if can_stop and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            stops.append(widget)
        widget = widget.nextInFocusChain()
    return stops


def place(page: QWidget, widget: QWidget) -> int:
    return widget.mapTo(page, QPoint(0, widget.height() // 2)).y()


@pytest.mark.parametrize(
    "build", [transfers, library, pair, export_start, export_plan, export_run]
)
def test_tab_goes_from_top_to_bottom(
    qtbot: QtBot, theme: Theme, build: Callable[[Theme], QWidget]
) -> None:
    page = build(theme)
    qtbot.addWidget(page)
    page.resize(800, 3000)
    page.show()
    QApplication.processEvents()
    stops = tab_stops(page)
    places = [place(page, stop) for stop in stops]
    # What stands side by side differs by a little.
    assert all(after >= before - 12 for before, after in pairwise(places))
    assert len(stops) > 7
    for stop in stops:
        text = stop.text() if isinstance(stop, QAbstractButton) else ""
        assert stop.accessibleName() or text, stop


def test_the_ways_out_of_a_problem_come_before_its_details(qtbot: QtBot, theme: Theme) -> None:
    view = ProblemView(theme=theme, report=lambda problem: problem.detail)
    qtbot.addWidget(view)
    for remedies in ((Remedy.RETRY,), (Remedy.ENTER_TOKEN, Remedy.RETRY)):
        view.show_problem(Problem("code", "It broke.", "", detail="raw", remedies=remedies))
    QApplication.processEvents()
    stops = [s.text() for s in tab_stops(view) if isinstance(s, QAbstractButton) and s.text()]
    assert stops == [Remedy.ENTER_TOKEN.label, Remedy.RETRY.label, "Details", "Copy details"]
