"""The setup as one page of the window: where one is, the page itself, and the way on and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from dflash_desktop.domain.setup import SetupStep
from dflash_desktop.ui.starter.pane import StarterPane
from dflash_desktop.ui.theme import GAP_LARGE, GAP_MEDIUM, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Line, Surface, SurfaceFrame
from dflash_desktop.ui.wizard.choose_page import ChoosePage
from dflash_desktop.ui.wizard.get_page import GetPage
from dflash_desktop.ui.wizard.machine_page import PAGE_WIDTH, MachinePage
from dflash_desktop.ui.wizard.progress_line import ProgressLine
from dflash_desktop.ui.wizard.ready_page import ReadyPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QKeyEvent

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.starter import StarterPin
    from dflash_desktop.ui.theme import Theme

_NEXT_WORDS: Final = {
    SetupStep.MACHINE: "Choose a model",
    SetupStep.CHOOSE: "Get it",
    SetupStep.GET: "Next",
    SetupStep.READY: "Start chatting",
}


class WizardPane(QWidget):
    """Its pages `machine`, `choose`, `starter`, `transfer` and `ready` have their own signals.

    Signals: `next_requested`, `back_requested`, `left` after the person said to leave it.
    """

    next_requested = Signal()
    back_requested = Signal()
    left = Signal()

    def __init__(self, *, theme: Theme, pin: StarterPin, report: Callable[[Problem], str]) -> None:
        super().__init__()
        self.machine = MachinePage(theme=theme, report=report)
        self.choose = ChoosePage(theme=theme)
        self.starter = StarterPane(theme=theme, pin=pin, report=report)
        self.transfer = GetPage(theme=theme, report=report)
        self.ready = ReadyPage(theme=theme, report=report)
        self._step = SetupStep.MACHINE
        self._line = ProgressLine(theme=theme)
        self._stack = QStackedWidget()
        for page in (self.machine, self.choose, self.starter, self.transfer, self.ready):
            self._stack.addWidget(page)
        self._back = Button("Back", theme=theme)
        self._back.clicked.connect(self.back_requested)
        self._later = Button("Set up later", theme=theme, kind=ButtonKind.QUIET)
        self._later.setToolTip(
            "Where you are is kept. Go on with “Set up…” in the menu of models."
        )
        self._later.clicked.connect(self.left)
        self._next = Button("", theme=theme, kind=ButtonKind.PRIMARY)
        self._next.clicked.connect(self.next_requested)
        self._why_not = Label(role=TextRole.MUTED, wraps=True)
        self._why_not.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._question = self._built_question(theme)
        self._lay_out()
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self._on_escape)
        self.show_step(SetupStep.MACHINE)

    @property
    def step(self) -> SetupStep:
        """The page that is shown."""
        return self._step

    def show_step(self, step: SetupStep, *, is_starter: bool = False) -> None:
        """Bring a page to the front; `is_starter` says which of the two ways to get a model."""
        self._step = step
        get = self.starter if is_starter else self.transfer
        page = {
            SetupStep.MACHINE: self.machine,
            SetupStep.CHOOSE: self.choose,
            SetupStep.GET: get,
            SetupStep.READY: self.ready,
        }[step]
        self._line.show_step(step)
        self._stack.setCurrentWidget(page)
        # Always there, so that the other buttons never change their places.
        self._back.setEnabled(step is not SetupStep.MACHINE)
        self._back.setToolTip("" if self._back.isEnabled() else "This is the first page.")
        self._later.setVisible(step is not SetupStep.READY)
        self._question.hide()
        self.show_next(_NEXT_WORDS[step])

    def show_next(self, words: str = "", *, why_not: str = "", is_shown: bool = True) -> None:
        """What the way on is called; `why_not` says why it is closed, else it is open."""
        if words:
            self._next.setText(words)
        self._next.setEnabled(not why_not)
        self._next.setToolTip(why_not)
        self._next.setVisible(is_shown)
        self._why_not.show_text(why_not)

    def focus_next(self) -> None:
        """The way on is what the keyboard begins with, where a page asks for nothing."""
        if self._next.isVisible() and self._next.isEnabled():
            self._next.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the keyboard, and from a choice goes on."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            super().keyPressEvent(event)
            return
        focused = self.focusWidget()
        if isinstance(focused, QPushButton | QToolButton):
            focused.click()
        elif isinstance(focused, QRadioButton) and self._next.isEnabled():
            self._next.click()

    def _lay_out(self) -> None:
        top = QWidget()
        top.setMaximumWidth(PAGE_WIDTH)
        inner = QVBoxLayout(top)
        inner.setContentsMargins(0, 0, 0, 0)
        inner.addWidget(self._line)
        bottom = QWidget()
        bottom.setMaximumWidth(PAGE_WIDTH)
        row = QHBoxLayout(bottom)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP_SMALL)
        row.addWidget(self._back)
        row.addWidget(self._later)
        row.addWidget(self._why_not, 1)
        row.addWidget(self._next)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GAP_LARGE, 0, 0)
        column.setSpacing(0)
        column.addLayout(_centred(top))
        column.addWidget(self._stack, 1)
        # Its room goes with it while it is hidden.
        column.addLayout(_centred(self._question, below=GAP_MEDIUM))
        column.addWidget(Line(Qt.Orientation.Horizontal))
        column.addSpacing(GAP_MEDIUM)
        column.addLayout(_centred(bottom))
        column.addSpacing(GAP_MEDIUM)

    def _built_question(self, theme: Theme) -> SurfaceFrame:
        frame = SurfaceFrame(Surface.CARD)
        frame.setMaximumWidth(PAGE_WIDTH)
        frame.setAccessibleName("Leave the setup?")
        words = Label(
            "Leave the setup? Where you are is kept, and “Set up…” in the menu of models goes "
            "on from there. A download goes on.",
            wraps=True,
        )
        leave = Button("Leave", theme=theme)
        leave.clicked.connect(self.left)
        self._stay = Button("Stay", theme=theme, kind=ButtonKind.PRIMARY)
        self._stay.clicked.connect(self._on_stay)
        row = QHBoxLayout(frame)
        row.setContentsMargins(GAP_MEDIUM, GAP_SMALL, GAP_MEDIUM, GAP_SMALL)
        row.setSpacing(GAP_SMALL)
        row.addWidget(words, 1)
        row.addWidget(leave)
        row.addWidget(self._stay)
        frame.hide()
        return frame

    def _on_escape(self) -> None:
        if self._step is SetupStep.READY:
            self.left.emit()  # nothing is left undone
        elif self._question.isHidden():
            self._question.show()
            self._stay.setFocus()
        else:
            self._on_stay()

    def _on_stay(self) -> None:
        self._question.hide()
        self.focus_next()


def _centred(widget: QWidget, *, below: int = 0) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setContentsMargins(GAP_LARGE, 0, GAP_LARGE, below)
    row.addStretch(1)
    row.addWidget(widget, 1000)
    row.addStretch(1)
    return row
