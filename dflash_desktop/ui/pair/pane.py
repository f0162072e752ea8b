"""The page that answers whether a pair works, and mends what can be mended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pair.contract_view import ContractView
from dflash_desktop.ui.pair.history_view import HistoryView
from dflash_desktop.ui.pair.precision_view import PrecisionView
from dflash_desktop.ui.pair.repair_card import RepairCard
from dflash_desktop.ui.pair.verdict_view import VerdictView
from dflash_desktop.ui.pair.ways_card import WaysCard
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP_MEDIUM, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.widgets.progress_card import ProgressCard

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.check_summary import CheckSummary
    from dflash_desktop.domain.draft_rivals import WaysCompared
    from dflash_desktop.domain.pair_contract import ContractResult
    from dflash_desktop.domain.precision_question import PrecisionComparison
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.repair_plan import RepairPlan
    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 760
_ABOUT: Final = (
    "The files are read first, without loading anything. Check then answers five questions with "
    "and without the draft: under a minute for a small pair. The chat uses this pair afterwards."
)
_COMPARE: Final = "Checks this draft in each of its installed precisions, one after the other"
_LOOKING: Final = "Reading the files of the pair…"
_BUSY: Final = "Something runs already. Wait for it or cancel it."


class PairPane(PageColumn):
    """The page; its parts `repair` and `ways` have signals of their own.

    Signals: `back_requested`, `check_requested`, `compare_requested`, `cancel_requested`,
    `copy_requested`, `save_requested(path)`, `remedy_chosen(Remedy)`.
    """

    back_requested = Signal()
    check_requested = Signal()
    compare_requested = Signal()
    cancel_requested = Signal()
    copy_requested = Signal()
    save_requested = Signal(str)
    remedy_chosen = Signal(object)

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(width=_WIDTH, parent=parent)
        self._theme = theme
        self._title = ElidedLabel(role=TextRole.STRONG)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._looking = Label(_LOOKING, role=TextRole.MUTED)
        self._progress = ProgressCard(
            sentence=ElidedLabel(role=TextRole.STRONG), name="Check of the pair", theme=theme
        )
        self._progress.cancelled.connect(self.cancel_requested)
        self._verdict: VerdictView | None = None
        self._verdict_place = QVBoxLayout()
        self._precisions: PrecisionView | None = None
        self._precisions_place = QVBoxLayout()
        self.repair = RepairCard(theme=theme)
        self.ways = WaysCard(theme=theme)
        self._contract_title = Label("What the files say", role=TextRole.STRONG)
        self._contract = ContractView(theme=theme)
        self._history_title = Label("Checks of this pair", role=TextRole.STRONG)
        self._history = HistoryView()
        self._lay_out()
        self.show_pair("")

    def show_pair(self, title: str) -> None:
        """Begin anew with another pair: nothing is known of it yet."""
        self._title.show_text(title)
        self._problem.clear()
        self.repair.hide()
        self.ways.hide()
        self.show_checks(())
        self.show_others(0)
        self.show_precisions(None)
        self.show_looking()
        self.show_idle()

    def show_looking(self) -> None:
        """Its files are being read."""
        self._looking.show()
        self._contract_title.hide()
        self._contract.hide()
        self._show_report_buttons(False)

    def show_contract(self, contract: ContractResult) -> None:
        """What the files say."""
        self._looking.hide()
        self._contract_title.show()
        self._contract.show_contract(contract)
        self._contract.show()
        self._show_report_buttons(True)
        self.order_tabs()

    def show_plan(self, plan: RepairPlan, *, can_undo: bool, is_in_vain: bool) -> None:
        """What can be repaired or undone."""
        self.repair.show_plan(plan, can_undo=can_undo, is_in_vain=is_in_vain)
        self.order_tabs()

    def show_checks(self, checks: Sequence[CheckSummary]) -> None:
        """The pair's checks, the newest first, which is shown in full."""
        if self._verdict is not None:
            self._verdict_place.removeWidget(self._verdict)
            self._verdict.hide()
            self._verdict.deleteLater()
            self._verdict = None
        if checks:
            self._verdict = VerdictView(checks[0], theme=self._theme)
            self._verdict_place.addWidget(self._verdict)
        self._check.setText("Check again" if checks else "Check")
        for part in (self._history_title, self._history):
            part.setVisible(len(checks) > 1)
        self._history.show_checks(checks)

    def show_ways(self, titles: Sequence[str], compared: WaysCompared | None) -> None:
        """What else drafts for this target, and how they compare here."""
        self.ways.show_ways(titles, compared)
        self.order_tabs()

    def show_others(self, count: int) -> None:
        """In how many other precisions the draft is installed: with none nothing is compared."""
        self._compare.setText(f"Compare {count + 1} precisions")
        self._compare.setVisible(count > 0)
        self.order_tabs()

    def show_precisions(self, comparison: PrecisionComparison | None) -> None:
        """What the comparison of precisions says, or nothing."""
        if self._precisions is not None:
            self._precisions_place.removeWidget(self._precisions)
            self._precisions.hide()
            self._precisions.deleteLater()
            self._precisions = None
        if comparison is not None:
            self._precisions = PrecisionView(comparison)
            self._precisions_place.addWidget(self._precisions)

    def show_progress(self, sentence: str, numbers: str, share: float) -> None:
        """How far a check or a repair is: `share` from 0 to 1."""
        self._problem.clear()
        self._progress.show_progress(sentence, numbers, share)
        self._progress.show()
        self._show_busy(_BUSY)

    def show_idle(self) -> None:
        """Nothing runs any more."""
        self._progress.hide()
        self._show_busy("")

    def show_problem(self, problem: Problem) -> None:
        """Say what went wrong under the heading."""
        self._looking.hide()
        self._problem.show_problem(problem)

    def show_copied(self) -> None:
        """Say that the report is in the clipboard."""
        self._copy.setText("Copied")

    def take_focus(self) -> None:
        """Put the keyboard on the way back, from where Tab goes on."""
        self._back.setFocus()

    def _lay_out(self) -> None:
        theme = self._theme
        self._back = Button(
            "Models", theme=theme, kind=ButtonKind.QUIET, icon=IconName.CHEVRON_LEFT
        )
        self._back.setAccessibleName("Back to your models")
        self._back.clicked.connect(self.back_requested)
        self._check = Button("Check", theme=theme, kind=ButtonKind.PRIMARY)
        self._check.clicked.connect(self.check_requested)
        self._compare = Button("", theme=theme)
        self._compare.clicked.connect(self.compare_requested)
        self._copy = Button("Copy report", theme=theme, kind=ButtonKind.QUIET, icon=IconName.COPY)
        self._copy.clicked.connect(self.copy_requested)
        self._save = Button("Save report…", theme=theme, kind=ButtonKind.QUIET)
        self._save.clicked.connect(self._on_save_clicked)
        for button in (self._copy, self._save):
            button.setToolTip("As Markdown, without folders and names of persons")
        self.column.addLayout(FlowRow(self._back))
        self.column.addWidget(Label("Does this pair work?", role=TextRole.HEADING))
        self.column.addWidget(self._title)
        self.column.addWidget(Label(_ABOUT, role=TextRole.MUTED, wraps=True))
        self.column.addWidget(self._problem)
        self.column.addLayout(FlowRow(self._check, self._compare, self._copy, self._save))
        self.column.addWidget(self._progress)
        self.column.addLayout(self._verdict_place)
        self.column.addLayout(self._precisions_place)
        self.column.addWidget(self.ways)
        self.column.addWidget(self.repair)
        self.column.addSpacing(GAP_MEDIUM)
        parts = (
            self._looking,
            self._contract_title,
            self._contract,
            self._history_title,
            self._history,
        )
        for part in parts:
            self.column.addWidget(part)
        self.column.addStretch(1)

    def _show_busy(self, why: str) -> None:
        for button, what in ((self._check, ""), (self._compare, _COMPARE)):
            button.setEnabled(not why)
            button.setToolTip(why or what)
        self.repair.show_busy(why)
        self.ways.show_busy(why)

    def _show_report_buttons(self, is_there: bool) -> None:
        self._copy.setText("Copy report")
        self._copy.setVisible(is_there)
        self._save.setVisible(is_there)

    def _on_save_clicked(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, "Save the report", "pair-report.md", "Markdown (*.md)"
        )
        if path:
            self.save_requested.emit(path)

    def _on_remedy_chosen(self, remedy: object) -> None:
        self._problem.clear()
        self.remedy_chosen.emit(remedy)
