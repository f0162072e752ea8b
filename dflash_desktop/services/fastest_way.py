"""Of several drafts for one target, the one that was measured to be the fastest here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.domain.draft_rivals import WaysCompared, compare_ways
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.workers.model_folder import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.pair import PairFingerprint
    from dflash_desktop.services.measurement_store import MeasurementStore


@dataclass(frozen=True, slots=True)
class ChosenWay:
    """The pair to load, and why another one than was asked for; empty where it is that one."""

    pair: PairFolders
    reason: str = ""


def ways_of(pair: PairFolders, pairs: Sequence[PairFolders]) -> tuple[PairFolders, ...]:
    """`pair` and the other ways to draft for its target; a target that runs alone has none."""
    if pair.draft_dir is None:
        return ()
    ways = {pair.draft_dir: pair}
    for one in pairs:
        if one.target_dir == pair.target_dir and one.draft_dir is not None:
            ways.setdefault(one.draft_dir, one)
    return tuple(ways.values())


def measured_ways(
    ways: Sequence[PairFolders], measurements: MeasurementStore
) -> WaysCompared | None:
    """How the first of these ways compares with the others, as it was measured last.

    None where nothing can be compared. Blocking: reads the graphs of all of them.
    """
    found = _measured(ways, measurements)
    return None if found is None else found[0]


def fastest_way(
    pair: PairFolders, pairs: Sequence[PairFolders], measurements: MeasurementStore
) -> ChosenWay:
    """`pair`, or another way to draft for its target that was faster under the same conditions.

    Nothing is compared that was not measured, and a target that is to run alone does. Blocking.
    """
    found = _measured(ways_of(pair, pairs), measurements)
    if found is None:
        return ChosenWay(pair)
    compared, by_print = found
    fastest = by_print[compared.fastest.key.fingerprint]
    return ChosenWay(pair) if fastest is pair else ChosenWay(fastest, compared.statement)


def _measured(
    ways: Sequence[PairFolders], measurements: MeasurementStore
) -> tuple[WaysCompared, dict[PairFingerprint, PairFolders]] | None:
    if len(ways) < 2:
        return None
    try:
        own = fingerprint(ways[0].target_dir, ways[0].draft_dir)
    except OSError:
        return None  # the engine will say what is wrong with the folders
    by_print = {own: ways[0]}
    for way in ways[1:]:
        if (one := _print(way)) is not None:
            by_print.setdefault(one, way)
    reports = [report for one in by_print for report in measurements.of_pair(one)]
    reports.sort(key=lambda report: report.measured_at, reverse=True)
    for report in reports:
        if report.key.fingerprint == own:
            compared = compare_ways((report, *(other for other in reports if other is not report)))
            if compared is not None:
                return compared, by_print
    return None


def _print(pair: PairFolders) -> PairFingerprint | None:
    try:
        return fingerprint(pair.target_dir, pair.draft_dir)
    except OSError:
        return None
