"""The exports that there are: one that runs, those that wait or were cut off, those just made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.export_run import WORKING, ExportState
from dflash_desktop.ui.export.run_words import STATE_LOOKS, place_line, spoken_run
from dflash_desktop.ui.theme import (
    GAP,
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    STATE_COLOURS,
    TextRole,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.question import Answer, Question
from dflash_desktop.ui.widgets.state_icon import StateIcon
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame
from dflash_desktop.ui.widgets.tab_order import order_tabs

if TYPE_CHECKING:
    from dflash_desktop.domain.export_run import ExportRun
    from dflash_desktop.ui.theme import Theme

_DELETE: Final = Answer("delete", "Delete it", "What it has made so far goes from the disk.")
_ASK_DELETE: Final = "Remove this export? What it has made so far is deleted."


class RunList(QWidget):
    """Hidden while there is none.

    Signals, each with the run's id: `shown(id)`, `resume_requested(id)`, `removed(id)`.
    """

    shown = Signal(str)
    resume_requested = Signal(str)
    removed = Signal(str)

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._cards: dict[str, RunCard] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GAP_MEDIUM)
        self.hide()

    def show_runs(self, runs: tuple[ExportRun, ...]) -> None:
        """Show these, the newest first; cards that are there already only change."""
        for run_id in self._cards.keys() - {run.id for run in runs}:
            card = self._cards.pop(run_id)
            card.hide()
            card.deleteLater()
        was_built = False
        for position, run in enumerate(reversed(runs)):
            if run.id not in self._cards:
                self._cards[run.id] = self._built_card(run)
                was_built = True
            card = self._cards[run.id]
            if self._column.indexOf(card) != position:
                self._column.insertWidget(position, card)
            card.show_run(run)
        if was_built:
            order_tabs(self)
        self.setVisible(bool(runs))

    def _built_card(self, run: ExportRun) -> RunCard:
        card = RunCard(run.id, theme=self._theme)
        card.shown.connect(self.shown)
        card.resume_requested.connect(self.resume_requested)
        card.removed.connect(self.removed)
        return card


class RunCard(SurfaceFrame):
    """Signals as of `RunList`."""

    shown = Signal(str)
    resume_requested = Signal(str)
    removed = Signal(str)

    def __init__(self, run_id: str, *, theme: Theme) -> None:
        super().__init__(Surface.CARD)
        self._id = run_id
        self._run: ExportRun | None = None
        self._title = ElidedLabel(role=TextRole.STRONG)
        self._icon = StateIcon(theme=theme)
        self._state = Label()
        self._line = Label(role=TextRole.MUTED, wraps=True)
        self._show = Button("Show", theme=theme)
        self._show.clicked.connect(lambda: self.shown.emit(self._id))
        self._resume = Button("Resume", theme=theme)
        self._resume.clicked.connect(lambda: self.resume_requested.emit(self._id))
        self._remove = Button("Remove", theme=theme, kind=ButtonKind.QUIET)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._question = Question(_DELETE, no="Keep it", theme=theme, is_risky=True)
        self._question.answered.connect(lambda _: self.removed.emit(self._id))
        self._question.closed.connect(self._on_question_closed)
        top = QHBoxLayout()
        top.setSpacing(GAP_SMALL)
        top.addWidget(self._title, 1)
        top.addWidget(self._icon)
        top.addWidget(self._state)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        column.setSpacing(GAP_TINY)
        column.addLayout(top)
        column.addWidget(self._line)
        column.addSpacing(GAP_TINY)
        column.addWidget(self._question)
        column.addLayout(FlowRow(self._show, self._resume, self._remove))

    def show_run(self, run: ExportRun) -> None:
        """Show a run as it is now."""
        self._run = run
        word, role, _ = STATE_LOOKS[run.state]
        title = run.plan.request.title
        self._title.show_text(title)
        self._state.show_text(word, role=role)
        headline = "" if run.problem is None else run.problem.headline
        self._line.show_text(headline or place_line(run))
        self._line.setVisible(bool(self._line.text()))
        is_asking = not self._question.isHidden()
        is_stopped = run.state in (ExportState.PAUSED, ExportState.FAILED)
        if self._resume.hasFocus() and not is_stopped:  # else Qt would leave the page
            self._show.setFocus()
        self._resume.setVisible(is_stopped and not is_asking)
        self._remove.setVisible(run.state not in WORKING and not is_asking)
        self._remove.setText("Remove…" if is_stopped else "Take off this list")
        self.setAccessibleName(spoken_run(run))
        for button in (self._show, self._resume, self._remove):
            button.setAccessibleName(f"{button.text()}: {title}")
        _, role, icon = STATE_LOOKS[run.state]
        self._icon.show_state(icon, STATE_COLOURS[role])

    def _on_remove_clicked(self) -> None:
        if self._run is None or self._run.state in (ExportState.DONE, ExportState.CANCELLED):
            self.removed.emit(self._id)
            return
        self._question.ask(_ASK_DELETE)
        self.show_run(self._run)

    def _on_question_closed(self) -> None:
        self._question.hide()
        if self._run is not None:
            self.show_run(self._run)
        self._remove.setFocus()
