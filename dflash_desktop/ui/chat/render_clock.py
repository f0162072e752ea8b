"""Shares the window's time between everything in the transcript that still has to be drawn."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

import shiboken6
from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

FRAME_MS: Final = 33
_BACKLOG_MS: Final = 16
_BUDGET_SECONDS: Final = 0.004
"""A turn ends at the first piece after this; layout and painting come on top of it."""


class Drawable(Protocol):
    """Something that draws what has arrived, a bounded piece at a time."""

    def draw_some(self) -> bool:
        """Draw one piece, in a few milliseconds; True if more is waiting."""

    @property
    def widget(self) -> QWidget:
        """The widget that must still exist."""


class RenderClock(QObject):
    """At most one drawing turn in 33 ms, and never more than its budget in one turn."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[Drawable] = deque()
        self._last_turn = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._on_turn)

    @property
    def is_idle(self) -> bool:
        """Whether everything that was asked for is drawn."""
        return not self._waiting

    def request(self, drawable: Drawable) -> None:
        """Something new arrived for `drawable`."""
        if drawable not in self._waiting:
            self._waiting.append(drawable)
        if not self._timer.isActive():
            since_ms = (time.monotonic() - self._last_turn) * 1000
            self._timer.start(max(0, round(FRAME_MS - since_ms)))

    def _on_turn(self) -> None:
        end = time.monotonic() + _BUDGET_SECONDS
        while self._waiting and time.monotonic() < end:
            # In turns, so that colouring a long code block does not hold up the text behind it.
            drawable = self._waiting.popleft()
            if shiboken6.isValid(drawable.widget) and drawable.draw_some():
                self._waiting.append(drawable)
        self._last_turn = time.monotonic()
        if self._waiting:
            self._timer.start(_BACKLOG_MS)
