"""Gets a model by the name of its repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QLineEdit, QVBoxLayout

from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label, name_label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme


class NameForm(SurfaceFrame):
    """Signals: `look_requested(target, draft)` (the draft may be empty), `download_requested`,
    `changed` when what was found is no longer what is asked for, `remedy_chosen(Remedy)`.
    """

    look_requested = Signal(str, str)
    download_requested = Signal()
    changed = Signal()
    remedy_chosen = Signal(object)

    def __init__(
        self, *, theme: Theme, report: Callable[[Problem], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._target = QLineEdit()
        self._target.setPlaceholderText("owner/name")
        self._draft = QLineEdit()
        self._draft.setPlaceholderText("owner/name, or empty")
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Model", "As it stands on the model's page.", self._target),
            ("Draft", "A small DFlash model that was trained for it.", self._draft),
        )
        for number, (name, explanation, field) in enumerate(rows):
            label = name_label(name, field, explanation=explanation)
            label.setToolTip(explanation)
            field.textChanged.connect(self._on_text_changed)
            field.returnPressed.connect(self._on_look_clicked)
            grid.addWidget(label, number, 0)
            grid.addWidget(field, number, 1)
        self._look = Button("Look it up", theme=theme)
        self._look.clicked.connect(self._on_look_clicked)
        self._download = Button("Download", theme=theme, kind=ButtonKind.PRIMARY)
        self._download.clicked.connect(self.download_requested)
        self._found = Label(wraps=True)
        self._error = Label(role=TextRole.BAD, wraps=True)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self.remedy_chosen)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_SMALL)
        column.addLayout(grid)
        for part in (self._found, self._error, self._problem):
            column.addWidget(part)
        column.addLayout(FlowRow(self._look, self._download))
        self.clear()

    @property
    def names(self) -> tuple[str, str]:
        """What is in the two fields."""
        return self._target.text().strip(), self._draft.text().strip()

    def fill(self, target: str, draft: str = "") -> None:
        """Put names into the fields."""
        self._target.setText(target)
        self._draft.setText(draft)

    def show_looking(self) -> None:
        """The hub is being asked."""
        self._show("", "", has_download=False)
        self._look.setEnabled(False)
        self._look.setText("Asking the hub…")

    def show_found(self, lines: tuple[str, ...], action: str, error: str) -> None:
        """What the hub has, and what the download's button says."""
        self._show("\n".join(lines), error, has_download=not error)
        self._download.setText(action)
        if not error:
            self._download.setFocus()

    def show_error(self, words: str) -> None:
        """Say what is wrong with a name."""
        self._show("", words, has_download=False)
        self._target.setFocus()

    def show_problem(self, problem: Problem) -> None:
        """Say why the hub did not tell."""
        self._show("", "", has_download=False)
        self._problem.show_problem(problem)

    def clear(self) -> None:
        """Forget what was found."""
        self._show("", "", has_download=False)
        is_ready = bool(self._target.text().strip())
        self._look.setEnabled(is_ready)
        self._look.setToolTip("" if is_ready else "Write the model's name first.")

    def empty(self) -> None:
        """Be as new, after a download has begun."""
        self._target.clear()
        self._draft.clear()
        self.clear()

    def look_again(self) -> None:
        """Ask once more for what is in the fields."""
        self._on_look_clicked()

    def _show(self, found: str, error: str, *, has_download: bool) -> None:
        self._found.show_text(found)
        self._found.setVisible(bool(found))
        self._error.show_text(error)
        self._error.setVisible(bool(error))
        self._problem.clear()
        self._download.setVisible(has_download)
        self._look.setVisible(not has_download)
        self._look.setEnabled(True)
        self._look.setText("Look it up")

    def _on_text_changed(self) -> None:
        self.clear()
        self.changed.emit()

    def _on_look_clicked(self) -> None:
        target, draft = self.names
        if target:
            self.look_requested.emit(target, draft)
