"""One environment in which exports run: whether it is there, its size, what can be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout

from dflash_desktop.domain.export_environment import EnvironmentState
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.export.environment_words import (
    DEVELOPMENT,
    STATE_LOOKS,
    install_words,
    size_line,
)
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.theme import (
    GAP,
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    STATE_COLOURS,
    TextRole,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.progress_strip import ProgressStrip
from dflash_desktop.ui.widgets.question import Answer, Question
from dflash_desktop.ui.widgets.state_icon import StateIcon
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.export_environment import EnvironmentStatus
    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.ui.theme import Theme

_REMOVE: Final = Answer("remove", "Remove")


class EnvironmentCard(SurfaceFrame):
    """Signals, each with the environment's id: `install_requested` (also updates),
    `repair_requested`, `remove_requested`, `cancelled`, `remedy_chosen(id, Remedy)`.
    """

    install_requested = Signal(str)
    repair_requested = Signal(str)
    remove_requested = Signal(str)
    cancelled = Signal(str)
    remedy_chosen = Signal(str, object)

    def __init__(
        self,
        status: EnvironmentStatus,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._status = status
        self._is_busy = False
        self._icon = StateIcon(theme=theme)
        self._state = Label()
        self._used_for = Label(wraps=True)
        self._numbers = Label(role=TextRole.CAPTION, wraps=True)
        self._detail = Label(role=TextRole.CAPTION, wraps=True)
        self._strip = ProgressStrip(f"Installing {status.title}", theme=theme)
        self._strip.cancelled.connect(lambda: self.cancelled.emit(self.id))
        self._problem = ProblemView(theme=theme, report=report)
        self._problem.remedy_chosen.connect(self._on_remedy_chosen)
        self._install = Button("Install", theme=theme)
        self._install.clicked.connect(self._on_install_clicked)
        self._check = Button("Check and repair", theme=theme, kind=ButtonKind.QUIET)
        self._check.clicked.connect(lambda: self.repair_requested.emit(self.id))
        self._remove = Button("Remove…", theme=theme, kind=ButtonKind.QUIET)
        self._remove.clicked.connect(self._on_remove_clicked)
        self._question = Question(_REMOVE, no="Keep it", theme=theme, is_risky=True)
        self._question.answered.connect(self._on_remove_answered)
        self._question.closed.connect(self._on_question_closed)
        self._lay_out()
        self.show_status(status)

    @property
    def id(self) -> str:
        """The environment's."""
        return self._status.id

    def show_status(self, status: EnvironmentStatus) -> None:
        """Show what is known of it now."""
        self._status = status
        word, role, icon = STATE_LOOKS[status.state]
        self._state.show_text(word, role=role)
        self._used_for.show_text(status.used_for)
        self._numbers.show_text(size_line(status))
        self._numbers.setVisible(bool(self._numbers.text()))
        detail = f"{DEVELOPMENT} {status.detail}" if status.is_development else status.detail
        self._detail.show_text(detail.strip())
        self._detail.setVisible(bool(detail.strip()))
        self.setAccessibleName(f"{status.title}, {word}")
        self._show_buttons()
        self._icon.show_state(icon, STATE_COLOURS[role])

    def show_progress(self, sentence: str, numbers: str, share: float) -> None:
        """It is being installed, repaired or removed; `share` is 0 to 1."""
        self._problem.clear()
        self._is_busy = True
        self._strip.show_progress(sentence, numbers, share)
        self._show_buttons()

    def show_idle(self) -> None:
        """Nothing is being done with it any more."""
        self._is_busy = False
        self._strip.hide()
        self._show_buttons()

    def show_problem(self, problem: Problem) -> None:
        """Say why it could not be done."""
        self.show_idle()
        self._problem.show_problem(problem)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setSpacing(GAP_SMALL)
        top.addWidget(ElidedLabel(self._status.title, role=TextRole.STRONG), 1)
        top.addWidget(self._icon)
        top.addWidget(self._state)
        column = QVBoxLayout(self)
        column.setContentsMargins(GAP, GAP_MEDIUM, GAP, GAP_MEDIUM)
        column.setSpacing(GAP_TINY)
        column.addLayout(top)
        for part in (
            self._used_for,
            self._numbers,
            self._detail,
            self._strip,
            self._problem,
            self._question,
        ):
            column.addWidget(part)
        column.addSpacing(GAP_TINY)
        column.addLayout(FlowRow(self._install, self._check, self._remove))

    def _show_buttons(self) -> None:
        is_free = not self._is_busy and self._question.isHidden()
        state = self._status.state
        words = install_words(self._status)
        self._install.setVisible(is_free and bool(words))
        self._install.setText(words)
        self._check.setVisible(is_free and state is EnvironmentState.READY)
        is_here = state not in (EnvironmentState.ABSENT, EnvironmentState.INSTALLING)
        self._remove.setVisible(is_free and is_here)
        for button in (self._install, self._check, self._remove):
            button.setAccessibleName(f"{button.text()}: {self._status.title}")

    def _on_install_clicked(self) -> None:
        is_damaged = self._status.state is EnvironmentState.DAMAGED
        (self.repair_requested if is_damaged else self.install_requested).emit(self.id)

    def _on_remove_clicked(self) -> None:
        freed = format_bytes(self._status.size_bytes)
        self._question.show_label(_REMOVE.key, f"Remove {freed}")
        self._question.ask(f"Remove {self._status.title}? The models that it made stay.")
        self._show_buttons()

    def _on_remove_answered(self) -> None:
        self._question.hide()
        self.remove_requested.emit(self.id)
        self._show_buttons()

    def _on_question_closed(self) -> None:
        self._question.hide()
        self._show_buttons()
        self._remove.setFocus()

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        self._problem.clear()
        self.remedy_chosen.emit(self.id, remedy)
