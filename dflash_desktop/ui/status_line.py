"""The line at the bottom: what the engine does in words, the way out, facts about the model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy

from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.engine_words import Fact, StateWords, Tone, WayOut
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP, GAP_SMALL, GAP_TINY, TextRole
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.labels import ElidedLabel, Label
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.theme import Theme

_HEIGHT = 34
_ICON_SIZE = 14
_FACTS_FROM_WIDTH = 860
"""Narrower windows keep the line for the engine's state."""

_TONES = {
    Tone.QUIET: (IconName.CIRCLE, ColourRole.TEXT_MUTED),
    Tone.BUSY: (IconName.CIRCLE_DOT, ColourRole.ACCENT),
    Tone.GOOD: (IconName.CIRCLE_CHECK, ColourRole.GOOD),
    Tone.WARN: (IconName.TRIANGLE_ALERT, ColourRole.WARN),
    Tone.BAD: (IconName.CIRCLE_ALERT, ColourRole.BAD),
}


class StatusLine(SurfaceFrame):
    """Signals: `way_out_requested(WayOut)` when the button beside the state was pressed,
    `work_requested` when what goes on in the background was.
    """

    way_out_requested = Signal(WayOut)
    work_requested = Signal()

    def __init__(self, *, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Surface.PANEL, parent)
        self._theme = theme
        self._words = StateWords("", Tone.QUIET)
        self._icon = QLabel()
        self._icon.setFixedSize(QSize(_ICON_SIZE, _ICON_SIZE))
        self._state = Label(role=TextRole.CAPTION)
        self._button = Button("", theme=theme, kind=ButtonKind.LINK)
        self._button.clicked.connect(self._on_button_clicked)
        self._work = Button("", theme=theme, kind=ButtonKind.LINK, icon=IconName.HAMMER)
        self._work.clicked.connect(self.work_requested)
        self._work.hide()
        self._device = ElidedLabel(role=TextRole.CAPTION)
        self._device.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._facts = [Label(role=TextRole.CAPTION) for _ in range(3)]
        self._has_facts = False

        row = QHBoxLayout(self)
        row.setContentsMargins(GAP, 0, GAP, 0)
        row.setSpacing(GAP_SMALL)
        row.addWidget(self._icon)
        row.addWidget(self._state)
        row.addWidget(self._button)
        row.addWidget(self._work)
        row.addSpacing(GAP_TINY)
        self._device.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        row.addWidget(self._device, 1)
        for label in self._facts:
            row.addWidget(label)
        self.setFixedHeight(_HEIGHT)
        theme.changed.connect(self._draw_icon)
        self.show_state(self._words)
        self.show_facts(())

    def show_state(self, words: StateWords) -> None:
        """Say what the engine does."""
        self._words = words
        self._state.show_text(words.text)
        self._state.setAccessibleName(f"Engine: {words.text}")
        self._state.setToolTip(words.explanation)
        self._icon.setToolTip(words.explanation)
        if words.way_out is not None:
            self._button.setText(words.way_out.value)
        self._button.setVisible(words.way_out is not None)
        self._draw_icon()

    def show_work(self, words: str) -> None:
        """What goes on in the background; no words take it away."""
        self._work.setText(words)
        self._work.setToolTip("Show it" if words else "")
        self._work.setVisible(bool(words))

    def show_facts(self, facts: tuple[Fact, ...]) -> None:
        """Show facts about the loaded model; none hides them."""
        first, rest = (facts[0], facts[1:]) if facts else (Fact("", ""), ())
        self._device.show_text(first.text)
        self._device.setAccessibleDescription(first.explanation)
        for label, fact in zip(self._facts, (*rest, *(Fact("", ""),) * 3), strict=False):
            label.show_text(f"·  {fact.text}" if fact.text else "")
            label.setToolTip(fact.explanation)
        self._has_facts = bool(facts)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the facts out where there is no room."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        has_room = self.width() >= _FACTS_FROM_WIDTH
        for label in self._facts:
            label.setVisible(has_room and bool(label.text()))

    def _draw_icon(self) -> None:
        name, role = _TONES[self._words.tone]
        pixmap = self._theme.icon(name, role).pixmap(
            QSize(_ICON_SIZE, _ICON_SIZE), self.devicePixelRatioF()
        )
        self._icon.setPixmap(pixmap)

    def _on_button_clicked(self) -> None:
        if self._words.way_out is not None:
            self.way_out_requested.emit(self._words.way_out)
