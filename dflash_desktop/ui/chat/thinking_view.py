"""A model's thinking, folded until someone wants to read it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from dflash_desktop.domain.units import format_seconds
from dflash_desktop.ui.chat.plain_view import PlainView
from dflash_desktop.ui.chat.text_view import BLEED_PX
from dflash_desktop.ui.colours import ColourRole
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import GAP_MEDIUM, GAP_SMALL, GAP_TINY
from dflash_desktop.ui.widgets.buttons import Button, ButtonKind
from dflash_desktop.ui.widgets.surfaces import Surface, SurfaceFrame

if TYPE_CHECKING:
    from dflash_desktop.ui.chat.drawing import Drawing


class ThinkingView(QWidget):
    """Hidden until there is thinking; text that nobody looks at is not drawn."""

    def __init__(self, *, drawing: Drawing) -> None:
        super().__init__()
        self._drawing = drawing
        self._text: list[str] = []
        self._began = 0.0
        self._fold = Button(
            "Thinking…", theme=drawing.theme, kind=ButtonKind.QUIET, icon=IconName.CHEVRON_RIGHT
        )
        self._fold.setCheckable(True)
        self._fold.toggled.connect(self._on_toggled)
        self._card = SurfaceFrame(Surface.CARD)
        self._view: PlainView | None = None
        inside = QVBoxLayout(self._card)
        inside.setContentsMargins(GAP_SMALL, GAP_SMALL, GAP_SMALL, GAP_TINY)
        row = QHBoxLayout()
        row.addWidget(self._fold)
        row.addStretch()
        rows = QVBoxLayout(self)
        rows.setContentsMargins(BLEED_PX, 0, BLEED_PX, GAP_MEDIUM)
        rows.setSpacing(GAP_SMALL)
        rows.addLayout(row)
        rows.addWidget(self._card)
        self._card.hide()
        self.hide()

    @property
    def text(self) -> str:
        """All of the thinking so far."""
        return "".join(self._text)

    def append(self, text: str) -> None:
        """More thinking, as it streams in."""
        if not text or not (self._text or text.strip()):
            return
        if not self._text:
            self._began = time.monotonic()
            self.show()
        self._text.append(text)
        if self._view is not None:
            self._view.append(text)

    def finish(self) -> None:
        """The answer begins."""
        if self._text and self._began:
            seconds = max(1, round(time.monotonic() - self._began))
            words = f"{seconds} s" if seconds < 60 else format_seconds(seconds)
            self._fold.setText(f"Thought for {words}")
            self._began = 0.0

    def show_stored(self, text: str) -> None:
        """Thinking of an earlier answer; how long it took is not kept."""
        if text.strip():
            self._text.append(text)
            self._fold.setText("Thoughts")
            self.show()

    def _on_toggled(self, is_open: bool) -> None:
        self._fold.show_icon(IconName.CHEVRON_DOWN if is_open else IconName.CHEVRON_RIGHT)
        if is_open and self._view is None:
            self._view = PlainView(drawing=self._drawing, role=ColourRole.TEXT_MUTED)
            self._view.setAccessibleName("Thinking")
            layout = self._card.layout()
            if layout is not None:
                layout.addWidget(self._view)
            self._view.append(self.text)
        self._card.setVisible(is_open)
