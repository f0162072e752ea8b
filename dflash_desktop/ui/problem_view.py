"""A banner for one problem: what happened, what to do, a button for each way out."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from dflash_desktop.domain.problems import Problem, Remedy, Severity
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import (
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    SIZE_CAPTION,
    TextRole,
    code_font,
)
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.ui.theme import Theme

LOOKS = {
    Severity.INFO: (IconName.INFO, ColourRole.ACCENT, "Note"),
    Severity.WARNING: (IconName.TRIANGLE_ALERT, ColourRole.WARN, "Warning"),
    Severity.ERROR: (IconName.CIRCLE_ALERT, ColourRole.BAD, "Error"),
}
_ICON_PX = 20
_DETAIL_HEIGHT = 144
_SHOWN_DETAIL_CHARACTERS = 20_000
_COPIED_MS = 2000


class ProblemView(SurfaceFrame):
    """Hidden until `show_problem`.

    Signals: `remedy_chosen(Remedy)` for the button that was pressed, `dismissed` after the
    person closed the banner. `report` makes the text behind "Copy details". One that tells a
    state, which lasts until something is done, cannot be dismissed.
    """

    remedy_chosen = Signal(Remedy)
    dismissed = Signal()

    def __init__(
        self,
        *,
        theme: Theme,
        report: Callable[[Problem], str],
        can_dismiss: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(Surface.CARD, parent)
        self._theme = theme
        self._report = report
        self._problem: Problem | None = None
        self._icon = QLabel()
        self._icon.setFixedSize(_ICON_PX, _ICON_PX)
        self._headline = Label(role=TextRole.STRONG, wraps=True)
        self._advice = Label(wraps=True)
        for label in (self._headline, self._advice):
            label.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse
                | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
        self._close = IconButton(IconName.CLOSE, "Dismiss", theme=theme)
        self._close.clicked.connect(self._on_dismissed)
        if not can_dismiss:
            self._close.hide()
        self._remedies: list[Button] = []
        self._fold = Button("Details", theme=theme, kind=ButtonKind.QUIET)
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._on_fold_toggled)
        self._copy = Button("Copy details", theme=theme, kind=ButtonKind.QUIET, icon=IconName.COPY)
        self._copy.clicked.connect(self._on_copy)
        self._detail = QPlainTextEdit()
        self._detail.setReadOnly(True)
        self._detail.setFont(code_font(SIZE_CAPTION))
        self._detail.setFixedHeight(_DETAIL_HEIGHT)
        self._detail.setTabChangesFocus(True)
        self._detail.setAccessibleName("Details of the problem")
        self._lay_out()
        theme.changed.connect(self._draw_icon)
        self.hide()

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(GAP_TINY)
        words.addWidget(self._headline)
        words.addWidget(self._advice)
        # Three ways out do not fit into one line of a narrow window.
        self._actions = FlowRow(self._fold, self._copy)
        words.addSpacing(GAP_TINY)
        words.addLayout(self._actions)
        words.addWidget(self._detail)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_MEDIUM, GAP_MEDIUM, GAP_SMALL, GAP_MEDIUM)
        row.setSpacing(GAP_MEDIUM)
        row.addWidget(self._icon, alignment=Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self._close, alignment=Qt.AlignmentFlag.AlignTop)

    @property
    def problem(self) -> Problem | None:
        """What is shown now."""
        return self._problem

    def show_problem(self, problem: Problem) -> None:
        """Show a problem in place of the one before."""
        self._problem = problem
        _, _, word = LOOKS[problem.severity]
        self._headline.show_text(problem.headline)
        self._advice.show_text(problem.advice)
        self._advice.setVisible(bool(problem.advice))
        self.setAccessibleName(f"{word}: {problem.headline}")
        self.setAccessibleDescription(problem.advice)
        self.setProperty("severity", problem.severity.value)
        self.style().unpolish(self)
        self.style().polish(self)
        self._draw_icon()
        self._show_remedies(problem.remedies)
        self._fold.setChecked(False)
        self._fold.setVisible(bool(problem.detail))
        self._detail.setPlainText(problem.detail[:_SHOWN_DETAIL_CHARACTERS])
        self._detail.hide()
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def follow(self, problem: Problem | None) -> None:
        """Show what something has now; what is shown already stays, with its details open."""
        if problem is None:
            self.clear()
        elif problem != self._problem:
            self.show_problem(problem)

    def take_focus(self) -> bool:
        """Put the keyboard on the first way out; False if there is none."""
        if self._problem is None or not self._remedies:
            return False
        button = self._remedies[0]
        button.show()  # a layout does that only later
        button.setFocus()
        return True

    def clear(self) -> None:
        """Hide the banner: the problem is over."""
        self._problem = None
        self.hide()

    def _show_remedies(self, remedies: tuple[Remedy, ...]) -> None:
        # Taken out here, in Python: `removeWidget` would have C++ delete what Python still holds.
        while self._actions.takeAt(0) is not None:
            pass
        for old in self._remedies:
            old.hide()
            old.deleteLater()
        self._remedies = []
        for index, remedy in enumerate(remedies):
            kind = ButtonKind.PRIMARY if index == 0 else ButtonKind.NORMAL
            button = Button(remedy.label, theme=self._theme, kind=kind)
            button.clicked.connect(lambda _=False, r=remedy: self.remedy_chosen.emit(r))
            self._remedies.append(button)
        in_order = (*self._remedies, self._fold, self._copy)
        for button in in_order:
            self._actions.addWidget(button)
        # From a button that has its place already: else all of them would go to the end.
        for before, following in pairwise((self._close, *in_order)):
            self.setTabOrder(before, following)

    def _draw_icon(self) -> None:
        if self._problem is None:
            return
        name, role, word = LOOKS[self._problem.severity]
        ratio = self.devicePixelRatioF()
        self._icon.setPixmap(self._theme.icon(name, role).pixmap(QSize(_ICON_PX, _ICON_PX), ratio))
        self._icon.setAccessibleName(word)

    def _on_dismissed(self) -> None:
        self.clear()
        self.dismissed.emit()

    def _on_fold_toggled(self, is_open: bool) -> None:
        self._fold.setText("Hide details" if is_open else "Details")
        self._detail.setVisible(is_open)

    def _on_copy(self) -> None:
        if self._problem is None:
            return
        QGuiApplication.clipboard().setText(self._report(self._problem))
        self._copy.setText("Copied")
        QTimer.singleShot(_COPIED_MS, self._copy, lambda: self._copy.setText("Copy details"))
