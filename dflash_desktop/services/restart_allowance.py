"""How often the engine may be restarted by itself before a person has to decide."""

from __future__ import annotations

import asyncio
from collections import deque


class RestartAllowance:
    """So many restarts within a window; used on the loop, whose clock it goes by."""

    def __init__(self, *, restarts: int, window_seconds: float) -> None:
        self._restarts = restarts
        self._window_seconds = window_seconds
        self._taken_at: deque[float] = deque()

    def take(self) -> bool:
        """Whether one is left; it is used up by asking."""
        now = asyncio.get_running_loop().time()
        while self._taken_at and now - self._taken_at[0] > self._window_seconds:
            self._taken_at.popleft()
        if len(self._taken_at) >= self._restarts:
            return False
        self._taken_at.append(now)
        return True
