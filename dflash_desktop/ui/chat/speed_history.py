"""The speed of the last two seconds, from the engine's own counts."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dflash_desktop.domain.generation import GenerationStats

WINDOW_SECONDS: Final = 2.0
KEPT_POINTS: Final = 120


class SpeedHistory:
    """Takes the counts of one answer after each step; rates never come from arrival times."""

    def __init__(self) -> None:
        self._window: deque[tuple[float, int]] = deque()
        self._points: deque[float] = deque(maxlen=KEPT_POINTS)

    @property
    def points(self) -> tuple[float, ...]:
        """Earlier values of `rate_now`, oldest first, for the line."""
        return tuple(self._points)

    @property
    def rate_now(self) -> float | None:
        """Tokens per second over the last two seconds of decoding; None before the second step."""
        if len(self._window) < 2:
            return None
        (began, before), (ended, after) = self._window[0], self._window[-1]
        return (after - before) / (ended - began) if ended > began else None

    def take(self, stats: GenerationStats) -> None:
        """The counts now."""
        if not stats.steps:
            return
        self._window.append((stats.decode_seconds, stats.tokens))
        while stats.decode_seconds - self._window[0][0] > WINDOW_SECONDS and len(self._window) > 2:
            self._window.popleft()

    def keep_point(self) -> None:
        """Add the present rate to the line."""
        rate = self.rate_now
        if rate is not None:
            self._points.append(rate)

    def restart(self) -> None:
        """A new answer begins; the line starts anew."""
        self._window.clear()
        self._points.clear()
