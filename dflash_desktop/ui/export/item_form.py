"""One half of a pair in the form: which checkpoint, and how its weights are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QVBoxLayout,
)

from dflash_desktop.domain.export_request import ExportItem, ExportRole, WeightFormat
from dflash_desktop.ui.export.form_words import (
    FORMATS,
    PLACEHOLDERS,
    ROLE_EXPLANATIONS,
    ROLE_TITLES,
    format_advice,
)
from dflash_desktop.ui.export.source_words import ReadSource, read_source
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.labels import Label, name_label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame
from dflash_desktop.ui.widgets.wheel_through import ChoiceBox

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme


class ItemForm(SurfaceFrame):
    """Signals: `changed`, `edited` when a person wrote or chose another source, and `entered` for
    Enter in the field.
    """

    changed = Signal()
    edited = Signal()
    entered = Signal()

    def __init__(self, role: ExportRole, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.CARD, parent)
        self._role = role
        self._name = name = ROLE_TITLES[role]
        self._field = QLineEdit()
        self._field.setPlaceholderText(PLACEHOLDERS[role])
        self._field.setClearButtonEnabled(True)
        self._field.textChanged.connect(self._on_changed)
        self._field.textEdited.connect(lambda _: self.edited.emit())
        self._field.returnPressed.connect(self.entered)
        self._choose = Button("Choose…", theme=theme, icon=IconName.FOLDER_OPEN)
        self._choose.setAccessibleName(f"{name}: choose from this disk")
        self._choose.clicked.connect(self._on_choose_clicked)
        self._taken_for = Label(ROLE_EXPLANATIONS[role], role=TextRole.CAPTION, wraps=True)
        self._format = ChoiceBox()
        for weight_format, words, advice in FORMATS:
            self._format.addItem(words, weight_format.value)
            self._format.setItemData(self._format.count() - 1, advice, Qt.ItemDataRole.ToolTipRole)
        self._format.setMinimumContentsLength(6)
        self._format.currentIndexChanged.connect(self._on_format_changed)
        self._advice = Label(role=TextRole.CAPTION, wraps=True)
        self._lay_out()
        self._on_format_changed()

    @property
    def read(self) -> ReadSource:
        """What is in the field, as it was understood."""
        return read_source(self._field.text(), self._role)

    @property
    def weight_format(self) -> WeightFormat:
        """How the weights are to be stored."""
        return WeightFormat(self._format.currentData())

    @property
    def is_empty(self) -> bool:
        """Whether nothing was written."""
        return not self._field.text().strip()

    def show_item(self, item: ExportItem | None, text: str) -> None:
        """Put this into the fields; None leaves the format as it is."""
        self._field.setText(text)
        if item is not None:
            self._format.setCurrentIndex(self._format.findData(item.weight_format.value))

    def fill(self, text: str) -> None:
        """Put a name or a path into the field."""
        self._field.setText(text)

    def take_focus(self) -> None:
        """Put the keyboard into the field."""
        self._field.setFocus()
        self._field.selectAll()

    def _lay_out(self) -> None:
        label = name_label(self._name, self._field, explanation=ROLE_EXPLANATIONS[self._role])
        weights = name_label("Weights", self._format)
        self._format.setAccessibleName(f"{self._name}: weights")
        source = QHBoxLayout()
        source.setSpacing(GAP_SMALL)
        source.addWidget(self._field, 1)
        source.addWidget(self._choose)
        stored = QHBoxLayout()
        stored.setSpacing(GAP_SMALL)
        stored.addWidget(self._format)
        stored.addWidget(self._advice, 1)
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, 56)  # the two cards' fields stand below one another
        grid.addWidget(label, 0, 0)
        grid.addLayout(source, 0, 1)
        grid.addWidget(self._taken_for, 1, 1)
        grid.addWidget(weights, 2, 0)
        grid.addLayout(stored, 2, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.addLayout(grid)

    def _on_changed(self) -> None:
        read = self.read
        words = read.error or read.words or ROLE_EXPLANATIONS[self._role]
        # Half a name is no mistake yet: it is told quietly, and in red when it is asked for.
        self._taken_for.show_text(words, role=TextRole.CAPTION)
        self.changed.emit()

    def show_error(self) -> None:
        """What is wrong with the field, where it is."""
        self._taken_for.show_text(self.read.error, role=TextRole.BAD)
        self.take_focus()

    def _on_format_changed(self) -> None:
        advice = format_advice(self.weight_format)
        self._advice.show_text(advice)
        self._format.setAccessibleDescription(advice)
        self.changed.emit()

    def menu(self) -> QMenu:
        """What a draft can be chosen as."""
        menu = QMenu(self)
        menu.addAction("A folder…", self._on_folder_chosen)
        menu.addAction("A GGUF file…", self._on_file_chosen)
        return menu

    def _on_choose_clicked(self) -> None:
        if self._role is ExportRole.TARGET:
            self._on_folder_chosen()
            return
        menu = self.menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._choose.mapToGlobal(self._choose.rect().bottomLeft()))

    def _on_folder_chosen(self) -> None:
        path = QFileDialog.getExistingDirectory(self, "Choose the folder of a checkpoint")
        self._take_chosen(path)

    def _on_file_chosen(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, "Choose a draft", "", "GGUF files (*.gguf);;All files (*)"
        )
        self._take_chosen(path)

    def _take_chosen(self, path: str) -> None:
        if path:
            self._field.setText(path)
            self.edited.emit()
