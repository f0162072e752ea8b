"""The speed panel as one line, for windows that have no room for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from dflash_desktop.domain.generation import DraftState
from dflash_desktop.ui.chat.answer_words import DRAFT_WORDS, UNKNOWN
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_SMALL, SIZE_INTERFACE, TextRole, interface_font
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind, IconButton
from dflash_desktop.ui.widgets.labels import Label

if TYPE_CHECKING:
    from dflash_desktop.domain.generation import DraftUse
    from dflash_desktop.ui.theme import Theme


class SpeedLine(QWidget):
    """Signals: `draft_toggled(bool)`, `measure_requested`, `show_draft_tokens_toggled(bool)`."""

    draft_toggled = Signal(bool)
    measure_requested = Signal()
    show_draft_tokens_toggled = Signal(bool)

    def __init__(self, *, theme: Theme) -> None:
        super().__init__()
        self._is_draft_off = True
        self._reading = Label(UNKNOWN, role=TextRole.MUTED)
        self._reading.setFont(interface_font(SIZE_INTERFACE, tabular=True))
        self._context = Label(role=TextRole.WARN)
        self._measure = Button("Measure", theme=theme, kind=ButtonKind.LINK)
        self._measure.clicked.connect(self.measure_requested)
        self._draft = Button("", theme=theme, kind=ButtonKind.QUIET, icon=IconName.ZAP)
        self._draft.clicked.connect(self._on_draft_clicked)
        self._marks = IconButton(IconName.HIGHLIGHTER, "Show draft tokens", theme=theme)
        self._marks.setCheckable(True)
        self._marks.clicked.connect(self.show_draft_tokens_toggled)
        row = QHBoxLayout(self)
        row.setContentsMargins(GAP_SMALL, 0, 0, 0)
        row.setSpacing(GAP_SMALL)
        row.addWidget(self._reading)
        row.addWidget(self._measure)
        row.addWidget(self._context)
        row.addStretch()
        row.addWidget(self._marks)
        row.addWidget(self._draft)

    def show_reading(self, words: str) -> None:
        """The speed in words."""
        self._reading.show_text("No answer yet" if words == UNKNOWN else words)

    def show_is_measured(self, is_measured: bool) -> None:
        """The offer to measure goes away when it is done."""
        self._measure.setVisible(not is_measured)

    def show_nearly_full(self, words: str) -> None:
        """The context in words once it is nearly full, else ""."""
        self._context.show_text(words)

    def show_draft(self, draft: DraftUse, *, is_attached: bool) -> None:
        """What the draft will do, and why."""
        self._is_draft_off = draft.state is DraftState.OFF
        self._draft.setText(f"Draft {DRAFT_WORDS[draft.state]}")
        self._draft.show_icon(IconName.ZAP_OFF if self._is_draft_off else IconName.ZAP)
        self._draft.setEnabled(is_attached)
        click = "Switch it on" if self._is_draft_off else "Switch it off"
        self._draft.setToolTip(f"{draft.reason}\n{click}." if is_attached else draft.reason)

    def show_draft_tokens(self, is_shown: bool) -> None:
        """Whether the draft's words are tinted."""
        self._marks.setChecked(is_shown)

    def _on_draft_clicked(self) -> None:
        self.draft_toggled.emit(self._is_draft_off)
