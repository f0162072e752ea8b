"""Tells when a window has drawn itself for the first time."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget


class FirstPaint(QObject):
    """Make it before the window is shown, then wait."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._has_happened = asyncio.Event()
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Watch for the paint event."""
        if event.type() == QEvent.Type.Paint:
            self._has_happened.set()
        return False

    async def wait(self, longest_seconds: float) -> None:
        """Return after the first paint, or after a while on a screen that does not draw."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(longest_seconds):
                await self._has_happened.wait()
        self._window.removeEventFilter(self)
