"""Where one is among the four pages of the setup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from dflash_desktop.domain.setup import SetupStep
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_SMALL, ICON_SIZE, TextRole
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Line

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

STEP_NAMES: Final = {
    SetupStep.MACHINE: "Your machine",
    SetupStep.CHOOSE: "Choose",
    SetupStep.GET: "Get it",
    SetupStep.READY: "Ready",
}
_STEPS: Final = tuple(SetupStep)
_SHORTEST_LINE: Final = 4


class ProgressLine(QWidget):
    """The four names with a mark before each; the mark says done, here, or still to come."""

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._step = SetupStep.MACHINE
        self._marks = {step: QLabel() for step in _STEPS}
        self._names = {step: Label(name) for step, name in STEP_NAMES.items()}
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP_SMALL)
        for number, step in enumerate(_STEPS):
            if number:
                line = Line(Qt.Orientation.Horizontal)
                line.setMinimumWidth(_SHORTEST_LINE)
                row.addWidget(line, 1)
            self._marks[step].setFixedSize(ICON_SIZE, ICON_SIZE)
            row.addWidget(self._marks[step])
            row.addWidget(self._names[step])
        theme.changed.connect(self._draw)
        self.show_step(SetupStep.MACHINE)

    def show_step(self, step: SetupStep) -> None:
        """Mark where one is."""
        self._step = step
        here = _STEPS.index(step)
        for number, one in enumerate(_STEPS):
            self._names[one].show_text(
                STEP_NAMES[one], role=TextRole.STRONG if number == here else TextRole.MUTED
            )
        self.setAccessibleName(f"Step {here + 1} of {len(_STEPS)}: {STEP_NAMES[step]}")
        self._draw()

    def _draw(self) -> None:
        here = _STEPS.index(self._step)
        for number, step in enumerate(_STEPS):
            if number < here:
                name, role = IconName.CIRCLE_CHECK, ColourRole.GOOD
            elif number == here:
                name, role = IconName.CIRCLE_DOT, ColourRole.ACCENT
            else:
                name, role = IconName.CIRCLE, ColourRole.TEXT_MUTED
            size = QSize(ICON_SIZE, ICON_SIZE)
            pixmap = self._theme.icon(name, role).pixmap(size, self.devicePixelRatioF())
            self._marks[step].setPixmap(pixmap)
