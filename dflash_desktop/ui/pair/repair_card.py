"""What a repair would write, the button for it, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout

from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.pair.words import (
    CAN_TAKE_BACK,
    TAKE_BACK,
    breakable,
    not_repaired_line,
    repair_line,
    repair_title,
)
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.repair_plan import RepairPlan
    from dflash_desktop.ui.theme import Theme

_KEPT = (
    "Only these entries are written. The weights are not touched, and the files from before stay "
    "beside the new ones, so that you can undo it. Then the pair is checked by running it."
)


class RepairCard(SurfaceFrame):
    """Hidden while there is nothing to repair or to undo.

    Signals: `repair_requested`, `undo_requested`.
    """

    repair_requested = Signal()
    undo_requested = Signal()

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.CARD, parent)
        self._title = Label(role=TextRole.STRONG, wraps=True)
        self._lines = Label(wraps=True)
        self._kept = Label(_KEPT, role=TextRole.MUTED, wraps=True)
        self._not_repaired = Label(wraps=True)
        self._way_back = Label(wraps=True)
        self._repair = Button("Repair", theme=theme)
        self._repair.clicked.connect(self.repair_requested)
        self._undo = Button("Undo the repair", theme=theme, icon=IconName.UNDO)
        self._undo.clicked.connect(self.undo_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP)
        column.setSpacing(GAP_SMALL)
        for label in (self._title, self._lines, self._kept, self._not_repaired, self._way_back):
            column.addWidget(label)
        column.addLayout(FlowRow(self._repair, self._undo))
        self.hide()

    def show_plan(self, plan: RepairPlan, *, can_undo: bool, is_in_vain: bool) -> None:
        """Show what can be written; `is_in_vain`: the draft is not accepted after a repair."""
        self._title.show_text(repair_title(plan, can_undo=can_undo))
        self._lines.show_text(breakable("\n".join(map(repair_line, plan.repairs))))
        self._not_repaired.show_text(
            breakable("\n".join(map(not_repaired_line, plan.not_repaired)))
        )
        self._way_back.show_text(TAKE_BACK if is_in_vain else CAN_TAKE_BACK)
        has_repairs = bool(plan.repairs)
        for part in (self._lines, self._kept, self._repair):
            part.setVisible(has_repairs)
        self._not_repaired.setVisible(bool(plan.not_repaired))
        self._way_back.setVisible(can_undo)
        self._undo.setVisible(can_undo)
        self.setVisible(has_repairs or bool(plan.not_repaired) or can_undo)

    def show_busy(self, why: str) -> None:
        """Close both buttons while something runs, and say what; "" opens them."""
        for button in (self._repair, self._undo):
            button.setEnabled(not why)
            button.setToolTip(why)
