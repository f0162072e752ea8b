"""The form that adds a pair of folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme


class OwnPairForm(SurfaceFrame):
    """Signals: `add_requested(title, target_dir, draft_dir)`, the last None without a draft."""

    add_requested = Signal(str, object, object)

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._theme = theme
        self._title = QLineEdit()
        self._title.setPlaceholderText("The folder's name, if you leave this empty")
        self._target = _folder_field("Folder with openvino_model.xml and the tokenizer")
        self._draft = _folder_field("None: the target answers alone")
        self._add = Button("Add this pair", theme=theme, kind=ButtonKind.PRIMARY)
        self._add.clicked.connect(self._on_add_clicked)
        self._problem = ProblemView(theme=theme, report=report)
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Target", "The model that answers.", self._target),
            ("Draft", "A small DFlash model that was trained for this target.", self._draft),
            ("Name", "How the pair is called in the list.", self._title),
        )
        for number, (name, explanation, field) in enumerate(rows):
            label = Label(name)
            label.setToolTip(explanation)
            label.setBuddy(field)
            field.setAccessibleName(name)
            field.setAccessibleDescription(explanation)
            grid.addWidget(label, number, 0)
            grid.addWidget(field, number, 1)
            if field is not self._title:
                grid.addWidget(self._choose_button(name, field), number, 2)
        bottom = QHBoxLayout()
        bottom.addWidget(self._add)
        bottom.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP)
        column.addWidget(
            Label(
                "Both are folders in OpenVINO form, as optimum-intel exports them. They are "
                "used where they are; nothing is copied.",
                role=TextRole.MUTED,
                wraps=True,
            )
        )
        column.addLayout(grid)
        column.addWidget(self._problem)
        column.addLayout(bottom)
        self._target.textChanged.connect(self._on_text_changed)
        self._on_text_changed()

    def show_checking(self, is_checking: bool) -> None:
        """While the folders are checked the button waits."""
        self._add.setText("Checking…" if is_checking else "Add this pair")
        self._add.setEnabled(not is_checking)
        if is_checking:
            self._problem.clear()

    def show_problem(self, problem: Problem) -> None:
        """Say why the pair was not added."""
        self._problem.show_problem(problem)

    def clear(self) -> None:
        """Empty the form after a pair was added."""
        for field in (self._title, self._target, self._draft):
            field.clear()
        self._problem.clear()

    def focus_target(self) -> None:
        """Put the caret where the form begins."""
        self._target.setFocus()

    def _choose_button(self, name: str, field: QLineEdit) -> Button:
        button = Button("Choose…", theme=self._theme, icon=IconName.FOLDER_OPEN)
        button.setAccessibleName(f"Choose the folder of the {name.lower()}")
        button.clicked.connect(lambda: self._choose(name, field))
        return button

    def _choose(self, name: str, field: QLineEdit) -> None:
        title = f"Choose the folder of the {name.lower()}"
        folder = QFileDialog.getExistingDirectory(self, title, field.text())
        if folder:
            field.setText(str(Path(folder)))

    def _on_text_changed(self) -> None:
        is_ready = bool(self._target.text().strip())
        self._add.setEnabled(is_ready)
        self._add.setToolTip("" if is_ready else "Choose the target's folder first.")

    def _on_add_clicked(self) -> None:
        draft = self._draft.text().strip()
        self.add_requested.emit(
            self._title.text(),
            Path(self._target.text().strip()).expanduser(),
            Path(draft).expanduser() if draft else None,
        )


def _folder_field(placeholder: str) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(placeholder)
    field.setClearButtonEnabled(True)
    return field
