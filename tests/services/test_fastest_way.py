"""A DFlash draft and the target's own head are compared as measured, and the better is taken."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.benchmark import BenchReport, ChosenSetting
from dflash_desktop.domain.draft_rivals import rival_words
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.services.fastest_way import fastest_way, measured_ways, ways_of
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.workers.model_folder import fingerprint
from tests.domain.measurements import KEY, report
from tests.fakes.vision_models import vision_pair

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders


@pytest.fixture
def ways(tmp_path: Path) -> tuple[PairFolders, PairFolders, PairFolders]:
    """The same target with its DFlash draft, with its own head, and alone."""
    dflash = vision_pair(tmp_path, "qwen3_5")
    own_head = replace(dflash, id="own", title="own head", draft_dir=dflash.target_dir)
    return dflash, own_head, replace(dflash, id="alone", draft_dir=None)


@pytest.fixture
def store(tmp_path: Path) -> MeasurementStore:
    return MeasurementStore(tmp_path / "measurements.json")


def measured(pair: PairFolders, speedup: float | None) -> BenchReport:
    key = replace(KEY, fingerprint=fingerprint(pair.target_dir, pair.draft_dir))
    chosen = ChosenSetting(3 if speedup else 0, speedup, "because")
    return replace(report(key=key, chosen=chosen), pair_title=pair.title)


@pytest.mark.parametrize(
    ("dflash_gain", "head_gain", "winner"),
    [(1.4, 2.0, "own"), (2.0, 1.4, "qwen3_5"), (None, 1.1, "own"), (1.5, 1.5, "qwen3_5")],
)
def test_the_faster_way_is_taken(
    ways: tuple[PairFolders, PairFolders, PairFolders],
    store: MeasurementStore,
    dflash_gain: float | None,
    head_gain: float,
    winner: str,
) -> None:
    dflash, own_head, _ = ways
    store.put(measured(dflash, dflash_gain))
    store.put(measured(own_head, head_gain))
    way = fastest_way(dflash, ways, store)
    assert way.pair.id == winner
    assert bool(way.reason) == (winner != dflash.id)


def test_nothing_is_compared_that_was_not_measured_alike(
    ways: tuple[PairFolders, PairFolders, PairFolders], store: MeasurementStore
) -> None:
    dflash, own_head, alone = ways
    store.put(measured(own_head, 2.0))
    assert fastest_way(dflash, ways, store).pair is dflash
    rounded = measured(dflash, 1.2)
    store.put(replace(rounded, key=replace(rounded.key, kv_cache_precision=KvCachePrecision.U8)))
    assert fastest_way(dflash, ways, store).pair is dflash
    assert fastest_way(alone, ways, store).pair is alone


def test_the_comparison_is_told_in_words(
    ways: tuple[PairFolders, PairFolders, PairFolders], store: MeasurementStore
) -> None:
    dflash, own_head, _ = ways
    one, other = measured(dflash, 1.4), measured(own_head, 2.0)
    store.put(one)
    store.put(other)
    assert rival_words(one, store.rivals(one.key)) == "“own head” was faster here (2.00x)."
    assert rival_words(other, store.rivals(other.key)).startswith("It was faster here than")
    assert rival_words(one, ()) == ""


def test_all_ways_stand_side_by_side_and_what_follows_is_said(
    ways: tuple[PairFolders, PairFolders, PairFolders], store: MeasurementStore
) -> None:
    dflash, own_head, alone = ways
    assert ways_of(dflash, ways) == (dflash, own_head)
    assert ways_of(own_head, ways) == (own_head, dflash)
    assert ways_of(alone, ways) == ()
    store.put(measured(own_head, 2.0))
    assert measured_ways((dflash, own_head), store) is None
    store.put(measured(dflash, 1.4))
    compared = measured_ways((dflash, own_head), store)
    assert compared is not None
    assert [report.pair_title for report in compared.reports] == ["qwen3_5", "own head"]
    assert compared.statement == "“own head” is faster here (2.00x) than “qwen3_5” (1.40x)."
    for way in (dflash, own_head):
        store.put(measured(way, None))
    compared = measured_ways((dflash, own_head), store)
    assert compared is not None
    assert compared.statement.startswith("No draft pays here")


def test_the_newest_comparison_counts(
    ways: tuple[PairFolders, PairFolders, PairFolders], store: MeasurementStore
) -> None:
    dflash, own_head, _ = ways
    store.put(measured(dflash, 1.4))
    store.put(measured(own_head, 2.0))
    for way, speedup in ((dflash, 1.9), (own_head, 1.1)):
        later = measured(way, speedup)
        key = replace(later.key, device_name="Another device")
        store.put(replace(later, key=key, measured_at=later.measured_at + timedelta(days=1)))
    assert fastest_way(own_head, ways, store).pair is dflash
