"""What a person wants exported: from a pair of the catalogue, the hub, a folder or a GGUF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    WeightFormat,
)
from dflash_desktop.ui.export.form_words import title_of
from dflash_desktop.ui.export.item_form import ItemForm
from dflash_desktop.ui.export.more_choices import MoreChoices
from dflash_desktop.ui.export.source_words import field_text
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.fold import Fold
from dflash_desktop.ui.widgets.labels import name_label
from dflash_desktop.ui.widgets.wheel_through import ChoiceBox

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

_OWN = "Choose the checkpoints yourself"
_ASK = "See what it takes"
_ASKING = "Working it out…"
_NOTHING_TO_MAKE = "Name a model or a draft first."


class ExportForm(QWidget):
    """Signals: `plan_requested(ExportRequest)`, `cancelled` while the plan is being made,
    `limit_chosen(bytes)` as of `MoreChoices`, `remedy_chosen(Remedy)`.
    """

    plan_requested = Signal(object)
    cancelled = Signal()
    limit_chosen = Signal(object)
    remedy_chosen = Signal(object)

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        cores: int,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._pairs: tuple[ExportRequest, ...] = ()
        self._is_asking = False
        self._pair = ChoiceBox()
        self._pair.addItem(_OWN)
        self._pair.setMinimumContentsLength(20)
        self._pair.activated.connect(self._on_pair_chosen)
        self._items = {role: ItemForm(role, theme=theme) for role in ExportRole}
        for item in self._items.values():
            item.changed.connect(self._on_changed)
            item.edited.connect(lambda: self._pair.setCurrentIndex(0))
            item.entered.connect(self._on_ask_clicked)
        self._more = MoreChoices(cores=cores)
        self._more.limit_chosen.connect(self.limit_chosen)
        self._fold = Fold("More", self._more, theme=theme)
        self._ask = Button(_ASK, theme=theme, kind=ButtonKind.PRIMARY)
        self._ask.clicked.connect(self._on_ask_clicked)
        self._cancel = Button("Cancel", theme=theme)
        self._cancel.clicked.connect(self.cancelled)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self.remedy_chosen)
        self._lay_out()
        self.show_idle()

    @property
    def request(self) -> ExportRequest | None:
        """What is in the fields; None while they name nothing or something that cannot be."""
        items = []
        for role, form in self._items.items():
            source = form.read.source
            if source is None:
                if not form.is_empty:
                    return None
                continue
            items.append(
                ExportItem(
                    role,
                    source,
                    form.weight_format,
                    self._more.group_size(role),
                    all_layers=role is ExportRole.DRAFT and self._more.all_layers,
                )
            )
        if not items:
            return None
        return ExportRequest(
            title_of(items),
            tuple(items),
            self._more.threads,
            allow_development=self._more.allow_development,
        )

    def show_pairs(self, pairs: tuple[ExportRequest, ...]) -> None:
        """The catalogue's pairs that nobody has converted, as wishes to export them."""
        self._pairs = pairs
        self._pair.clear()
        self._pair.addItem(_OWN)
        self._pair.addItems([pair.title for pair in pairs])
        self._pair_row.setVisible(bool(pairs))

    def show_limit(self, limit_bytes: int | None) -> None:
        """What an export may take of the memory; None is the usual."""
        self._more.show_limit(limit_bytes)

    def show_request(self, request: ExportRequest) -> None:
        """Put a wish into the fields."""
        items = {item.role: item for item in request.items}
        for role, form in self._items.items():
            item = items.get(role)
            form.show_item(item, "" if item is None else field_text(item.source))
            if item is not None:
                self._more.show_item(item)
        self._more.show_development(request.allow_development)
        titles = [pair.title for pair in self._pairs]
        known = titles.index(request.title) + 1 if request.title in titles else 0
        self._pair.setCurrentIndex(known)

    def take_path(self, path: str, role: ExportRole) -> None:
        """A folder or file that was dropped."""
        self._pair.setCurrentIndex(0)
        self._items[role].fill(path)
        self._items[role].take_focus()

    def is_free(self, role: ExportRole) -> bool:
        """Whether the field for it is empty."""
        return self._items[role].is_empty

    def show_asking(self) -> None:
        """The plan is being made."""
        self._problem.clear()
        self._is_asking = True
        self._ask.setText(_ASKING)
        self._ask.setEnabled(False)
        self._cancel.show()
        self._cancel.setFocus()

    def show_idle(self) -> None:
        """No plan is being made."""
        had_focus = self._cancel.hasFocus()
        self._is_asking = False
        self._ask.setText(_ASK)
        self._cancel.hide()
        self._on_changed()
        if had_focus:
            self._ask.setFocus()

    def show_problem(self, problem: Problem) -> None:
        """Say why there is no plan."""
        self.show_idle()
        self._problem.show_problem(problem)

    def ask_again(self) -> None:
        """As if the button had been pressed."""
        self._problem.clear()
        self._on_ask_clicked()

    def take_focus(self) -> None:
        """Put the keyboard into the first field."""
        self._items[ExportRole.TARGET].take_focus()

    def _lay_out(self) -> None:
        self._pair_row = QWidget()
        row = QHBoxLayout(self._pair_row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        row.addWidget(
            name_label(
                "Pair",
                self._pair,
                explanation="Pairs of the catalogue that nobody has converted yet.",
            )
        )
        row.addWidget(self._pair, 1)
        self._pair_row.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(self._pair_row)
        for form in self._items.values():
            column.addWidget(form)
        column.addWidget(self._fold)
        column.addWidget(self._problem)
        column.addLayout(FlowRow(self._ask, self._cancel))

    def _on_changed(self) -> None:
        formats: list[WeightFormat] = [form.weight_format for form in self._items.values()]
        self._more.show_formats(formats[0], formats[1])
        is_empty = all(form.is_empty for form in self._items.values())
        self._ask.setEnabled(not is_empty and not self._is_asking)
        self._ask.setToolTip(_NOTHING_TO_MAKE if is_empty else "")

    def _on_pair_chosen(self, index: int) -> None:
        if index:
            self.show_request(self._pairs[index - 1])

    def _on_ask_clicked(self) -> None:
        if self._is_asking:
            return
        wrong = next((form for form in self._items.values() if form.read.error), None)
        if wrong is not None:
            wrong.show_error()
        elif (request := self.request) is not None:
            self.plan_requested.emit(request)
