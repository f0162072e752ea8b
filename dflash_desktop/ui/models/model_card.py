"""The model that is chosen in the library: what is known of it, and what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from dflash_desktop.domain.library import ModelCondition
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.models.pair_card import FactGrid
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.progress_strip import ProgressStrip
from dflash_desktop.ui.widgets.question import Answer, Question
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.models.library_words import ModelCardContent
    from dflash_desktop.ui.theme import Theme

_REMOVE: Final = Answer("remove", "Remove")


class ModelCard(SurfaceFrame):
    """Signals, each with the model's id: `load_requested`, `folder_requested`,
    `verify_requested`, `repair_requested`, `removal_asked` (before the question is shown),
    `removal_confirmed`, `cancel_requested` (of a verification), `remedy_chosen(id, Remedy)` for
    the ways out of a problem that lead elsewhere. `asks_for_view`: there is something to read.
    """

    load_requested = Signal(str)
    folder_requested = Signal(str)
    verify_requested = Signal(str)
    repair_requested = Signal(str)
    removal_asked = Signal(str)
    removal_confirmed = Signal(str)
    cancel_requested = Signal(str)
    remedy_chosen = Signal(str, object)
    asks_for_view = Signal()

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._theme = theme
        self._content: ModelCardContent | None = None
        self._title = ElidedLabel(role=TextRole.STRONG)
        self._state = Label()
        self._facts = FactGrid()
        self._outcome = Label(wraps=True)
        self._outcome.hide()
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._do_again: Callable[[], None] | None = None
        self._progress = ProgressStrip("Verification", theme=theme)
        self._progress.cancelled.connect(lambda: self.cancel_requested.emit(self.model_id))
        self._question = Question(_REMOVE, no="Keep it", theme=theme, is_risky=True)
        self._question.answered.connect(lambda _: self._on_removal_confirmed())
        self._question.closed.connect(self._on_question_closed)
        self._load = self._button("Load", self.load_requested, ButtonKind.PRIMARY)
        self._folder = self._button(
            "Open folder", self.folder_requested, icon=IconName.FOLDER_OPEN
        )
        self._verify = self._button("Verify", self.verify_requested)
        self._verify.setToolTip("Compare every byte with what the model should be")
        self._repair = self._button("Repair", self.repair_requested, ButtonKind.PRIMARY)
        self._repair.setToolTip("Fetch again only what is not right")
        self._remove = self._button("Remove…", self.removal_asked, ButtonKind.QUIET)
        top = QHBoxLayout()
        top.setSpacing(GAP_SMALL)
        top.addWidget(self._title, 1)
        top.addWidget(self._state)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        column.setSpacing(GAP_SMALL)
        column.addLayout(top)
        column.addWidget(self._facts)
        column.addWidget(self._outcome)
        column.addWidget(self._problem)
        column.addWidget(self._progress)
        column.addWidget(self._question)
        column.addSpacing(GAP_TINY)
        column.addLayout(
            FlowRow(self._load, self._repair, self._folder, self._verify, self._remove)
        )

    @property
    def model_id(self) -> str:
        """Of the model that is shown, or nothing."""
        return "" if self._content is None else self._content.model_id

    def show_model(self, content: ModelCardContent) -> None:
        """Show a model; another one than before takes away what was said about that one."""
        if content.model_id != self.model_id:
            self._question.hide()
            self._outcome.hide()
            self._problem.clear()
            self._progress.hide()
        self._content = content
        self.setAccessibleName(f"{content.title}, {content.state}")
        self._title.show_text(content.title)
        self._state.show_text(content.state, role=content.state_role)
        self._facts.show_facts(content.facts)
        self._load.setText("Make pictures" if content.makes_pictures else "Load")
        self._load.setEnabled(content.can_load)
        self._load.setToolTip(content.load_tip)
        self._remove.setText("Remove…" if content.is_ours else "Take off the list…")
        for button in (self._load, self._repair, self._folder, self._verify, self._remove):
            button.setAccessibleName(f"{button.text()}: {content.title}")
        self._show_buttons()

    def show_progress(self, sentence: str, numbers: str, share: float) -> None:
        """How far a verification is, 0 to 1."""
        is_first = self._progress.isHidden()
        self._outcome.hide()
        self._progress.show_progress(sentence, numbers, share)
        if is_first:
            had_focus = self._verify.hasFocus() or self._repair.hasFocus()
            self._show_buttons()
            if had_focus:
                self._progress.take_focus()

    def show_outcome(self, words: str, is_good: bool) -> None:
        """The end of a verification."""
        self.clear_progress()
        self._outcome.show_text(words, role=TextRole.GOOD if is_good else TextRole.BAD)
        self._outcome.show()

    def clear_progress(self) -> None:
        """A verification ended without an outcome."""
        had_keyboard = self._has_keyboard_on_work()
        self._progress.hide()
        self._show_buttons()
        if had_keyboard:
            self._focus_work()

    def show_problem(self, problem: Problem) -> None:
        """Say why something could not be done."""
        self.clear_progress()
        self._problem.show_problem(problem)
        self.asks_for_view.emit()

    def ask_removal(self, words: str, label: str) -> None:
        """Name what would be deleted and freed, and wait for the answer."""
        self._problem.clear()
        self._question.show_label(_REMOVE.key, label)
        self._question.ask(words)
        self._show_buttons()
        self.asks_for_view.emit()

    def press_load(self) -> None:
        """As if its button were pressed: nothing, while it cannot be."""
        if self._load.isVisible():
            self._load.click()

    def press_remove(self) -> None:
        """As if its button were pressed, which asks first."""
        if self._remove.isVisible():
            self._remove.click()

    def _show_buttons(self) -> None:
        content = self._content
        if content is None:
            return
        had_keyboard = self._has_keyboard_on_work()
        is_busy = not self._progress.isHidden() or not self._question.isHidden()
        is_there = content.condition is not ModelCondition.ABSENT
        is_bad = content.condition is ModelCondition.DAMAGED
        self._load.setVisible(not is_busy and not is_bad)
        self._folder.setVisible(not is_busy and is_there)
        self._verify.setVisible(not is_busy and is_there)
        self._repair.setVisible(not is_busy and is_there and is_bad and content.can_repair)
        self._remove.setVisible(not is_busy)
        if had_keyboard and not is_busy:  # else Qt would move on to the next button of the card
            self._focus_work()

    def _focus_work(self) -> None:
        (self._verify if self._repair.isHidden() else self._repair).setFocus()

    def _has_keyboard_on_work(self) -> bool:
        works: tuple[QWidget, ...] = (self._verify, self._repair, self._progress)
        focused = self.focusWidget()
        return focused is not None and any(w is focused or w.isAncestorOf(focused) for w in works)

    def _button(
        self,
        text: str,
        signal: object,
        kind: ButtonKind = ButtonKind.NORMAL,
        icon: IconName | None = None,
    ) -> Button:
        button = Button(text, theme=self._theme, kind=kind, icon=icon)

        def press() -> None:
            self._do_again = press
            self._problem.clear()
            signal.emit(self.model_id)  # type: ignore[attr-defined]

        button.clicked.connect(press)
        return button

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY and self._do_again is not None:
            self._do_again()
        else:
            self.remedy_chosen.emit(self.model_id, remedy)

    def _on_removal_confirmed(self) -> None:
        self._question.hide()
        self._show_buttons()
        self.removal_confirmed.emit(self.model_id)

    def _on_question_closed(self) -> None:
        self._question.hide()
        self._show_buttons()
        self._remove.setFocus()
