"""The last page of the setup: what is loaded where, and a first question to click."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.chat.empty_view import FIRST_QUESTIONS
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.wizard.machine_page import PAGE_WIDTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

_QUESTIONS_WIDTH: Final = 440


class ReadyPage(PageColumn):
    """Signals: `question_chosen(str)`, `measure_requested`, `models_requested`,
    `remedy_chosen(Remedy)`.
    """

    question_chosen = Signal(str)
    measure_requested = Signal()
    models_requested = Signal()
    remedy_chosen = Signal(Remedy)

    def __init__(self, *, theme: Theme, report: Callable[[Problem], str]) -> None:
        super().__init__(width=PAGE_WIDTH)
        self._heading = Label(role=TextRole.HEADING, wraps=True)
        self._words = Label(role=TextRole.READING, wraps=True)
        self._problem = ProblemView(theme=theme, report=report, can_dismiss=False)
        self._problem.remedy_chosen.connect(self.remedy_chosen)
        self._questions = QWidget()
        self._questions.setMaximumWidth(_QUESTIONS_WIDTH)
        questions = QVBoxLayout(self._questions)
        questions.setContentsMargins(0, 0, 0, 0)
        questions.setSpacing(GAP_SMALL)
        questions.addWidget(Label("Ask it something to begin with:", role=TextRole.MUTED))
        self._first: Button | None = None
        for question in FIRST_QUESTIONS:
            button = Button(question, theme=theme)
            button.setProperty("align", "left")
            button.clicked.connect(lambda _=False, q=question: self.question_chosen.emit(q))
            questions.addWidget(button)
            self._first = self._first or button
        self._measure = Button(
            "Measure how much the draft helps here",
            theme=theme,
            kind=ButtonKind.LINK,
            icon=IconName.GAUGE,
        )
        self._measure.clicked.connect(self.measure_requested)
        models = Button("All models", theme=theme, kind=ButtonKind.LINK)
        models.clicked.connect(self.models_requested)
        self.column.addWidget(self._heading)
        self.column.addWidget(self._words)
        self.column.addWidget(self._problem)
        self.column.addWidget(self._questions)
        self.column.addLayout(FlowRow(self._measure, models))
        self.column.addStretch(1)
        self.show_loading("Loading the model…", "")

    def show_loading(self, sentence: str, detail: str) -> None:
        """The model is on its way into the memory."""
        self._say("Almost ready", f"{sentence} {detail}".strip())
        self._show(is_ready=False, has_draft=False)

    def show_loaded(self, title: str, sentence: str, *, has_draft: bool) -> None:
        """The model waits for a question."""
        was_waiting = self._questions.isHidden()
        self._say(f"{title} is ready", sentence)
        self._show(is_ready=True, has_draft=has_draft)
        if was_waiting and self.isVisible():
            self.focus_first()

    def show_problem(self, problem: Problem) -> None:
        """The model could not be loaded."""
        self._say("Not ready yet", "")
        self._show(is_ready=False, has_draft=False)
        self._problem.show_problem(problem)

    def show_nothing(self) -> None:
        """No model is loaded, and none is being loaded."""
        self._say(
            "No model is loaded",
            "Go back and choose one, or take one that is on this disk already.",
        )
        self._show(is_ready=False, has_draft=False)

    def focus_first(self) -> None:
        """Where the keyboard begins."""
        if self._first is not None and not self._questions.isHidden():
            self._first.setFocus()

    def _say(self, heading: str, words: str) -> None:
        self._heading.show_text(heading)
        self._words.show_text(words)
        self._words.setVisible(bool(words))

    def _show(self, *, is_ready: bool, has_draft: bool) -> None:
        self._problem.clear()
        self._questions.setVisible(is_ready)
        self._measure.setVisible(is_ready and has_draft)
