"""Of several drafts for one target, the one that was measured to be the fastest here."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflash_desktop.domain.draft_rivals import are_rivals, speedup_of
from dflash_desktop.workers.model_folder import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.pair import PairFingerprint, PairFolders
    from dflash_desktop.services.measurement_store import MeasurementStore


async def fastest_way(
    pair: PairFolders, pairs: Sequence[PairFolders], measurements: MeasurementStore
) -> PairFolders:
    """`pair`, or another way to draft for its target that was faster under the same conditions.

    Nothing is compared that was not measured, and a target that is to run alone does.
    """
    others = [
        one
        for one in pairs
        if one.target_dir == pair.target_dir and one.draft_dir not in (None, pair.draft_dir)
    ]
    if pair.draft_dir is None or not others:
        return pair
    prints = await asyncio.gather(*(asyncio.to_thread(_print, one) for one in (pair, *others)))
    own, *theirs = (() if one is None else measurements.of_pair(one) for one in prints)
    best, gain = pair, 1.0
    for other, reports in zip(others, theirs, strict=True):
        found = max((_gain(a, b) for a in own for b in reports), default=0.0)
        if found > gain:
            best, gain = other, found
    return best


def _gain(report: BenchReport, rival: BenchReport) -> float:
    """How much faster the rival is; 0 where the two cannot be compared."""
    if not are_rivals(report.key, rival.key):
        return 0.0
    return speedup_of(rival) / speedup_of(report)


def _print(pair: PairFolders) -> PairFingerprint | None:
    try:
        return fingerprint(pair.target_dir, pair.draft_dir)
    except OSError:
        return None
