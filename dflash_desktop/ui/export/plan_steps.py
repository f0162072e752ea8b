"""The steps of a plan, numbered, with the command lines that do the same elsewhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.shell_words import Shell, shells_of
from dflash_desktop.ui.export.command_box import CommandBox
from dflash_desktop.ui.export.plan_words import commands_text, step_line
from dflash_desktop.ui.theme import GAP, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.fold import Fold
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from dflash_desktop.domain.export_plan import ExportPlan
    from dflash_desktop.ui.theme import Theme

_SHELL_NAMES: Final = {
    Shell.SH: "For a terminal",
    Shell.CMD: "For the command prompt",
    Shell.POWERSHELL: "For PowerShell",
}


class PlanSteps(QWidget):
    """`platform` decides which shells' lines are shown."""

    def __init__(self, *, theme: Theme, platform: str = sys.platform) -> None:
        super().__init__()
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GAP_MEDIUM)
        self._grid.setVerticalSpacing(GAP_SMALL)
        self._grid.setColumnStretch(1, 1)
        self._boxes = {
            shell: CommandBox(_SHELL_NAMES[shell], theme=theme) for shell in shells_of(platform)
        }
        commands = QWidget()
        inner = QVBoxLayout(commands)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.setSpacing(GAP)
        for box in self._boxes.values():
            inner.addWidget(box)
        self._fold = Fold("Commands", commands, theme=theme)
        self._fold.button.setToolTip("What does the same in a terminal, here or elsewhere")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(Label("What will be done", role=TextRole.STRONG))
        column.addLayout(self._grid)
        column.addWidget(self._fold)

    def show_steps(self, plan: ExportPlan) -> None:
        """Show the steps of a plan."""
        while (item := self._grid.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for row, step in enumerate(plan.steps):
            number = Label(f"{row + 1}.", role=TextRole.MUTED)
            self._grid.addWidget(number, row, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(Label(step.title, wraps=True), row, 1)
            takes = Label(step_line(step), role=TextRole.CAPTION)
            self._grid.addWidget(takes, row, 2, Qt.AlignmentFlag.AlignTop)
        commands = tuple(step.command for step in plan.steps)
        for shell, box in self._boxes.items():
            box.show_text(commands_text(commands, shell))
        self._fold.setVisible(any(commands))
