"""A DFlash draft and the target's own head are compared as measured, and the better is taken."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.benchmark import BenchReport, ChosenSetting
from dflash_desktop.domain.draft_rivals import rival_words
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.services.fastest_way import fastest_way
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
async def test_the_faster_way_is_taken(
    ways: tuple[PairFolders, PairFolders, PairFolders],
    store: MeasurementStore,
    dflash_gain: float | None,
    head_gain: float,
    winner: str,
) -> None:
    dflash, own_head, _ = ways
    store.put(measured(dflash, dflash_gain))
    store.put(measured(own_head, head_gain))
    assert (await fastest_way(dflash, ways, store)).id == winner


async def test_nothing_is_compared_that_was_not_measured_alike(
    ways: tuple[PairFolders, PairFolders, PairFolders], store: MeasurementStore
) -> None:
    dflash, own_head, alone = ways
    store.put(measured(own_head, 2.0))
    assert await fastest_way(dflash, ways, store) is dflash
    rounded = measured(dflash, 1.2)
    store.put(replace(rounded, key=replace(rounded.key, kv_cache_precision=KvCachePrecision.U8)))
    assert await fastest_way(dflash, ways, store) is dflash
    assert await fastest_way(alone, ways, store) is alone


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
