"""The part of the models page that lists what is on this disk, with the chosen model below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.models.import_part import ImportPart
from dflash_desktop.ui.models.library_words import SortOrder
from dflash_desktop.ui.models.model_card import ModelCard
from dflash_desktop.ui.models.model_list import ModelListView
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.progress_strip import ProgressStrip
from dflash_desktop.ui.widgets.wheel_through import ChoiceBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.models.library_words import ModelRow
    from dflash_desktop.ui.theme import Theme

_SEARCH_FROM_MODELS: Final = 6
"""Fewer are seen at a glance, and a search field would only be in the way."""


class LibraryView(QWidget):
    """`card` is the chosen model's, with signals of its own.

    Signals: `search_changed(words, SortOrder)`, `model_chosen(id)`, `folder_chosen(path)` to be
    added, `gguf_chosen(path)` to be imported, `paths_dropped(paths)` of which it is not known yet
    what they are, `add_cancelled`, `get_requested`, `export_requested` to make one from a
    checkpoint, `look_requested` to read the disk again.
    `importing` is the part about an import, with signals of its own.
    """

    search_changed = Signal(str, object)
    model_chosen = Signal(str)
    folder_chosen = Signal(str)
    gguf_chosen = Signal(str)
    paths_dropped = Signal(tuple)
    add_cancelled = Signal()
    get_requested = Signal()
    export_requested = Signal()
    look_requested = Signal()

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._summary = Label(role=TextRole.MUTED)
        self._search = QLineEdit()
        self._search.setPlaceholderText("Search the models")
        self._search.setAccessibleName("Search the models")
        self._search.setClearButtonEnabled(True)
        self._search.textChanged.connect(self._on_search_changed)
        self._order = ChoiceBox()
        self._order.setAccessibleName("Order of the models")
        for order in SortOrder:
            self._order.addItem(order.value, order)
        self._order.activated.connect(self._on_search_changed)
        self.card = ModelCard(theme=theme, report=report)
        self._list = ModelListView(theme=theme)
        self._list.selectionModel().currentChanged.connect(self._on_current_changed)
        self._list.activated.connect(lambda _: self.card.press_load())
        remove = QShortcut(QKeySequence.StandardKey.Delete, self._list)
        remove.setContext(Qt.ShortcutContext.WidgetShortcut)
        remove.activated.connect(lambda: self.card.press_remove())
        self._nothing_found = Label("No model has all of these words.", role=TextRole.MUTED)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._absence: Problem | None = None
        self._adding = ProgressStrip("Adding a folder", theme=theme)
        self._adding.cancelled.connect(self.add_cancelled)
        self.importing = ImportPart(theme=theme, report=report)
        self._empty = self._built_empty()
        self._lay_out()
        self.show_models((), summary="", count=0)

    @property
    def words(self) -> str:
        """What is searched for."""
        return self._search.text()

    @property
    def order(self) -> SortOrder:
        """How the list is to be sorted."""
        return SortOrder(self._order.currentData())  # Qt keeps a StrEnum as plain text

    @property
    def chosen_id(self) -> str:
        """The model whose card is shown, or nothing."""
        return self._list.chosen_id()

    def show_models(self, rows: tuple[ModelRow, ...], *, summary: str, count: int) -> None:
        """The rows that were found among `count` models; the chosen one stays chosen if it can."""
        chosen = self.chosen_id or self.card.model_id
        has_search = count >= _SEARCH_FROM_MODELS or bool(self.words)
        self._summary.show_text(summary)
        self._empty.setVisible(not count)
        self._search.setVisible(has_search)
        self._order.setVisible(has_search)
        self._list.setVisible(bool(rows))
        self._nothing_found.setVisible(bool(count) and not rows)
        self.card.setVisible(bool(rows))
        if self._list.show_rows(rows) and rows:
            index = self._list.rows.index_of(chosen)
            self._list.setCurrentIndex(index if index.isValid() else self._list.rows.index(0, 0))

    def choose(self, model_id: str) -> None:
        """Show a model's card, if it is listed."""
        index = self._list.rows.index_of(model_id)
        if not index.isValid() and self.words:  # what is searched for may hide it
            self._search.clear()
            index = self._list.rows.index_of(model_id)
        if index.isValid():
            self._list.setCurrentIndex(index)
            self._list.scrollTo(index)

    def show_adding(self, sentence: str, numbers: str, share: float) -> None:
        """How far the reading of an added folder is, 0 to 1."""
        self._problem.clear()
        self._adding.show_progress(sentence, numbers, share)
        self._add.setEnabled(False)
        self._add.setToolTip("A folder is being added.")

    def clear_adding(self) -> None:
        """Nothing is being added any more."""
        self._adding.hide()
        self._add.setEnabled(True)
        self._add.setToolTip("Use a model that is on this disk or on a stick, where it is")

    def show_problem(self, problem: Problem) -> None:
        """Say why a folder could not be added."""
        self.clear_adding()
        self._problem.show_problem(problem)

    def show_absence(self, problem: Problem | None) -> None:
        """Say why the models are missing, or that they are there again."""
        if problem is not None:
            self._problem.show_problem(problem)
        elif self._problem.problem is not None and self._problem.problem == self._absence:
            self._problem.clear()
        self._absence = problem

    def choose_folder(self) -> None:
        """Ask for a model's folder, then emit `folder_chosen`."""
        folder = QFileDialog.getExistingDirectory(self, "Choose the folder of a model")
        if folder:
            self.folder_chosen.emit(folder)

    def choose_gguf(self) -> None:
        """Ask for a GGUF file, then emit `gguf_chosen`."""
        path, _ = QFileDialog.getOpenFileName(
            self, "Choose a GGUF file", "", "GGUF files (*.gguf);;All files (*)"
        )
        if path:
            self.gguf_chosen.emit(path)

    def show_importing(self, is_importing: bool) -> None:
        """One file at a time: two conversions would need the memory of both."""
        self._import.setEnabled(not is_importing)
        self._import.setToolTip(
            "A file is being imported." if is_importing else "Make a model of a GGUF file"
        )

    def _lay_out(self) -> None:
        self._import = Button("Import a GGUF file…", theme=self._theme, icon=IconName.FILE_TEXT)
        self._import.clicked.connect(self.choose_gguf)
        self.show_importing(False)
        self._export = Button(
            "Make one from a checkpoint…", theme=self._theme, icon=IconName.HAMMER
        )
        self._export.setToolTip("For models and drafts that nobody has converted")
        self._export.clicked.connect(self.export_requested)
        self._add = Button("Add a folder…", theme=self._theme, icon=IconName.FOLDER_OPEN)
        self._add.clicked.connect(self.choose_folder)
        self.clear_adding()
        top = QHBoxLayout()
        top.setSpacing(GAP_SMALL)
        top.addWidget(Label("On this disk", role=TextRole.STRONG))
        top.addWidget(self._summary, 1)
        search = QHBoxLayout()
        search.setSpacing(GAP_SMALL)
        search.addWidget(self._search, 1)
        search.addWidget(self._order)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_MEDIUM)
        column.addLayout(top)
        column.addLayout(FlowRow(self._add, self._import, self._export))
        column.addWidget(self._problem)
        column.addWidget(self._adding)
        column.addWidget(self.importing)
        column.addLayout(search)
        for part in (self._empty, self._list, self._nothing_found, self.card):
            column.addWidget(part)

    def _built_empty(self) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(
            Label(
                "Models that you download or add are listed here with their size, where they "
                "came from, and when they were last verified and used.",
                role=TextRole.MUTED,
                wraps=True,
            )
        )
        get = Button("Get models", theme=self._theme)
        get.clicked.connect(self.get_requested)
        column.addLayout(FlowRow(get))
        return part

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        self._problem.clear()
        if remedy is Remedy.RETRY:
            self.look_requested.emit()

    def _on_search_changed(self) -> None:
        self.search_changed.emit(self.words, self.order)

    def _on_current_changed(self) -> None:
        if self.chosen_id:
            self.model_chosen.emit(self.chosen_id)
