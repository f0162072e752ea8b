"""Lets Python's cyclic garbage be collected in the window's thread only."""

from __future__ import annotations

import gc
import time
from typing import Final

from PySide6.QtCore import QObject, QTimer

_LOOK_MS: Final = 100
_FULL_AT_MOST_EVERY_SECONDS: Final = 30.0


class GarbageCollection(QObject):
    """Takes over from Python for the rest of the process; make it in the thread that draws.

    Python collects in whichever thread happens to allocate. A widget or timer that dies in
    another thread than its own cannot stop its timers, and Qt soon calls into freed memory (seen:
    SIGSEGV in QTimerInfoList::activateTimers, once in a few minutes of tests).
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._full_at = time.monotonic()
        self._timer = QTimer(self)
        self._timer.setInterval(_LOOK_MS)
        self._timer.timeout.connect(self._collect_what_is_due)
        self._timer.start()
        gc.disable()

    def _collect_what_is_due(self) -> None:
        """By Python's own thresholds; it goes on counting while it does not collect itself."""
        due = [
            count > threshold
            for count, threshold in zip(gc.get_count(), gc.get_threshold(), strict=True)
        ]
        if not due[0]:
            return
        now = time.monotonic()
        if due[2] and now - self._full_at >= _FULL_AT_MOST_EVERY_SECONDS:
            self._full_at = now
            gc.collect()
        else:
            gc.collect(1 if due[1] else 0)
