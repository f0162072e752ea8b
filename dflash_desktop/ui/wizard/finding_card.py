"""One finding about the machine: what it is, what to do, and one button that helps doing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSize, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QVBoxLayout

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.problem_view import LOOKS
from dflash_desktop.ui.theme import (
    GAP_MEDIUM,
    GAP_SMALL,
    GAP_TINY,
    SIZE_INTERFACE,
    TextRole,
    code_font,
)
from dflash_desktop.ui.widgets.buttons import Button
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame
from dflash_desktop.ui.wizard.words import finding_words

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme

_ICON_PX: Final = 20
_COPIED_MS: Final = 2000


class FindingCard(SurfaceFrame):
    """Signals: `remedy_chosen(Remedy)`. A command is shown to be copied, never run from here."""

    remedy_chosen = Signal(Remedy)

    def __init__(self, problem: Problem, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.CARD, parent)
        self._theme = theme
        self._icon_name, self._icon_role, word = LOOKS[problem.severity]
        self._words = finding_words(problem)
        self.setProperty("severity", problem.severity.value)
        self.setAccessibleName(f"{word}: {problem.headline}")
        self.setAccessibleDescription(problem.advice)
        self._icon = QLabel()
        self._icon.setFixedSize(_ICON_PX, _ICON_PX)
        self._icon.setAccessibleName(word)
        words = QVBoxLayout()
        words.setSpacing(GAP_TINY)
        words.addWidget(Label(problem.headline, role=TextRole.STRONG, wraps=True))
        words.addWidget(Label(self._words.advice, wraps=True))
        button = self._built_button(problem)
        if self._words.command:
            line = QHBoxLayout()
            line.setSpacing(GAP_SMALL)
            line.addWidget(_command_field(self._words.command), 1)
            if button is not None:
                line.addWidget(button)
            words.addSpacing(GAP_TINY)
            words.addLayout(line)
            if self._words.afterwards:
                words.addSpacing(GAP_TINY)
                words.addWidget(Label(self._words.afterwards, wraps=True))
        elif button is not None:
            words.addSpacing(GAP_TINY)
            words.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_MEDIUM, GAP_MEDIUM, GAP_MEDIUM, GAP_MEDIUM)
        row.setSpacing(GAP_MEDIUM)
        row.addWidget(self._icon, alignment=Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        theme.changed.connect(self._draw_icon)
        self._draw_icon()

    def _built_button(self, problem: Problem) -> Button | None:
        if self._words.command:
            copy = Button("Copy", theme=self._theme, icon=IconName.COPY)
            copy.setAccessibleName("Copy the command")
            copy.clicked.connect(lambda: self._copy(copy))
            return copy
        if problem.remedies:
            remedy = problem.remedies[0]
            button = Button(remedy.label, theme=self._theme)
            button.clicked.connect(lambda: self.remedy_chosen.emit(remedy))
            return button
        if self._words.link:
            link = Button("Read the report", theme=self._theme, icon=IconName.EXTERNAL_LINK)
            link.setToolTip(self._words.link)
            link.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(self._words.link)))
            return link
        return None

    def _copy(self, button: Button) -> None:
        QGuiApplication.clipboard().setText(self._words.command)
        button.setText("Copied")
        QTimer.singleShot(_COPIED_MS, button, lambda: button.setText("Copy"))

    def _draw_icon(self) -> None:
        pixmap = self._theme.icon(self._icon_name, self._icon_role).pixmap(
            QSize(_ICON_PX, _ICON_PX), self.devicePixelRatioF()
        )
        self._icon.setPixmap(pixmap)


def _command_field(command: str) -> QLineEdit:
    field = QLineEdit(command)
    field.setReadOnly(True)
    field.setFont(code_font(SIZE_INTERFACE))
    field.setCursorPosition(0)
    field.setAccessibleName("Command to run in a terminal")
    return field
