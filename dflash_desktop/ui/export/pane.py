"""The export page: what is wanted, then the plan, then the run with its result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.ui.export.environments_view import EnvironmentsView
from dflash_desktop.ui.export.form import ExportForm
from dflash_desktop.ui.export.plan_view import PlanView
from dflash_desktop.ui.export.run_list import RunList
from dflash_desktop.ui.export.run_view import RunView
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, TextRole
from dflash_desktop.ui.widgets.drop_sheet import DropSheet
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_plan import ExportPlan
    from dflash_desktop.domain.export_run import ExportRun
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 760
_INTRO: Final = (
    "Most models and drafts are published as checkpoints, which cannot run here. An export makes "
    "models of them that can. First you see what it takes; nothing starts before you say so."
)
_DROP_WORDS: Final = (
    "The folder of a checkpoint, or a draft as GGUF. It is only read, and stays where it is."
)


class ExportPane(PageColumn):
    """The page; its parts `runs`, `form`, `environments`, `plan` and `run` have signals of their
    own.

    Signals: `dropped(paths)`, `remedy_chosen(Remedy)` for a problem of the page.
    """

    dropped = Signal(tuple)
    remedy_chosen = Signal(object)

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        cores: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(width=_WIDTH, parent=parent)
        self.runs = RunList(theme=theme)
        self.form = ExportForm(theme=theme, report=report, cores=cores)
        self.environments = EnvironmentsView(theme=theme, report=report)
        self.plan = PlanView(theme=theme, report=report)
        self.run = RunView(theme=theme, report=report)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._sheet = DropSheet(self.viewport(), explanation=_DROP_WORDS, theme=theme)
        self._sheet.dropped.connect(self.dropped)
        self._start = self._built_start()
        for part in (self._problem, self._start, self.plan, self.run):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.show_start()

    @property
    def is_at_start(self) -> bool:
        """Whether the form is shown."""
        return not self._start.isHidden()

    @property
    def is_at_plan(self) -> bool:
        """Whether a plan is shown."""
        return not self.plan.isHidden()

    @property
    def shown_run_id(self) -> str:
        """The run that is shown now; empty while something else is."""
        return "" if self.run.isHidden() else self.run.run_id

    def show_start(self) -> None:
        """The exports that there are, and the form for another one."""
        self._show_only(self._start)

    def show_plan(self, plan: ExportPlan) -> None:
        """What an export would take."""
        self.plan.show_plan(plan)
        self._show_only(self.plan)
        self.plan.take_focus()

    def show_run(self, run: ExportRun) -> None:
        """One export."""
        had_result = self.run.result.is_shown
        self.run.show_run(run)
        if self.run.isHidden():
            self._show_only(self.run)
            self.run.take_focus()
        elif self.run.result.is_shown is not had_result:
            self.order_tabs()

    def show_problem(self, problem: Problem) -> None:
        """Say why something that was asked for here could not be done."""
        self._problem.show_problem(problem)
        self.ensureWidgetVisible(self._problem)

    def clear_problem(self) -> None:
        """It is over."""
        self._problem.clear()

    def show_environments(self) -> None:
        """Bring the environments into view."""
        self.show_start()
        self.environments.open()
        # Once the layout has given them their place.
        QTimer.singleShot(
            0, self.environments, lambda: self.ensureWidgetVisible(self.environments)
        )

    def _built_start(self) -> QWidget:
        start = QWidget()
        column = QVBoxLayout(start)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(Label("Export", role=TextRole.HEADING))
        column.addWidget(Label(_INTRO, role=TextRole.MUTED, wraps=True))
        column.addWidget(self.runs)
        column.addWidget(Label("Make a model from a checkpoint", role=TextRole.STRONG))
        column.addWidget(self.form)
        column.addWidget(self.environments)
        return start

    def _show_only(self, part: QWidget) -> None:
        for one in (self._start, self.plan, self.run):
            one.setVisible(one is part)
        self._problem.clear()
        self.verticalScrollBar().setValue(0)
        self.order_tabs()

    def _on_remedy_chosen(self, remedy: object) -> None:
        self._problem.clear()
        self.remedy_chosen.emit(remedy)
