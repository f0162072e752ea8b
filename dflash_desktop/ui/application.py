"""The Qt application, which does not end before the program has said goodbye."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, Signal
from PySide6.QtWidgets import QApplication


class Application(QApplication):
    """Signals: `quit_requested` when the system wants the program to end, at a log-off for one."""

    quit_requested = Signal()

    def __init__(self) -> None:
        super().__init__(sys.argv[:1])
        self.setApplicationName("DFlash Desktop")
        self.setDesktopFileName("dflash-desktop")
        # A dialog may be the only window for a moment; the main window's end is what counts.
        self.setQuitOnLastWindowClosed(False)

    def event(self, event: QEvent) -> bool:
        """Turn "quit" into a request: Qt would stop the loop in the middle of every coroutine."""
        if event.type() == QEvent.Type.Quit:
            self.quit_requested.emit()
            return True
        return super().event(event)
