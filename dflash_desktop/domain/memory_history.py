"""The memory of a run as a curve: of the whole run, in a bounded number of points."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.export_run import ExportMemory

MAX_POINTS: Final = 1200
"""Twice what the widest graph has pixels for."""


def with_point(points: Sequence[ExportMemory], point: ExportMemory) -> tuple[ExportMemory, ...]:
    """The curve with one more point; a full one first gives up half of its resolution."""
    if len(points) < MAX_POINTS:
        return (*points, point)
    pairs = zip(points[::2], points[1::2], strict=False)
    return (*(_worse(first, second) for first, second in pairs), point)


def _worse(first: ExportMemory, second: ExportMemory) -> ExportMemory:
    """One point for two, in which no peak of the export and no low of the system is lost."""
    return replace(
        second,
        tree_bytes=max(first.tree_bytes, second.tree_bytes),
        available_bytes=min(first.available_bytes, second.available_bytes),
    )
