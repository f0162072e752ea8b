"""What a person knows of a pair on a hub: enough to tell whether it fits before it is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtWidgets import QCheckBox, QGridLayout, QLineEdit, QWidget

from dflash_desktop.domain.catalogue import DraftKind, ModelKind, Precision
from dflash_desktop.domain.own_pair import OwnPairEntry
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.ui.theme import GAP, GAP_SMALL
from dflash_desktop.ui.widgets.labels import name_label
from dflash_desktop.ui.widgets.wheel_through import ChoiceBox

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import StrEnum

NAMES_WIDTH: Final = 136
"""Of the column of names, so that the fields below each other begin at one line."""
_BILLION: Final = 1_000_000_000


class HubFactsForm(QWidget):
    """Empty fields are what is not known; `entry` gathers all of it."""

    def __init__(self) -> None:
        super().__init__()
        self._parameters = _number_field("8 for a model called 8B")
        self._target_size = _number_field("If you know it: the sum of its files")
        self._draft_size = _number_field("If you know it")
        self._precision = _choice((("not known", None), *((p.value, p) for p in Precision)))
        self._draft_kind = _choice((kind.label, kind) for kind in DraftKind)
        self._licence = QLineEdit()
        self._licence.setPlaceholderText("As its page names it")
        self._label = QLineEdit()
        self._label.setPlaceholderText("For instance: uncensored")
        self._sees = QCheckBox("It sees pictures")
        self._prebuilt = QCheckBox("Both are in OpenVINO form, ready to run")
        self._prebuilt.setChecked(True)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnMinimumWidth(0, NAMES_WIDTH)
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnStretch(1, 1)
        rows = (
            ("Parameters, billions", self._parameters),
            ("Target's size, GB", self._target_size),
            ("Draft's size, GB", self._draft_size),
            ("Precision", self._precision),
            ("Kind of draft", self._draft_kind),
            ("Licence", self._licence),
            ("Content label", self._label),
        )
        for number, (name, field) in enumerate(rows):
            grid.addWidget(name_label(name, field), number, 0)
            grid.addWidget(field, number, 1)
        grid.addWidget(self._sees, len(rows), 1)
        grid.addWidget(self._prebuilt, len(rows) + 1, 1)

    def entry(self, title: str, target: str, draft: str) -> OwnPairEntry:
        """Everything that was entered. Raises `AppError` for what is no number."""
        parameters = _scaled(self._parameters)
        precision = self._precision.currentData()
        return OwnPairEntry(
            target_repository=target,
            draft_repository=draft,
            title=title,
            kind=ModelKind.VISION if self._sees.isChecked() else ModelKind.TEXT,
            draft_kind=DraftKind(self._draft_kind.currentData()),
            # Qt keeps a StrEnum as plain text.
            precision=None if precision is None else Precision(precision),
            is_prebuilt=self._prebuilt.isChecked(),
            parameters=parameters,
            target_bytes=_scaled(self._target_size),
            draft_bytes=_scaled(self._draft_size),
            licence=self._licence.text(),
            content_label=self._label.text(),
        )

    def clear(self) -> None:
        """Empty the fields after a pair was added."""
        for field in (
            self._parameters,
            self._target_size,
            self._draft_size,
            self._licence,
            self._label,
        ):
            field.clear()
        self._precision.setCurrentIndex(0)
        self._draft_kind.setCurrentIndex(0)
        self._sees.setChecked(False)
        self._prebuilt.setChecked(True)


def _number_field(placeholder: str) -> QLineEdit:
    field = QLineEdit()
    field.setPlaceholderText(placeholder)
    return field


def _choice(entries: Iterable[tuple[str, StrEnum | None]]) -> ChoiceBox:
    box = ChoiceBox()
    for words, value in entries:
        box.addItem(words, value)
    return box


def _scaled(field: QLineEdit) -> int | None:
    """The number of billions that was typed, with a point or a comma; None if nothing was."""
    text = field.text().strip().replace(",", ".")
    if not text:
        return None
    try:
        return round(float(text) * _BILLION)
    except (ValueError, OverflowError) as error:
        raise AppError(
            Problem(
                code="own_pair_wrong",
                headline=f"“{field.text()}” is not a number: {field.accessibleName()}.",
                advice="Enter a number like 5.7, or leave it empty.",
            )
        ) from error
