"""What the chat shows before the first message: what it is for, and a few ways to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.ui.theme import GAP_LARGE, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme

FIRST_QUESTIONS: Final = (
    "Write a Python function that counts words.",
    "Explain to a child why the sky is blue.",
    "What is the capital of France?",
)
"""The starter model comes to an end with each; with many others it repeats itself for minutes."""
_WIDTH: Final = 440


class EmptyView(QWidget):
    """Signals: `question_chosen(str)`, `setup_requested`."""

    question_chosen = Signal(str)
    setup_requested = Signal()

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._heading = Label(role=TextRole.HEADING)
        self._words = Label(role=TextRole.MUTED, wraps=True)
        self._questions = QWidget()
        questions = QVBoxLayout(self._questions)
        questions.setContentsMargins(0, 0, 0, 0)
        questions.setSpacing(GAP_SMALL)
        for question in FIRST_QUESTIONS:
            button = Button(question, theme=theme)
            button.setStyleSheet("text-align: left")
            button.clicked.connect(lambda _=False, q=question: self.question_chosen.emit(q))
            questions.addWidget(button)
        self._set_up = Button("Choose a model for this machine", theme=theme)
        self._set_up.clicked.connect(self.setup_requested)
        self._others = Button("Find a model for this machine…", theme=theme, kind=ButtonKind.LINK)
        self._others.setToolTip("Which models fit, which is best, and getting it")
        self._others.clicked.connect(self.setup_requested)
        column = QWidget()
        column.setFixedWidth(_WIDTH)
        inside = QVBoxLayout(column)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.setSpacing(GAP_SMALL)
        inside.addWidget(self._heading)
        inside.addWidget(self._words)
        inside.addSpacing(GAP_LARGE - GAP_SMALL)
        inside.addWidget(self._questions)
        for button in (self._set_up, self._others):
            inside.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, GAP_SMALL, 0, GAP_SMALL)
        rows.addStretch(2)
        rows.addWidget(column, alignment=Qt.AlignmentFlag.AlignHCenter)
        rows.addStretch(3)
        self._has_pictures = False
        self.show_model("", "")

    def show_has_pictures(self, has_pictures: bool) -> None:
        """With pictures attached there is a question already, and the room is needed."""
        self._has_pictures = has_pictures
        self._show_ways()

    def show_model(self, title: str, note: str) -> None:
        """Which model answers here; "" while none is loaded, and then `note` says why."""
        self._heading.show_text(f"Ask {title}" if title else "No model is loaded yet")
        self._words.show_text(note or "It runs on this machine. Nothing you write leaves it.")
        self._has_model = bool(title)
        self._show_ways()
        self._set_up.setVisible(not title)

    def _show_ways(self) -> None:
        for way in (self._questions, self._others):
            way.setVisible(self._has_model and not self._has_pictures)
