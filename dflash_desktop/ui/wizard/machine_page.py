"""The first page of the setup: this machine in one sentence, and what was found about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QGridLayout,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.domain.setting_bounds import MEMORY_RESERVE_BOUNDS
from dflash_desktop.domain.settings import SETTING_TEXTS
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import (
    GAP,
    GAP_MEDIUM,
    GAP_SMALL,
    SIZE_CAPTION,
    TextRole,
    code_font,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.device_box import DeviceBox
from dflash_desktop.ui.widgets.empty_layout import empty_layout
from dflash_desktop.ui.widgets.fold import Fold
from dflash_desktop.ui.widgets.labels import Label, name_label
from dflash_desktop.ui.widgets.memory_bar import LabelledMemoryBar
from dflash_desktop.ui.widgets.page_column import PageColumn
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame
from dflash_desktop.ui.widgets.wheel_through import AmountBox
from dflash_desktop.ui.wizard.finding_card import FindingCard

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.devices import Device
    from dflash_desktop.domain.memory_parts import MemoryPart
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

PAGE_WIDTH: Final = 720
_RAW_HEIGHT: Final = 240
_GB: Final = 1_000_000_000
_LOOKING: Final = "Looking at this machine…"


class MachinePage(PageColumn):
    """Signals: `look_requested`, `reserve_chosen(bytes)`, `device_chosen(identity)`,
    `remedy_chosen(Remedy)`.
    """

    look_requested = Signal()
    reserve_chosen = Signal(object)
    device_chosen = Signal(str)
    remedy_chosen = Signal(Remedy)

    def __init__(self, *, theme: Theme, report: Callable[[Problem], str]) -> None:
        super().__init__(width=PAGE_WIDTH)
        self._theme = theme
        self._sentence = Label(_LOOKING, role=TextRole.READING, wraps=True)
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._bar = LabelledMemoryBar("Memory", theme=theme)
        self._sum = Label(role=TextRole.CAPTION, wraps=True)
        self._reserve = AmountBox()
        self._device = DeviceBox()
        self._device.device_chosen.connect(self.device_chosen)
        self._memory = self._built_memory()
        self._findings = QVBoxLayout()
        self._findings.setSpacing(GAP_MEDIUM)
        self._look = Button("Look again", theme=theme, icon=IconName.REFRESH)
        self._look.clicked.connect(self.look_requested)
        self._raw = QPlainTextEdit()
        self._fold = Fold("All that was found, for experts", self._built_raw(), theme=theme)
        self.column.addWidget(Label("Your machine", role=TextRole.HEADING))
        self.column.addWidget(self._sentence)
        self.column.addWidget(self._problem)
        self.column.addWidget(self._memory)
        self.column.addLayout(self._findings)
        self.column.addWidget(self._look, 0, Qt.AlignmentFlag.AlignLeft)
        self.column.addWidget(self._fold)
        self.column.addStretch(1)
        self._memory.hide()
        self._fold.hide()

    def show_looking(self) -> None:
        """While the machine is looked at the button waits; what was found stays."""
        self._look.setEnabled(False)
        self._look.setToolTip("The machine is being looked at.")
        if self._memory.isHidden():
            self._sentence.show_text(_LOOKING)

    def show_machine(self, findings: tuple[Problem, ...], raw_json: str) -> None:
        """What was found about the machine, and all of it as JSON."""
        self._end_looking()
        self._problem.clear()
        self._raw.setPlainText(raw_json)
        self._fold.show()
        empty_layout(self._findings)
        for finding in findings:
            card = FindingCard(finding, theme=self._theme)
            card.remedy_chosen.connect(self._on_remedy_chosen)
            self._findings.addWidget(card)

    def show_sentence(self, sentence: str) -> None:
        """What the machine is, and how much of its memory a model may take."""
        self._sentence.show_text(sentence)

    def show_memory(self, parts: tuple[MemoryPart, ...], reserve_bytes: int, note: str) -> None:
        """How the memory is divided, how much stays free, and what is to be said of the sum."""
        self._bar.show_parts(parts)
        self._sum.show_text(note)
        self._sum.setVisible(bool(note))
        self._reserve.blockSignals(True)
        self._reserve.setValue(reserve_bytes / _GB)
        self._reserve.blockSignals(False)
        self._memory.show()

    def show_devices(self, devices: tuple[Device, ...], wanted: str, automatic: str) -> None:
        """What models can run on, and what the person chose; one device alone is no choice."""
        self._device.show_devices(devices, wanted, automatic=automatic)
        is_choice = len(devices) > 1 or bool(wanted)
        for widget in (self._device, self._device_label):
            widget.setVisible(is_choice)

    def show_problem(self, problem: Problem) -> None:
        """The machine could not be looked at."""
        self._end_looking()
        self._sentence.show_text("What this machine can do is not known yet.")
        self._problem.show_problem(problem)

    def focus_first(self) -> None:
        """Where the keyboard begins."""
        self._look.setFocus()

    def _end_looking(self) -> None:
        self._look.setEnabled(True)
        self._look.setToolTip("After you installed a driver, closed programs or plugged in a card")

    def _built_memory(self) -> QWidget:
        words = SETTING_TEXTS["memory_reserve_bytes"]
        self._reserve.setRange(MEMORY_RESERVE_BOUNDS.minimum, MEMORY_RESERVE_BOUNDS.maximum / _GB)
        self._reserve.setDecimals(1)
        self._reserve.setSingleStep(0.5)
        self._reserve.setSuffix(" GB")
        # Qt gives the text of a styled spin box no padding.
        self._reserve.lineEdit().setTextMargins(GAP_SMALL, 0, 0, 0)
        self._reserve.valueChanged.connect(
            lambda value: self.reserve_chosen.emit(round(value * _GB))
        )
        label = name_label(words.title, self._reserve, explanation=words.help)
        self._device_label = Label(SETTING_TEXTS["device"].title)
        self._device_label.setBuddy(self._device)
        grid = QGridLayout()
        grid.setHorizontalSpacing(GAP)
        grid.setVerticalSpacing(GAP_SMALL)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self._device_label, 0, 0)
        grid.addWidget(self._device, 0, 1)
        grid.addWidget(label, 1, 0)
        grid.addWidget(self._reserve, 1, 1, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(Label(words.help, role=TextRole.CAPTION, wraps=True), 2, 1)
        card = SurfaceFrame(Surface.CARD)
        column = QVBoxLayout(card)
        column.setContentsMargins(GAP, GAP, GAP, GAP)
        column.setSpacing(GAP_MEDIUM)
        column.addWidget(self._bar)
        column.addWidget(self._sum)
        column.addLayout(grid)
        return card

    def _built_raw(self) -> QWidget:
        self._raw.setReadOnly(True)
        self._raw.setFont(code_font(SIZE_CAPTION))
        self._raw.setFixedHeight(_RAW_HEIGHT)
        self._raw.setTabChangesFocus(True)
        self._raw.setAccessibleName("All that was found, as JSON")
        copy = Button("Copy as JSON", theme=self._theme, kind=ButtonKind.QUIET, icon=IconName.COPY)
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._raw.toPlainText()))
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._raw)
        column.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)
        return content

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            self.look_requested.emit()
        else:
            self.remedy_chosen.emit(remedy)
