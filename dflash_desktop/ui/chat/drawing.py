"""What everything that draws answers shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from dflash_desktop.ui.chat.code_colours import Lexers
from dflash_desktop.ui.chat.inline_writer import ProseFormats
from dflash_desktop.ui.chat.prose_writer import ProseWriter
from dflash_desktop.ui.chat.render_clock import RenderClock

if TYPE_CHECKING:
    from dflash_desktop.ui.theme import Theme


class Drawing(QObject):
    """The theme, the clock that shares out time, the lexers, and the writer in today's colours."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.clock = RenderClock(self)
        self.lexers = Lexers(self)
        self.writer = ProseWriter(ProseFormats(theme))
        # Connected before any view is made, so views find the new writer when they hear of it.
        theme.changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        self.writer = ProseWriter(ProseFormats(self.theme))
