"""One pair in the list of all: a name, whether it fits, and what it would need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from dflash_desktop.ui.theme import GAP_LARGE, GAP_SMALL, TextRole
from dflash_desktop.ui.widgets.labels import Label
from dflash_desktop.ui.widgets.memory_bar import MemoryBar

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from dflash_desktop.ui.theme import Theme
    from dflash_desktop.ui.wizard.choice_words import ChoiceContent


_LEAST_WIDTH_WITH_BAR: Final = 560


class ChoiceRow(QWidget):
    """Signals: `chosen(pair_id)`."""

    chosen = Signal(str)

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._content: ChoiceContent | None = None
        self.radio = QRadioButton()
        self.radio.clicked.connect(self._on_clicked)
        self._words = Label(role=TextRole.CAPTION, wraps=True)
        self._bar = MemoryBar("Memory that it takes", theme=theme)
        self._bar.setFixedWidth(160)
        top = QHBoxLayout()
        top.setSpacing(GAP_SMALL)
        top.addWidget(self.radio, 1)
        top.addWidget(self._bar)
        below = QHBoxLayout()
        below.setContentsMargins(GAP_LARGE, 0, 0, 0)
        below.addWidget(self._words)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addLayout(below)

    @property
    def pair_id(self) -> str:
        """The pair that the row is about."""
        return "" if self._content is None else self._content.pair_id

    @property
    def content(self) -> ChoiceContent | None:
        """What the row says now."""
        return self._content

    def show_content(self, content: ChoiceContent) -> None:
        """Say this from now on."""
        if content == self._content:
            return
        self._content = content
        self.radio.setText(content.title.replace("&", "&&"))
        why_not = "" if content.is_too_big else content.why_not
        said = (*content.badges, content.fit, why_not)
        words = " · ".join(one.rstrip(".") for one in said if one)
        self.radio.setAccessibleDescription(words)
        self._words.show_text(words)
        self._bar.show_parts(content.parts, limit_bytes=content.usable_bytes)
        self._show_bar()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the name needs the bar's room; the words say whether it fits."""
        super().resizeEvent(event)
        self._show_bar()

    def _show_bar(self) -> None:
        has_parts = self._content is not None and bool(self._content.parts)
        self._bar.setVisible(has_parts and self.width() >= _LEAST_WIDTH_WITH_BAR)

    def _on_clicked(self) -> None:
        self.chosen.emit(self.pair_id)
