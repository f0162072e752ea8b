"""The image page: what is to be made on the left, what is made and was made on the right."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.image.compare_view import CompareView
from dflash_desktop.ui.image.empty_view import EmptyView
from dflash_desktop.ui.image.gallery_grid import GalleryGrid
from dflash_desktop.ui.image.now_card import NowCard
from dflash_desktop.ui.image.request_form import RequestForm
from dflash_desktop.ui.image.result_view import ResultView
from dflash_desktop.ui.image.words import count_words
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.drop_sheet import DropSheet
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.widgets.surfaces import Line, Surface, SurfaceFrame
from dflash_desktop.ui.widgets.undo_bar import UndoBar

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QResizeEvent, QShowEvent

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.gallery_store import GalleryEntry
    from dflash_desktop.ui.theme import Theme

FORM_WIDTH: Final = 332
NARROW_BELOW_PX: Final = 720
"""Then form and gallery do not fit beside each other, and one of them is shown."""
_EMPTY_WIDTH: Final = 720
_CHOOSE_OTHER: Final = "Choose the one to put beside it"
_NO_PICTURES: Final = "What you make is kept here, with all its settings."


class View(Enum):
    """What the right side shows."""

    GALLERY = auto()
    RESULT = auto()
    COMPARE = auto()


class ImagePane(QStackedWidget):
    """`form`, `now`, `grid`, `result`, `compare` and `empty` have signals of their own.

    Signals: `files_dropped(paths)`, `undo_requested`, `compare_requested(ids)`,
    `delete_requested(ids)`, `remedy_chosen(Remedy)`, `shown`.
    """

    files_dropped = Signal(tuple)
    undo_requested = Signal()
    compare_requested = Signal(tuple)
    delete_requested = Signal(tuple)
    remedy_chosen = Signal(object)
    shown = Signal()

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._view = View.GALLERY
        self._is_form_chosen = True
        self._was_narrow = False
        self._is_choosing = False
        self.form = RequestForm(theme=theme)
        self.now = NowCard(theme=theme, report=report)
        self.now.remedy_chosen.connect(self.remedy_chosen)
        self.grid = GalleryGrid(theme=theme)
        self.grid.marked.connect(self._on_marked)
        self.grid.delete_requested.connect(self.delete_requested)
        self.result = ResultView(theme=theme)
        self.compare = CompareView(theme=theme)
        self.empty = EmptyView(theme=theme)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy)
        self._empty_page = PageColumn(width=_EMPTY_WIDTH)
        self._empty_problem = ProblemView(theme=theme, report=report)
        self._empty_problem.remedy_chosen.connect(self._on_remedy)
        self._empty_page.column.addWidget(self._empty_problem)
        self._empty_page.column.addWidget(self.empty)
        self._empty_page.column.addStretch(1)
        self._workspace = self._built_workspace()
        self.addWidget(self._empty_page)
        self.addWidget(self._workspace)
        sheet = DropSheet(
            self._workspace, explanation="A new picture begins with it.", theme=theme
        )
        sheet.dropped.connect(self.files_dropped)
        self.show_view(View.GALLERY)
        self.show_entries(())

    @property
    def view(self) -> View:
        """What the right side shows now."""
        return self._view

    def show_workspace(self, is_shown: bool) -> None:
        """The form and the gallery, or that there is no model and nothing was made."""
        self.setCurrentWidget(self._workspace if is_shown else self._empty_page)

    def show_form(self, is_usable: bool) -> None:
        """Without a model the gallery alone is of use."""
        self.form.setEnabled(is_usable)

    def show_view(self, view: View) -> None:
        """Change the right side."""
        self._view = view
        self._gallery.setVisible(view is View.GALLERY)
        self.result.setVisible(view is View.RESULT)
        self.compare.setVisible(view is View.COMPARE)

    def show_entries(self, entries: tuple[GalleryEntry, ...]) -> None:
        """All pictures, the newest first."""
        self.grid.pictures.show_entries(entries)
        self.grid.setVisible(bool(entries))
        self._no_pictures.setVisible(not entries)
        self._on_marked(self.grid.marks())

    def show_choosing(self, is_choosing: bool) -> None:
        """Say that the next picture is put beside another one, or no longer."""
        self._is_choosing = is_choosing
        self._on_marked(self.grid.marks())

    def show_deleted(self, words: str) -> None:
        """Offer to undo; empty words take the offer away."""
        self._undo.show_words(words)

    def show_problem(self, problem: Problem) -> None:
        """Show a problem above the gallery, or above what can be had."""
        if self.currentWidget() is self._empty_page:
            self._empty_problem.show_problem(problem)
            return
        self._problem.show_problem(problem)
        if self._is_narrow():
            self.show_side(is_form=False)

    def clear_problem(self) -> None:
        """It is over."""
        self._problem.clear()
        self._empty_problem.clear()

    def show_side(self, *, is_form: bool) -> None:
        """In a narrow window: the form, or the pictures."""
        self._is_form_chosen = is_form
        (self._form_tab if is_form else self._pictures_tab).setChecked(True)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Beside each other, or one at a time."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """What is free of the memory may have changed since."""
        super().showEvent(event)
        self.shown.emit()

    def _is_narrow(self) -> bool:
        return self.width() < NARROW_BELOW_PX

    def _arrange(self) -> None:
        narrow = self._is_narrow()
        if narrow is not self._was_narrow:
            self._was_narrow = narrow
            self.now.show_small(narrow)
        self._tabs.setVisible(narrow)
        self._left.setVisible(not narrow or self._is_form_chosen)
        self._right.setVisible(not narrow or not self._is_form_chosen)
        self._line.setVisible(not narrow)
        if narrow:
            self._left.setMinimumWidth(0)
            self._left.setMaximumWidth(self.maximumWidth())
        else:
            self._left.setFixedWidth(FORM_WIDTH)

    def _on_marked(self, ids: tuple[str, ...]) -> None:
        count = len(self.grid.pictures.entries)
        several = len(ids) > 1
        words = _CHOOSE_OTHER if self._is_choosing else count_words(count)
        self._summary.show_text(f"{len(ids)} marked" if several else words)
        self._summary.setVisible(bool(count))
        self._compare.setVisible(several)
        self._compare.setEnabled(len(ids) == 2)
        self._compare.setToolTip(
            "Put them side by side" if len(ids) == 2 else "Two can be compared"
        )
        self._delete.setVisible(several)

    def _on_remedy(self, remedy: object) -> None:
        self.clear_problem()
        self.remedy_chosen.emit(remedy)

    def _built_workspace(self) -> SurfaceFrame:
        workspace = SurfaceFrame(Surface.PAGE)
        self._left = QWidget()
        left = QVBoxLayout(self._left)
        left.setContentsMargins(0, 0, 0, 0)
        left.addWidget(self.form)
        self._right = self._built_right()
        self._line = Line(Qt.Orientation.Vertical)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self._left)
        row.addWidget(self._line)
        row.addWidget(self._right, 1)
        self._tabs: QWidget = self._built_tabs()
        column = QVBoxLayout(workspace)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._tabs)
        column.addLayout(row, 1)
        return workspace

    def _built_tabs(self) -> QWidget:
        tabs = QWidget()
        row = QHBoxLayout(tabs)
        row.setContentsMargins(GAP, GAP_SMALL, GAP, 0)
        row.setSpacing(GAP_SMALL)
        group = QButtonGroup(tabs)
        self._form_tab = Button("Make", theme=self._theme, kind=ButtonKind.NORMAL)
        self._pictures_tab = Button("Pictures", theme=self._theme, kind=ButtonKind.NORMAL)
        for button, is_form in ((self._form_tab, True), (self._pictures_tab, False)):
            button.setCheckable(True)
            group.addButton(button)
            row.addWidget(button)
            button.clicked.connect(lambda _=False, f=is_form: self.show_side(is_form=f))
        row.addStretch(1)
        self._form_tab.setChecked(True)
        return tabs

    def _built_right(self) -> QWidget:
        right = QWidget()
        self._no_pictures = Label(_NO_PICTURES, role=TextRole.MUTED, wraps=True)
        self._no_pictures.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._undo = UndoBar(theme=self._theme)
        self._undo.undo_requested.connect(self.undo_requested)
        self._gallery = QWidget()
        gallery = QVBoxLayout(self._gallery)
        gallery.setContentsMargins(0, 0, 0, 0)
        gallery.setSpacing(GAP_SMALL)
        gallery.addLayout(self._built_head())
        gallery.addWidget(self._no_pictures, 1)
        gallery.addWidget(self.grid, 1)
        column = QVBoxLayout(right)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        for part in (self._problem, self.now, self._undo):
            column.addWidget(part)
        for view in (self._gallery, self.result, self.compare):
            column.addWidget(view, 1)
        return right

    def _built_head(self) -> QHBoxLayout:
        self._summary = Label(role=TextRole.MUTED)
        self._compare = Button(
            "Compare", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.COLUMNS
        )
        self._compare.clicked.connect(lambda: self.compare_requested.emit(self.grid.marks()))
        self._delete = Button(
            "Delete", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.TRASH
        )
        self._delete.clicked.connect(lambda: self.delete_requested.emit(self.grid.marks()))
        head = QHBoxLayout()
        head.setSpacing(GAP_SMALL)
        head.addWidget(Label("Gallery", role=TextRole.STRONG))
        head.addWidget(self._summary, 1)
        head.addWidget(self._compare)
        head.addWidget(self._delete)
        return head
