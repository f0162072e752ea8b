"""A question in the place where it came up, instead of a window over everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QVBoxLayout, QWidget

from dflash_desktop.ui.theme import GAP_SMALL
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.flow_row import FlowRow
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme


@dataclass(frozen=True, slots=True)
class Answer:
    """One button: `key` is what `answered` tells."""

    key: str
    label: str
    explanation: str = ""


class Question(QWidget):
    """Hidden until `ask`. Signals: `answered(key)`; `closed` for the way back and for Esc.

    `no` is the way back. The first answer gets the keyboard: it should be the one that loses
    nothing, or else the way back comes first (`is_risky`).
    """

    answered = Signal(str)
    closed = Signal()

    def __init__(
        self,
        *answers: Answer,
        no: str,
        theme: Theme,
        is_risky: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._words = Label(wraps=True)
        self._buttons: dict[str, Button] = {}
        for answer in answers:
            button = Button(answer.label, theme=theme)
            button.setToolTip(answer.explanation)
            button.clicked.connect(lambda _=False, key=answer.key: self.answered.emit(key))
            self._buttons[answer.key] = button
        self._no = Button(no, theme=theme, kind=ButtonKind.QUIET)
        self._no.clicked.connect(self.closed)
        self._first = self._no if is_risky else self._buttons[answers[0].key]
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        escape.activated.connect(self.closed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP_SMALL)
        column.addWidget(self._words)
        column.addLayout(FlowRow(*self._buttons.values(), self._no))
        self.hide()

    def ask(self, words: str) -> None:
        """Show the question and put the keyboard on its safe answer."""
        self._words.show_text(words)
        self.setAccessibleName(words)
        self.show()
        self._first.setFocus()

    def show_words(self, words: str) -> None:
        """Change the question while it waits."""
        self._words.show_text(words)

    def show_label(self, key: str, label: str) -> None:
        """Change the words on an answer's button."""
        self._buttons[key].setText(label)
