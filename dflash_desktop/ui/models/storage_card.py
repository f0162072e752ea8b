"""Where models are kept, what else takes room there, and how to move or free it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QVBoxLayout

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.progress_strip import ProgressStrip
from dflash_desktop.ui.widgets.question import Answer, Question
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

_LEFTOVERS: Final = Answer("leftovers", "Remove")


@dataclass(frozen=True, slots=True)
class StorageContent:
    """What the card says; empty words mean that nothing is there to remove."""

    library_dir: str
    library_words: str
    leftover_words: str
    leftover_names: str
    leftover_label: str  # "Remove 4.10 GB"
    cache_words: str
    cache_label: str  # "Clear 1.20 GB"


class StorageCard(SurfaceFrame):
    """Signals: `folder_requested` (open the library), `place_chosen(path)` to move it there,
    `move_cancelled`, `leftovers_confirmed`, `cache_cleared`, `retry_requested` after a problem.
    """

    folder_requested = Signal()
    place_chosen = Signal(str)
    move_cancelled = Signal()
    leftovers_confirmed = Signal()
    cache_cleared = Signal()
    retry_requested = Signal()

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._theme = theme
        self._content: StorageContent | None = None
        self._library = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._library_words = Label(role=TextRole.CAPTION, wraps=True)
        self._leftovers = Label(wraps=True)
        self._leftover_names = Label(role=TextRole.CAPTION, wraps=True)
        self._cache = Label(wraps=True)
        self._open = Button("Open folder", theme=theme, kind=ButtonKind.QUIET)
        self._open.clicked.connect(self.folder_requested)
        self._move = Button("Move…", theme=theme)
        self._move.setToolTip("Move all models to another folder or disk")
        self._move.clicked.connect(self._on_move_clicked)
        self._remove = Button("", theme=theme)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._clear = Button("", theme=theme)
        self._clear.clicked.connect(self.cache_cleared)
        self._clear.setToolTip("It is made anew when a model is loaded, which then takes longer.")
        self._question = Question(_LEFTOVERS, no="Keep them", theme=theme, is_risky=True)
        self._question.answered.connect(lambda _: self._on_removal_confirmed())
        self._question.closed.connect(self._on_question_closed)
        self._progress = ProgressStrip("Moving the library", theme=theme)
        self._progress.cancelled.connect(self.move_cancelled)
        self._done = Label(role=TextRole.GOOD, wraps=True)
        self._done.hide()
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._lay_out()
        for button in (self._remove, self._clear):
            button.hide()  # until it is known what there is

    def show_storage(self, content: StorageContent) -> None:
        """Say this from now on."""
        if content == self._content:
            return
        self._content = content
        self._library.show_text(content.library_dir)
        self._library.setAccessibleName(f"Library: {content.library_dir}")
        self._library_words.show_text(content.library_words)
        self._leftovers.show_text(content.leftover_words or "None")
        self._leftover_names.show_text(content.leftover_names)
        self._leftover_names.setVisible(bool(content.leftover_names))
        self._cache.show_text(content.cache_words or "Empty")
        self._remove.setVisible(bool(content.leftover_words))
        self._remove.setText(f"{content.leftover_label}…")
        self._clear.setVisible(bool(content.cache_words))
        self._clear.setText(content.cache_label)

    def show_progress(self, sentence: str, numbers: str, share: float) -> None:
        """How far a move is, 0 to 1."""
        is_first = self._progress.isHidden()
        self._problem.clear()
        self._done.hide()
        self._progress.show_progress(sentence, numbers, share)
        self._set_busy(True)
        if is_first:
            self._progress.take_focus()

    def show_done(self, words: str) -> None:
        """What was asked for is done; empty words only end the progress."""
        self._progress.hide()
        self._set_busy(False)
        self._done.show_text(words)
        self._done.setVisible(bool(words))

    def show_problem(self, problem: Problem) -> None:
        """Say why something was not done."""
        self.show_done("")
        self._problem.show_problem(problem)

    def take_focus(self) -> None:
        """Put the keyboard on what moves the library."""
        self._move.setFocus()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_TINY)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Library", "Where models are kept.", self._library, self._library_words),
            (
                "Leftovers",
                "What interrupted downloads left behind. One that is started again goes on.",
                self._leftovers,
                self._leftover_names,
            ),
            (
                "Compile cache",
                "Models as the device wants them, kept so that loading is quicker the next time.",
                self._cache,
                None,
            ),
        )
        buttons = ((self._open, self._move), (self._remove,), (self._clear,))
        for number, (name, explanation, value, below) in enumerate(rows):
            label = Label(name)
            label.setToolTip(explanation)
            top = Qt.AlignmentFlag.AlignVCenter
            grid.addWidget(label, 3 * number, 0, top)
            grid.addWidget(value, 3 * number, 1, top)
            if below is not None:
                # Below the buttons too: beside them a name would widen the page past the window.
                grid.addWidget(below, 3 * number + 1, 1, 1, 2)
            actions = QHBoxLayout()
            actions.setSpacing(GAP_SMALL)
            actions.addStretch(1)
            for button in buttons[number]:
                actions.addWidget(button)
            grid.addLayout(actions, 3 * number, 2, top)
            grid.setRowMinimumHeight(3 * number, self._move.sizeHint().height())
            grid.setRowMinimumHeight(3 * number + 2, GAP_TINY if number + 1 < len(rows) else 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_SMALL)
        column.addLayout(grid)
        for part in (self._question, self._progress, self._done, self._problem):
            column.addWidget(part)

    def _set_busy(self, is_busy: bool) -> None:
        for button in (self._move, self._remove, self._clear):
            button.setEnabled(not is_busy)
        self._move.setToolTip(
            "The library is being moved."
            if is_busy
            else "Move all models to another folder or disk"
        )

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        self._problem.clear()
        if remedy is Remedy.RETRY:
            self.retry_requested.emit()

    def _on_move_clicked(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, "Choose the library's new folder")
        if folder:
            self.place_chosen.emit(folder)

    def _on_remove_clicked(self) -> None:
        if self._content is not None:
            self._question.show_label(_LEFTOVERS.key, self._content.leftover_label)
            self._question.ask(
                f"Remove the leftovers? {self._content.leftover_names} Downloads of these models "
                "then begin anew."
            )

    def _on_removal_confirmed(self) -> None:
        self._question.hide()
        self._remove.setFocus()
        self.leftovers_confirmed.emit()

    def _on_question_closed(self) -> None:
        self._question.hide()
        self._remove.setFocus()
