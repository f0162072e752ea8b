"""The import of a GGUF file in the library's part of the page: offered, running, refused, done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QGridLayout, QLineEdit, QVBoxLayout, QWidget

from dflash_desktop.domain.gguf_import import ImportWeights
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.models.import_words import WEIGHTS_WORDS
from dflash_desktop.ui.models.pair_card import FACT_NAMES_WIDTH, FactGrid
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label, name_label
from dflash_desktop.ui.widgets.progress_strip import ProgressStrip
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame
from dflash_desktop.ui.widgets.wheel_through import ChoiceBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme


class ImportPart(QWidget):
    """Hidden until there is something to say.

    Signals: `import_requested(name, ImportWeights)`, `cancelled`, `check_requested`,
    `file_requested` to choose another one, `retry_requested`, `remedy_chosen(Remedy)` for ways
    out that lead elsewhere, `asks_for_view`.
    """

    import_requested = Signal(str, object)
    cancelled = Signal()
    check_requested = Signal()
    file_requested = Signal()
    retry_requested = Signal()
    remedy_chosen = Signal(object)
    asks_for_view = Signal()

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._problem.dismissed.connect(self._hide_if_empty)
        self._frame = SurfaceFrame(Surface.CARD)
        self._title = ElidedLabel(role=TextRole.STRONG)
        self._facts = FactGrid()
        self._notes = Label(role=TextRole.WARN, wraps=True)
        self._draft = Label(wraps=True)
        self._form = self._built_form()
        self._progress = ProgressStrip("Import of a GGUF file", theme=theme)
        self._progress.cancelled.connect(self.cancelled)
        self._import = Button("Import", theme=theme, kind=ButtonKind.PRIMARY)
        self._import.clicked.connect(self._on_import_clicked)
        self._check = Button("", theme=theme, kind=ButtonKind.PRIMARY)
        self._check.clicked.connect(self._on_check_clicked)
        self._close = Button("", theme=theme, kind=ButtonKind.QUIET)
        self._close.clicked.connect(self.clear)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self._on_escape)
        self._lay_out()
        self.clear()

    @property
    def first_part(self) -> QWidget:
        """What is to be read first."""
        return self._frame if self._problem.problem is None else self._problem

    @property
    def is_working(self) -> bool:
        """Whether an import is shown as running."""
        return not self._progress.isHidden()

    def show_offer(self, title: str, facts: tuple[tuple[str, str], ...], notes: str) -> None:
        """What would be imported, before anything is done."""
        self._problem.clear()
        self._title.show_text(title)
        self._frame.setAccessibleName(title)
        self._facts.show_facts(facts)
        self._import.setAccessibleName(title)
        self._import.setAccessibleDescription(notes)
        self._close.setText("Not now")
        self._notes.show_text(notes)
        self.show_form_again()
        self._import.setFocus()
        self.asks_for_view.emit()

    def fill(self, name: str) -> None:
        """What the model will be called unless the person says otherwise."""
        self._name.setText(name)

    def show_progress(self, sentence: str, numbers: str, share: float) -> None:
        """How far it is, 0 to 1."""
        is_first = not self.is_working
        had_focus = self._has_focus_in(self)
        self._progress.show_progress(sentence, numbers, share)
        if is_first:
            self._problem.clear()
            self._show_parts(self._progress)
            if had_focus:
                self._progress.take_focus()

    def show_form_again(self) -> None:
        """What can be chosen, as it was left when an import was cancelled or refused."""
        had_focus = self._has_focus_in(self._progress)
        self._show_parts(self._facts, *self._noted(), self._form, self._import, self._close)
        if had_focus:
            self._import.setFocus()

    def show_refusal(self, problem: Problem) -> None:
        """Say why a file is not imported; there is nothing to choose."""
        self._show_parts()
        self.show_problem(problem)

    def show_problem(self, problem: Problem) -> None:
        """Say why an import ended, above its form."""
        self.show()
        self._problem.show_problem(problem)
        self.asks_for_view.emit()

    def show_done(self, title: str, notes: str) -> None:
        """It is in the library."""
        self._problem.clear()
        self._title.show_text(title)
        self._frame.setAccessibleName(title)
        self._notes.show_text(notes)
        self._close.setText("Close")
        had_focus = self._has_focus_in(self._progress)
        self._show_parts(*self._noted(), self._close)
        if had_focus:
            self._close.setFocus()
        self.asks_for_view.emit()

    def show_draft(self, words: str, label: str) -> None:
        """Suggest to check it with a draft that is here."""
        self._draft.show_text(words)
        self._check.setText(label)
        self._draft.show()
        self._check.show()

    def clear(self) -> None:
        """There is nothing to say any more."""
        self._problem.clear()
        self._show_parts()

    def _built_form(self) -> QWidget:
        self._name = QLineEdit()
        self._name.returnPressed.connect(self._on_import_clicked)
        self._weights = ChoiceBox()
        for weights, words in WEIGHTS_WORDS.items():
            self._weights.addItem(words, weights)
        form = QWidget()
        grid = QGridLayout(form)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnMinimumWidth(0, FACT_NAMES_WIDTH)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Name", "What the library calls it.", self._name),
            ("Weights", "The form of the weights in the library.", self._weights),
        )
        for number, (name, explanation, field) in enumerate(rows):
            grid.addWidget(name_label(name, field, explanation=explanation), number, 0)
            grid.addWidget(field, number, 1)
        return form

    def _lay_out(self) -> None:
        inner = QVBoxLayout(self._frame)
        inner.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        inner.setSpacing(GAP_SMALL)
        for part in (
            self._title,
            self._facts,
            self._notes,
            self._form,
            self._progress,
            self._draft,
        ):
            inner.addWidget(part)
        inner.addLayout(FlowRow(self._import, self._check, self._close))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(self._problem)
        column.addWidget(self._frame)

    def _show_parts(self, *shown: QWidget) -> None:
        for part in (
            self._facts,
            self._notes,
            self._form,
            self._progress,
            self._draft,
            self._import,
            self._check,
            self._close,
        ):
            part.setVisible(part in shown)
        self._frame.setVisible(bool(shown))
        self._hide_if_empty()

    def _has_focus_in(self, part: QWidget) -> bool:
        focused = self.window().focusWidget()
        return focused is not None and part.isAncestorOf(focused)

    def _noted(self) -> tuple[QWidget, ...]:
        return (self._notes,) if self._notes.text() else ()

    def _hide_if_empty(self) -> None:
        self.setVisible(not self._frame.isHidden() or self._problem.problem is not None)

    def _on_import_clicked(self) -> None:
        weights = ImportWeights(self._weights.currentData())  # Qt keeps a StrEnum as plain text
        self.import_requested.emit(self._name.text().strip(), weights)

    def _on_check_clicked(self) -> None:
        self.clear()
        self.check_requested.emit()

    def _on_escape(self) -> None:
        if not self.is_working:
            self.clear()

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        self._problem.clear()
        self._hide_if_empty()
        match remedy:
            case Remedy.RETRY if not self._form.isHidden():
                self._on_import_clicked()
            case Remedy.RETRY:
                self.retry_requested.emit()
            case Remedy.CHOOSE_FILE:
                self.file_requested.emit()
            case _:
                self.remedy_chosen.emit(remedy)
