"""The page that shows what the draft is worth here, and measures it."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.measure.report_view import ReportView
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.widgets.progress_card import ProgressCard
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame
from dflash_desktop.ui.widgets.switch import Switch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.ui.theme import Theme

_WIDTH = 860
_INTRO = (
    "The same questions are answered with and without the draft, in turns, on this device. The "
    "chat then uses the number of assistant tokens that is fastest here, or leaves the draft off."
)


class View(Enum):
    """What the page shows below its heading."""

    NO_MODEL = auto()
    INVITATION = auto()
    PROGRESS = auto()
    REPORT = auto()


class MeasurePane(PageColumn):
    """The measure page.

    Signals: `measure_requested(fast)`, `cancel_requested`, `models_requested`,
    `draft_switched(on)`, `copy_requested`, `export_requested(path)`, `ways_requested` (to compare
    the target's drafts), `remedy_chosen(Remedy)`.
    """

    measure_requested = Signal(bool)
    cancel_requested = Signal()
    models_requested = Signal()
    draft_switched = Signal(bool)
    copy_requested = Signal()
    export_requested = Signal(str)
    ways_requested = Signal()
    remedy_chosen = Signal(object)

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(width=_WIDTH, parent=parent)
        self._theme = theme
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._intro = Label(_INTRO, role=TextRole.MUTED, wraps=True)
        self._report_view = ReportView(theme=theme)
        self.column.addWidget(Label("Measure", role=TextRole.HEADING))
        self.column.addWidget(self._intro)
        self.column.addWidget(self._problem)
        self._parts: dict[View, QWidget] = {
            View.NO_MODEL: self._built_no_model(),
            View.INVITATION: self._built_invitation(),
            View.PROGRESS: self._built_progress(),
            View.REPORT: self._built_report(),
        }
        self._ways = self._built_ways()
        for part in (*self._parts.values(), self._ways):
            self.column.addWidget(part)
        self.column.addStretch(1)
        self.show_no_model("")
        self.show_ways(())

    def show_no_model(self, words: str) -> None:
        """Say why nothing can be measured now."""
        self._no_model.show_text(words)
        self._show(View.NO_MODEL)

    def show_invitation(self, model_title: str) -> None:
        """Offer to measure a pair that has no measurement for this machine."""
        self._not_measured.show_text(f"{model_title} has not been measured on this device yet")
        self._show(View.INVITATION)

    def show_progress(self, sentence: str, share: float, numbers: str) -> None:
        """How far a measurement is: `share` from 0 to 1."""
        self._progress.show_progress(sentence, numbers, share)
        self._problem.clear()
        self._show(View.PROGRESS)

    def show_report(self, report: BenchReport, *, draft_words: str, draft_is_on: bool) -> None:
        """Show a measurement, and what the chat does with it."""
        self._report_view.show_report(report)
        self._switch.setChecked(draft_is_on)
        self._switch_words.show_text(draft_words)
        self._show(View.REPORT)

    def show_ways(self, others: Sequence[str]) -> None:
        """What else drafts for the loaded target, by its titles; nothing without any."""
        self._ways.setVisible(bool(others))
        named = ", ".join(f"“{title}”" for title in others)
        self._ways_words.show_text(f"This also drafts for the same target: {named}.")

    def show_problem(self, problem: Problem) -> None:
        """Show a problem under the heading."""
        self._problem.show_problem(problem)

    def show_copied(self) -> None:
        """Say that the report is in the clipboard."""
        self._copy.setText("Copied")

    def _show(self, view: View) -> None:
        for name, part in self._parts.items():
            part.setVisible(name is view)

    def _built_no_model(self) -> SurfaceFrame:
        part = SurfaceFrame(Surface.PAGE)
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        self._no_model = Label(wraps=True)
        choose = Button("Choose model", theme=self._theme, kind=ButtonKind.PRIMARY)
        choose.clicked.connect(self.models_requested)
        column.addWidget(self._no_model)
        column.addLayout(FlowRow(choose))
        return part

    def _built_invitation(self) -> SurfaceFrame:
        part = SurfaceFrame(Surface.CARD)
        column = QVBoxLayout(part)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        self._not_measured = Label(role=TextRole.STRONG, wraps=True)
        column.addWidget(self._not_measured)
        column.addWidget(
            Label(
                "Fast tries one question of each kind and takes about half a minute with the "
                "starter model; full tries all of them and takes several times as long. The "
                "computer should have nothing else to do meanwhile.",
                role=TextRole.MUTED,
                wraps=True,
            )
        )
        column.addLayout(FlowRow(*self._built_measure_buttons("Measure fast", "Measure in full")))
        return part

    def _built_progress(self) -> ProgressCard:
        self._progress = ProgressCard(
            sentence=ElidedLabel(role=TextRole.STRONG), name="Measurement", theme=self._theme
        )
        self._progress.cancelled.connect(self.cancel_requested)
        return self._progress

    def _built_report(self) -> SurfaceFrame:
        part = SurfaceFrame(Surface.PAGE)
        self._switch = Switch("Use the draft", theme=self._theme)
        self._switch.clicked.connect(self.draft_switched)
        self._switch_words = Label(wraps=True)
        use = QHBoxLayout()
        use.setSpacing(GAP_SMALL)
        use.addWidget(self._switch)
        use.addWidget(self._switch_words, 1)
        self._report_view.verdict_actions.addSpacing(GAP_SMALL)
        self._report_view.verdict_actions.addLayout(use)
        self._copy = Button("Copy", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.COPY)
        self._copy.setToolTip("Copy the measurement as JSON")
        self._copy.clicked.connect(self.copy_requested)
        export = Button("Export JSON…", theme=self._theme, kind=ButtonKind.QUIET)
        export.clicked.connect(self._on_export_clicked)
        again = self._built_measure_buttons("Measure again, fast", "Measure again, in full")
        for button in again:
            button.setProperty("kind", ButtonKind.NORMAL.value)
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(self._report_view)
        column.addLayout(FlowRow(*again, self._copy, export))
        return part

    def _built_ways(self) -> SurfaceFrame:
        part = SurfaceFrame(Surface.PAGE)
        column = QVBoxLayout(part)
        column.setContentsMargins(0, GAP_SMALL, 0, 0)
        column.setSpacing(GAP_SMALL)
        self._ways_words = Label(role=TextRole.MUTED, wraps=True)
        compare = Button("Compare them", theme=self._theme)
        compare.setToolTip("Opens the pair's page, which measures all of them in one go")
        compare.clicked.connect(self.ways_requested)
        column.addWidget(self._ways_words)
        column.addLayout(FlowRow(compare))
        return part

    def _built_measure_buttons(self, fast: str, full: str) -> tuple[Button, Button]:
        quick = Button(fast, theme=self._theme, kind=ButtonKind.PRIMARY)
        quick.clicked.connect(lambda: self.measure_requested.emit(True))
        whole = Button(full, theme=self._theme)
        whole.clicked.connect(lambda: self.measure_requested.emit(False))
        return quick, whole

    def _on_export_clicked(self) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self, "Export the measurement", "measurement.json", "JSON (*.json)"
        )
        if path:
            self.export_requested.emit(path)

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        self._problem.clear()
        self.remedy_chosen.emit(remedy)
