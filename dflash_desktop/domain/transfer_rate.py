"""How fast bytes arrive, over the last few seconds, so that a pause shows and a burst does not."""

from __future__ import annotations

from collections import deque
from typing import Final

WINDOW_SECONDS: Final = 4.0


class TransferRate:
    """A rolling rate; times are seconds of any one clock."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int]] = deque()

    def add(self, done_bytes: int, at_seconds: float) -> float | None:
        """Note how far the transfer is; returns bytes per second, or None for too little time.

        Fewer bytes than before mean that the transfer started again.
        """
        if self._samples and done_bytes < self._samples[-1][1]:
            self._samples.clear()
        self._samples.append((at_seconds, done_bytes))
        while len(self._samples) > 2 and at_seconds - self._samples[1][0] >= WINDOW_SECONDS:
            self._samples.popleft()
        began_at, began_bytes = self._samples[0]
        elapsed = at_seconds - began_at
        return (done_bytes - began_bytes) / elapsed if elapsed > 0 else None
