"""The environments in which exports run, folded away: most people need not know of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.ui.export.environment_card import EnvironmentCard
from dflash_desktop.ui.export.environment_words import INTRO, summary
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.fold import Fold
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.tab_order import order_tabs

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_environment import EnvironmentStatus
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme


class EnvironmentsView(QWidget):
    """Signals: those of `EnvironmentCard`."""

    install_requested = Signal(str)
    repair_requested = Signal(str)
    remove_requested = Signal(str)
    cancelled = Signal(str)
    remedy_chosen = Signal(str, object)

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._report = report
        self._cards: dict[str, EnvironmentCard] = {}
        self._summary = Label(role=TextRole.MUTED, wraps=True)
        self._problem = ProblemView(theme=theme, report=report, can_dismiss=False)
        inside = QWidget()
        self._column = QVBoxLayout(inside)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP_MEDIUM)
        self._fold = Fold("Show them", inside, theme=theme)
        self._fold.button.setAccessibleName("Show the export tools")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(Label("Export tools", role=TextRole.STRONG))
        column.addWidget(Label(INTRO, role=TextRole.MUTED, wraps=True))
        column.addWidget(self._summary)
        column.addWidget(self._problem)
        column.addWidget(self._fold)
        self.hide()

    def show_environments(self, statuses: tuple[EnvironmentStatus, ...]) -> None:
        """Show what is known of them; cards that are there already only change."""
        self.show()
        self._problem.clear()
        self._fold.setVisible(bool(statuses))
        self._summary.show_text(summary(statuses))
        for status in statuses:
            if status.id in self._cards:
                self._cards[status.id].show_status(status)
                continue
            card = EnvironmentCard(status, theme=self._theme, report=self._report)
            card.install_requested.connect(self.install_requested)
            card.repair_requested.connect(self.repair_requested)
            card.remove_requested.connect(self.remove_requested)
            card.cancelled.connect(self.cancelled)
            card.remedy_chosen.connect(self.remedy_chosen)
            self._cards[status.id] = card
            self._column.addWidget(card)
        order_tabs(self)

    def show_problem(self, problem: Problem) -> None:
        """Say why nothing is known of them: this platform has none, for instance."""
        self.show()
        self._fold.hide()
        self._summary.show_text("")
        self._problem.show_problem(replace(problem, remedies=()))

    def card(self, environment_id: str) -> EnvironmentCard | None:
        """The card of one of them."""
        return self._cards.get(environment_id)

    def open(self) -> None:
        """Show them without being asked: something was said about one of them."""
        self._fold.button.setChecked(True)
