"""One export while it runs and when it is over: stages, memory, log, failure, result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.export_run import WORKING, ExportState
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.export.log_view import LogView
from dflash_desktop.ui.export.memory_graph import MemoryGraph
from dflash_desktop.ui.export.result_view import ResultView
from dflash_desktop.ui.export.run_words import (
    ACTIVE,
    OPEN,
    STATE_LOOKS,
    memory_numbers,
    place_line,
    spoken_run,
)
from dflash_desktop.ui.export.stage_list import StageList
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pair.icon_line import IconLine
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import (
    GAP_MEDIUM,
    GAP_SMALL,
    SIZE_CAPTION,
    STATE_COLOURS,
    TextRole,
    interface_font,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.question import Answer, Question
from dflash_desktop.ui.widgets.state_icon import StateIcon

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_run import ExportRun
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

_NOTICE: Final = (IconName.TRIANGLE_ALERT, ColourRole.WARN)
_STOP: Final = Answer("stop", "Cancel the export", "Deletes what it has made so far.")
_ASK_STOP: Final = (
    "Cancel this export? What it has made so far is deleted. To go on another time, pause it "
    "instead."
)
_ASK_DISCARD: Final = "Give this export up? What it has made so far is deleted."


class RunView(QWidget):
    """`result` has signals of its own.

    Signals: `back_requested`, `pause_requested(id)`, `resume_requested(id)` (also after a
    failure), `cancel_requested(id)`, `remedy_chosen(id, Remedy)`, `log_requested(path)`.
    """

    back_requested = Signal()
    pause_requested = Signal(str)
    resume_requested = Signal(str)
    cancel_requested = Signal(str)
    remedy_chosen = Signal(str, object)
    log_requested = Signal(object)

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._run: ExportRun | None = None
        self._title = ElidedLabel(role=TextRole.HEADING)
        self._icon = StateIcon(theme=theme)
        self._state = Label()
        self._place = Label(role=TextRole.MUTED, wraps=True)
        self._notice = IconLine(_NOTICE, "", theme=theme, role=TextRole.INTERFACE)
        self._problem = ProblemView(theme=theme, report=report, can_dismiss=False)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._question = Question(_STOP, no="Keep it", theme=theme, is_risky=True)
        self._question.answered.connect(self._on_stop_answered)
        self._question.closed.connect(self._on_question_closed)
        self.result = ResultView(theme=theme)
        self.stages = StageList(theme=theme)
        self.graph = MemoryGraph(theme=theme)
        self._memory_title = Label("Memory", role=TextRole.STRONG)
        self._memory = Label(role=TextRole.CAPTION, wraps=True)
        self._memory.setFont(interface_font(SIZE_CAPTION, tabular=True))
        self.log = LogView(theme=theme)
        self._built_buttons()
        self._lay_out()

    @property
    def run_id(self) -> str:
        """The run that is shown, if any."""
        return "" if self._run is None else self._run.id

    def show_run(self, run: ExportRun) -> None:
        """Show a run as it is now."""
        if run.id != self.run_id:
            self.log.clear()
            self._question.hide()
        was_open = self._run is not None and self._run.id == run.id and self._run.state in OPEN
        self._run = run
        word, role, icon = STATE_LOOKS[run.state]
        self._title.show_text(run.plan.request.title)
        self._state.show_text(word, role=role)
        self._icon.show_state(icon, STATE_COLOURS[role])
        self._place.show_text(place_line(run))
        self._notice.show_line(_NOTICE, run.notice)
        self._notice.setVisible(bool(run.notice))
        self.setAccessibleName(spoken_run(run))
        self._problem.follow(run.problem)
        self.result.show_result(run.result if run.state is ExportState.DONE else None)
        self.stages.show_stages(run.stages)
        self._show_memory(run)
        self.log.show_lines(run.log_lines, run.log_count)
        self.log.setVisible(bool(run.log_lines))
        self._show_buttons(run)
        if was_open and run.state is ExportState.DONE:
            self.result.take_focus()

    def take_focus(self) -> None:
        """Put the keyboard at the beginning."""
        self._back.setFocus()

    def _built_buttons(self) -> None:
        theme = self._theme
        self._back = Button("Exports", theme=theme, kind=ButtonKind.QUIET)
        self._back.show_icon(IconName.CHEVRON_LEFT)
        self._back.setAccessibleName("Back to all exports")
        self._back.clicked.connect(self.back_requested)
        self._pause = Button("Pause", theme=theme, icon=IconName.PAUSE)
        self._pause.setToolTip("It keeps its memory and computes no more until you resume it.")
        self._pause.clicked.connect(lambda: self.pause_requested.emit(self.run_id))
        self._resume = Button("Resume", theme=theme, kind=ButtonKind.PRIMARY)
        self._resume.clicked.connect(lambda: self.resume_requested.emit(self.run_id))
        self._cancel = Button("Cancel…", theme=theme, kind=ButtonKind.QUIET)
        self._cancel.clicked.connect(self._on_cancel_clicked)
        self._log_file = Button("Open the whole log", theme=theme, kind=ButtonKind.LINK)
        self._log_file.clicked.connect(self._on_log_clicked)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self._back)
        top.addStretch(1)
        title = QHBoxLayout()
        title.setSpacing(GAP_SMALL)
        title.addWidget(self._title, 1)
        title.addWidget(self._icon)
        title.addWidget(self._state)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_MEDIUM)
        column.addLayout(top)
        column.addLayout(title)
        above = (self._place, self._notice, self._problem, self.result, self._question)
        below = (self.stages, self._memory_title, self.graph, self._memory, self.log)
        for part in above:
            column.addWidget(part)
        column.addLayout(FlowRow(self._pause, self._resume, self._cancel))
        for widget in below:
            column.addWidget(widget)
        column.addLayout(FlowRow(self._log_file))

    def _show_memory(self, run: ExportRun) -> None:
        has_memory = bool(run.memory) or run.state in ACTIVE
        for part in (self._memory_title, self.graph):
            part.setVisible(has_memory)
        if has_memory:
            self.graph.show_samples(run.memory, is_over=run.state not in OPEN)
        numbers = memory_numbers(run)
        self._memory.show_text(numbers)
        self._memory.setVisible(bool(numbers))

    def _show_buttons(self, run: ExportRun) -> None:
        state = run.state
        if state not in OPEN and state is not ExportState.FAILED:
            self._question.hide()
        is_asking = not self._question.isHidden()
        had_focus = self._pause.hasFocus() or self._resume.hasFocus()
        # A problem that offers to try again has the button already.
        has_retry = run.problem is not None and Remedy.RETRY in run.problem.remedies
        is_stopped = state in (ExportState.PAUSED, ExportState.FAILED)
        can_resume = not is_asking and is_stopped and not has_retry
        can_pause = not is_asking and state in (ExportState.RUNNING, ExportState.WAITING)
        self._pause.setVisible(can_pause)
        self._resume.setVisible(can_resume)
        self._resume.setText("Resume" if state is ExportState.PAUSED else "Try again")
        if had_focus and (can_pause or can_resume):  # else Qt would move on to what cancels it
            (self._resume if can_resume else self._pause).setFocus()
        is_over = state in (ExportState.DONE, ExportState.CANCELLED, ExportState.STOPPING)
        self._cancel.setVisible(not is_asking and not is_over)
        self._cancel.setText("Discard…" if is_stopped else "Cancel…")
        self._log_file.setVisible(run.log_file is not None and bool(run.log_lines))

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            self.resume_requested.emit(self.run_id)
        else:
            self.remedy_chosen.emit(self.run_id, remedy)

    def _on_cancel_clicked(self) -> None:
        if self._run is None:
            return
        is_open = self._run.state in WORKING
        self._question.show_label(_STOP.key, "Cancel the export" if is_open else "Discard it")
        self._question.ask(_ASK_STOP if is_open else _ASK_DISCARD)
        self._show_buttons(self._run)

    def _on_stop_answered(self) -> None:
        self._question.hide()
        self.cancel_requested.emit(self.run_id)

    def _on_question_closed(self) -> None:
        self._question.hide()
        if self._run is not None:
            self._show_buttons(self._run)
        self._cancel.setFocus()

    def _on_log_clicked(self) -> None:
        if self._run is not None and self._run.log_file is not None:
            self.log_requested.emit(self._run.log_file)
