"""Notices that a job has been quiet for longer than most jobs are."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class QuietWatch:
    """Calls `on_quiet` once when nothing was heard for the limit, until something is again.

    A timer is set once a limit and not once an event: there are hundreds of those a second.
    """

    def __init__(self, *, on_quiet: Callable[[], None]) -> None:
        self._on_quiet = on_quiet
        self._limit_seconds = 0.0
        self._heard_at = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self, limit_seconds: float) -> None:
        """Watch from now on; also to change the limit."""
        self.stop()
        self._limit_seconds = limit_seconds
        self._heard_at = asyncio.get_running_loop().time()
        self._set_timer()

    def hear(self) -> bool:
        """Something was heard; True when that ends a quiet that was reported."""
        self._heard_at = asyncio.get_running_loop().time()
        if self._timer is not None:
            return False
        self._set_timer()
        return True

    def stop(self) -> None:
        """Watch no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _set_timer(self) -> None:
        due = self._heard_at + self._limit_seconds
        self._timer = asyncio.get_running_loop().call_at(due, self._look)

    def _look(self) -> None:
        self._timer = None
        quiet_seconds = asyncio.get_running_loop().time() - self._heard_at
        if quiet_seconds < self._limit_seconds:
            self._set_timer()
        else:
            self._on_quiet()
