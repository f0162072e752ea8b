"""What an export will do and take, before it starts; nothing is run to show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.export_plan import ExportVerdict
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.export.alternative_card import AlternativeCard
from dflash_desktop.ui.export.plan_steps import PlanSteps
from dflash_desktop.ui.export.plan_words import (
    VERDICT_LOOKS,
    memory_limit,
    memory_line,
    memory_parts,
    plan_facts,
    start_words,
)
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pair.fact_rows import FactRows
from dflash_desktop.ui.pair.icon_line import IconLine
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, STATE_COLOURS, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.fold import Fold
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.memory_bar import LabelledMemoryBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_plan import ExportPlan
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme


class PlanView(QWidget):
    """Signals: `back_requested`, `start_requested`, `again_requested` to look once more,
    `pair_requested(pair_id)` and `request_chosen(ExportRequest)` of the alternatives,
    `remedy_chosen(Remedy)`.
    """

    back_requested = Signal()
    start_requested = Signal()
    again_requested = Signal()
    pair_requested = Signal(str)
    request_chosen = Signal(object)
    remedy_chosen = Signal(object)

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._plan: ExportPlan | None = None
        self._back = Button("Change", theme=theme, kind=ButtonKind.QUIET)
        self._back.show_icon(IconName.CHEVRON_LEFT)
        self._back.setAccessibleName("Back to the choice of the checkpoints")
        self._back.clicked.connect(self.back_requested)
        self._title = ElidedLabel(role=TextRole.HEADING)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self.remedy_chosen)
        self._verdict = IconLine((IconName.CIRCLE_CHECK, ColourRole.GOOD), "", theme=theme)
        self._reasons = Label(wraps=True)
        self._bar = LabelledMemoryBar("Memory that the export takes", theme=theme)
        self._memory = Label(wraps=True)
        self._formula = Label(role=TextRole.MUTED, wraps=True)
        self._why = Fold("How this was worked out", self._formula, theme=theme)
        self._facts = QVBoxLayout()
        self._warnings = QVBoxLayout()
        self._start = Button("Export", theme=theme, kind=ButtonKind.PRIMARY)
        self._start.clicked.connect(self.start_requested)
        self._again = Button("Look again", theme=theme, icon=IconName.REFRESH)
        self._again.setToolTip("After you closed other programs, or made room on the disk")
        self._again.clicked.connect(self.again_requested)
        ways = QWidget()
        self._ways = QVBoxLayout(ways)
        self._ways.setContentsMargins(0, 0, 0, 0)
        self._ways_fold = Fold("Other ways", ways, theme=theme)
        self._steps = PlanSteps(theme=theme)
        self._lay_out()

    def show_plan(self, plan: ExportPlan) -> None:
        """Show another plan."""
        self._plan = plan
        self._problem.clear()
        words, role, icon = VERDICT_LOOKS[plan.verdict]
        self._title.show_text(plan.request.title)
        self._verdict.show_line((icon, STATE_COLOURS[role]), words)
        self._reasons.show_text("\n".join(plan.reasons))
        self._reasons.setVisible(bool(plan.reasons))
        self._bar.show_parts(memory_parts(plan), limit_bytes=memory_limit(plan))
        self._memory.show_text("" if plan.reasons else memory_line(plan))
        self._memory.setVisible(not plan.reasons)
        self._formula.show_text(plan.peak_formula)
        self._why.setVisible(bool(plan.peak_formula))
        self._show_facts(plan)
        self._show_ways(plan)
        self._steps.show_steps(plan)
        self._show_start()

    def show_problem(self, problem: Problem) -> None:
        """Say why it could not be started."""
        self._problem.show_problem(problem)
        self._show_start()

    def show_starting(self) -> None:
        """It was asked for: nobody starts it twice."""
        self._problem.clear()
        self._start.setEnabled(False)

    def show_looking(self) -> None:
        """The plan is being made once more."""
        self._again.setEnabled(False)
        self._start.setEnabled(False)

    def take_focus(self) -> None:
        """Put the keyboard on what comes next."""
        can_start = self._start.isEnabled() and not self._start.isHidden()
        (self._start if can_start else self._back).setFocus()

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self._back)
        top.addStretch(1)
        self._warnings.setSpacing(GAP_SMALL)
        self._ways.setSpacing(GAP_MEDIUM)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_MEDIUM)
        column.addLayout(top)
        for part in (self._title, self._problem, self._verdict, self._reasons, self._bar):
            column.addWidget(part)
        column.addWidget(self._memory)
        column.addWidget(self._why)
        column.addLayout(self._facts)
        column.addLayout(self._warnings)
        column.addLayout(FlowRow(self._start, self._again))
        column.addWidget(self._ways_fold)
        column.addSpacing(GAP - GAP_MEDIUM)
        column.addWidget(self._steps)

    def _show_facts(self, plan: ExportPlan) -> None:
        empty_layout(self._facts)
        self._facts.addWidget(FactRows(plan_facts(plan), name_width=96))
        empty_layout(self._warnings)
        look = (IconName.TRIANGLE_ALERT, ColourRole.WARN)
        for words in plan.warnings:
            self._warnings.addWidget(
                IconLine(look, words, theme=self._theme, role=TextRole.INTERFACE)
            )

    def _show_ways(self, plan: ExportPlan) -> None:
        empty_layout(self._ways)
        # Whoever can start has no need of them; else they are what the page is for.
        is_fine = plan.verdict is ExportVerdict.FITS
        self._ways_fold.button.setText("Other ways" if is_fine else "Ways out")
        self._ways_fold.button.setChecked(not is_fine)
        self._ways_fold.setVisible(bool(plan.alternatives))
        for alternative in plan.alternatives:
            card = AlternativeCard(alternative, theme=self._theme)
            card.pair_requested.connect(self.pair_requested)
            card.request_chosen.connect(self.request_chosen)
            self._ways.addWidget(card)

    def _show_start(self) -> None:
        if self._plan is None:
            return
        verdict = self._plan.verdict
        self._start.setVisible(verdict is not ExportVerdict.CANNOT)
        self._start.setText(start_words(self._plan))
        self._start.setEnabled(True)
        self._again.setVisible(verdict is not ExportVerdict.FITS)
        self._again.setEnabled(True)
