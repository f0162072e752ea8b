"""The form that adds a pair of one's own: two folders on this disk, or two hub repositories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout

from dflash_desktop.domain.own_pair import repository_name
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.models.hub_facts_form import NAMES_WIDTH, HubFactsForm
from dflash_desktop.ui.models.own_pair_list import OwnPairList
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label, name_label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.own_pair import OwnPairEntry
    from dflash_desktop.ui.theme import Theme

_MIXED = Problem(
    code="own_pair_mixed",
    headline="One of them is a folder, the other a repository.",
    advice="Name two folders, or two repositories. A repository can be downloaded first and its "
    "folder used then.",
)


class OwnPairForm(SurfaceFrame):
    """Signals: `add_requested(title, target_dir, draft_dir)`, the last None without a draft;
    `look_requested(title, target_dir, draft_dir)` to see whether it works without adding it;
    `hub_pair_requested(OwnPairEntry)`. The hub pairs that are there already are in `added`.
    """

    add_requested = Signal(str, object, object)
    look_requested = Signal(str, object, object)
    hub_pair_requested = Signal(object)

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
        self._title.setPlaceholderText(
            "The folder's or repository's name, if you leave this empty"
        )
        self._target = _place_field("A folder with openvino_model.xml, or owner/name on the hub")
        self._draft = _place_field("None: the target answers alone")
        self._facts = HubFactsForm()
        self._add = Button("Add this pair", theme=theme, kind=ButtonKind.PRIMARY)
        self._add.clicked.connect(self._on_add_clicked)
        self._problem = ProblemView(theme=theme, report=report)
        self.added = OwnPairList(theme=theme)
        bottom = QHBoxLayout()
        self._look = Button("Does it work?", theme=theme, kind=ButtonKind.QUIET)
        self._look.setAccessibleName("Does it work? Look at the pair without adding it")
        self._look.clicked.connect(self._on_look_clicked)
        bottom.addWidget(self._add)
        bottom.addWidget(self._look)
        bottom.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP)
        column.addWidget(
            Label(
                "Folders in OpenVINO form, as optimum-intel exports them, are used where they "
                "are; nothing is copied. Repositories of the hub join the setup's list, which "
                "tells whether they fit and gets them.",
                role=TextRole.MUTED,
                wraps=True,
            )
        )
        column.addLayout(self._built_places())
        column.addWidget(self._facts)
        column.addWidget(self._problem)
        column.addLayout(bottom)
        column.addWidget(self.added)
        for field in (self._target, self._draft):
            field.textChanged.connect(self._on_text_changed)
        self._on_text_changed()

    def show_checking(self, is_checking: bool) -> None:
        """While the folders are checked the button waits."""
        self._add.setText("Checking…" if is_checking else "Add this pair")
        self._add.setEnabled(not is_checking)
        if is_checking:
            self._problem.clear()

    def show_problem(self, problem: Problem) -> None:
        """Say why the pair was not added; the form itself is the way out."""
        self._problem.show_problem(replace(problem, remedies=()))

    def clear(self) -> None:
        """Empty the form after a pair was added."""
        for field in (self._title, self._target, self._draft):
            field.clear()
        self._facts.clear()
        self._problem.clear()

    def focus_target(self) -> None:
        """Put the caret where the form begins."""
        self._target.setFocus()

    def _built_places(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnMinimumWidth(0, NAMES_WIDTH)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Target", "The model that answers.", self._target),
            ("Draft", "A small DFlash model that was trained for this target.", self._draft),
            ("Name", "How the pair is called in the list.", self._title),
        )
        for number, (name, explanation, field) in enumerate(rows):
            label = name_label(name, field, explanation=explanation)
            label.setToolTip(explanation)
            grid.addWidget(label, number, 0)
            grid.addWidget(field, number, 1)
            if field is not self._title:
                grid.addWidget(self._choose_button(name, field), number, 2)
        return grid

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
        target = self._target.text().strip()
        self._add.setEnabled(bool(target))
        self._add.setToolTip("" if target else "Choose the target first.")
        self._facts.setVisible(_is_repository(target))
        draft = self._draft.text().strip()
        can_look = all(name and not _is_repository(name) for name in (target, draft))
        self._look.setEnabled(can_look)
        self._look.setToolTip("" if can_look else "Choose the folders of a target and a draft.")

    def _on_add_clicked(self) -> None:
        target, draft = self._target.text().strip(), self._draft.text().strip()
        if draft and _is_repository(draft) != _is_repository(target):
            self.show_problem(_MIXED)
        elif _is_repository(target):
            self._request_hub_pair(target, draft)
        else:
            self.add_requested.emit(
                self._title.text(),
                Path(target).expanduser(),
                Path(draft).expanduser() if draft else None,
            )

    def _on_look_clicked(self) -> None:
        target, draft = (
            Path(field.text().strip()).expanduser() for field in (self._target, self._draft)
        )
        self.look_requested.emit(self._title.text(), target, draft)

    def _request_hub_pair(self, target: str, draft: str) -> None:
        try:
            entry: OwnPairEntry = self._facts.entry(self._title.text(), target, draft)
        except AppError as error:
            self.show_problem(error.problem)
        else:
            self._problem.clear()
            self.hub_pair_requested.emit(entry)


def _place_field(placeholder: str) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(placeholder)
    field.setClearButtonEnabled(True)
    return field


def _is_repository(text: str) -> bool:
    """Whether the words mean a repository, and not a folder that is there."""
    return repository_name(text) is not None and not Path(text).expanduser().is_dir()
