"""The choices of an export that most people never need: groups, the last matrix, cores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QWidget

from dflash_desktop.domain.export_request import ExportRole, WeightFormat
from dflash_desktop.domain.setting_bounds import EXPORT_MEMORY_LIMIT_BOUNDS
from dflash_desktop.domain.settings import SETTING_TEXTS
from dflash_desktop.ui.export.form_words import (
    ALL_LAYERS_ADVICE,
    ALL_LAYERS_TITLE,
    DEVELOPMENT_ADVICE,
    DEVELOPMENT_TITLE,
    GROUP_ADVICE,
    GROUP_SIZES,
    NO_GROUPS,
    THREADS_ADVICE,
    THREADS_TITLE,
)
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.labels import Label, name_label
from dflash_desktop.ui.widgets.wheel_through import AmountBox, ChoiceBox

if TYPE_CHECKING:
    from dflash_desktop.domain.export_request import ExportItem

_FIELD_WIDTH: Final = 168
_GB: Final = 1_000_000_000
_LIMIT: Final = SETTING_TEXTS["export_memory_limit_bytes"]


class MoreChoices(QWidget):
    """`cores` is how many the machine has.

    Signal: `limit_chosen(bytes)` of memory for every export from now on; None for the usual.
    """

    limit_chosen = Signal(object)

    def __init__(self, *, cores: int) -> None:
        super().__init__()
        self._groups = {role: _group_box() for role in ExportRole}
        self._all_layers = _check_box(ALL_LAYERS_TITLE, ALL_LAYERS_ADVICE)
        self._development = _check_box(DEVELOPMENT_TITLE, DEVELOPMENT_ADVICE)
        self._threads = ChoiceBox()
        self._threads.setFixedWidth(_FIELD_WIDTH)
        self._threads.addItem("All but one", None)
        for count in range(1, cores + 1):
            self._threads.addItem(str(count), count)
        self._limit = _limit_box()
        self._limit.valueChanged.connect(
            lambda value: self.limit_chosen.emit(round(value * _GB) or None)
        )
        self._lay_out()

    @property
    def all_layers(self) -> bool:
        """Whether the draft's last matrix is packed, too."""
        return self._all_layers.isChecked() and self._all_layers.isEnabled()

    @property
    def allow_development(self) -> bool:
        """Whether tools that nobody has checked may be used."""
        return self._development.isChecked()

    @property
    def threads(self) -> int | None:
        """How many cores may compute; None is all but one."""
        count = self._threads.currentData()
        return None if count is None else int(count)

    def group_size(self, role: ExportRole) -> int | None:
        """How many weights share a scale; None is the usual."""
        size = self._groups[role].currentData()
        is_used = self._groups[role].isEnabled()
        return int(size) if is_used and size is not None else None

    def show_limit(self, limit_bytes: int | None) -> None:
        """What an export may take of the memory; None is the usual."""
        self._limit.blockSignals(True)
        self._limit.setValue((limit_bytes or 0) / _GB)
        self._limit.blockSignals(False)

    def show_development(self, is_allowed: bool) -> None:
        """Whether a wish allows the development builds."""
        self._development.setChecked(is_allowed)

    def show_item(self, item: ExportItem) -> None:
        """Put an item's choices into the fields."""
        box = self._groups[item.role]
        box.setCurrentIndex(max(0, box.findData(item.group_size)))
        if item.role is ExportRole.DRAFT:
            self._all_layers.setChecked(item.all_layers)

    def show_formats(self, target: WeightFormat, draft: WeightFormat) -> None:
        """Offer what these formats have."""
        for role, weight_format in ((ExportRole.TARGET, target), (ExportRole.DRAFT, draft)):
            has_groups = weight_format is WeightFormat.INT4
            self._groups[role].setEnabled(has_groups)
            self._groups[role].setToolTip("" if has_groups else NO_GROUPS)
        has_groups = draft is WeightFormat.INT4
        self._all_layers.setEnabled(has_groups)
        self._all_layers.setToolTip(ALL_LAYERS_ADVICE if has_groups else NO_GROUPS)

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_TINY)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Group size of the model", self._groups[ExportRole.TARGET], ""),
            ("Group size of the draft", self._groups[ExportRole.DRAFT], GROUP_ADVICE),
            ("", self._all_layers, ALL_LAYERS_ADVICE),
            (THREADS_TITLE, self._threads, THREADS_ADVICE),
            (_LIMIT.title, self._limit, _LIMIT.help),
            ("", self._development, DEVELOPMENT_ADVICE),
        )
        for number, (name, field, advice) in enumerate(rows):
            if name:
                grid.addWidget(name_label(name, field, explanation=advice), 2 * number, 0)
            grid.addWidget(field, 2 * number, 1, Qt.AlignmentFlag.AlignLeft)
            if advice:
                hint = Label(advice, role=TextRole.CAPTION, wraps=True)
                hint.setContentsMargins(0, 0, 0, GAP_MEDIUM)
                grid.addWidget(hint, 2 * number + 1, 1)


def _limit_box() -> AmountBox:
    box = AmountBox()
    box.setFixedWidth(_FIELD_WIDTH)
    box.setRange(0, EXPORT_MEMORY_LIMIT_BOUNDS.maximum / _GB)
    box.setDecimals(1)
    box.setSuffix(" GB")
    box.setSpecialValueText("Nine tenths of it")
    box.lineEdit().setTextMargins(GAP_SMALL, 0, 0, 0)
    # Typing "12" must not first take 1 GB.
    box.setKeyboardTracking(False)
    return box


def _check_box(title: str, advice: str) -> QCheckBox:
    box = QCheckBox(title)
    box.setToolTip(advice)
    box.setAccessibleDescription(advice)
    return box


def _group_box() -> ChoiceBox:
    box = ChoiceBox()
    box.setFixedWidth(_FIELD_WIDTH)
    for size, words, advice in GROUP_SIZES:
        box.addItem(words, size)
        box.setItemData(box.count() - 1, advice, Qt.ItemDataRole.ToolTipRole)
    return box
