"""How an installation of the starter model is told: one bar, one line of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.starter import InstallStage
from dflash_desktop.domain.units import format_byte_rate, format_bytes, format_seconds

if TYPE_CHECKING:
    from dflash_desktop.domain.starter import InstallProgress

# How far the bar is when a stage begins and ends, by how long the stages take.
_SPANS = {
    InstallStage.LOOKING: (0.0, 0.02),
    InstallStage.DOWNLOADING: (0.02, 0.6),
    InstallStage.VERIFYING: (0.6, 0.65),
    InstallStage.CONVERTING: (0.65, 0.85),
    InstallStage.ANNOTATING: (0.85, 0.87),
    InstallStage.CHECKING: (0.87, 1.0),
    InstallStage.DONE: (1.0, 1.0),
}


def bar_share(progress: InstallProgress) -> float:
    """How much of the whole installation is done, 0 to 1."""
    begin, end = _SPANS[progress.stage]
    if progress.done_bytes is None or not progress.total_bytes:
        return begin
    return begin + (end - begin) * min(1.0, progress.done_bytes / progress.total_bytes)


def numbers_line(progress: InstallProgress) -> str:
    """What is known of bytes, rate and time left: "42.1 MB of 98.4 MB · 3.2 MB/s · 18 s left"."""
    if progress.done_bytes is None or not progress.total_bytes:
        return ""
    parts = [f"{format_bytes(progress.done_bytes)} of {format_bytes(progress.total_bytes)}"]
    rate = progress.bytes_per_second
    if rate:
        parts.append(format_byte_rate(rate))
        left = max(0, progress.total_bytes - progress.done_bytes)
        if left:
            parts.append(f"{format_seconds(max(1.0, left / rate))} left")
    return " · ".join(parts)
