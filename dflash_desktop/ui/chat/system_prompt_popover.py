"""Instructions that the model reads before a chat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPlainTextEdit

from dflash_desktop.domain.settings import SETTING_TEXTS
from dflash_desktop.ui.theme import TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.popover import Popover

if TYPE_CHECKING:
    from PySide6.QtGui import QHideEvent, QShowEvent
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

_WIDTH: Final = 400
_FIELD_HEIGHT: Final = 144


class SystemPromptPopover(Popover):
    """Signals: `changed(str)` when it closes with another text."""

    changed = Signal(str)

    def __init__(self, *, theme: Theme, parent: QWidget) -> None:
        texts = SETTING_TEXTS["system_prompt"]
        super().__init__(texts.title, theme=theme, width=_WIDTH, parent=parent)
        self._text = ""
        self._field = QPlainTextEdit()
        self._field.setAccessibleName(texts.title)
        self._field.setPlaceholderText("For instance: Answer in two sentences.")
        self._field.setFixedHeight(_FIELD_HEIGHT)
        self._field.setTabChangesFocus(True)
        done = Button("Use from the next message on", theme=theme, kind=ButtonKind.PRIMARY)
        done.clicked.connect(self.close)
        self.rows.addWidget(Label(texts.title, role=TextRole.STRONG))
        self.rows.addWidget(Label(texts.help, role=TextRole.CAPTION, wraps=True))
        self.rows.addWidget(self._field)
        self.rows.addWidget(done)

    def show_text(self, text: str) -> None:
        """The instructions as they are now."""
        self._text = text
        self._field.setPlainText(text)

    def showEvent(self, event: QShowEvent) -> None:
        """Ready to type."""
        super().showEvent(event)
        self._field.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """Closing takes the text over."""
        super().hideEvent(event)
        text = self._field.toPlainText()
        if text != self._text:
            self._text = text
            self.changed.emit(text)
