"""The stage that measures an exported pair: its verdict is kept, and a refusal is no failure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from dflash_desktop.domain.benchmark import BenchReport
from dflash_desktop.domain.check_numbers import numbers_of
from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_verdict import CheckVerdict, Judgement
from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.export_run import ExportedModel
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.benchmark import BenchProgress
from dflash_desktop.services.check_history import CheckHistory
from dflash_desktop.services.export_finish import ExportFinish
from dflash_desktop.services.export_journal import ExportJournal, StoredExport
from dflash_desktop.services.export_stages import StageTelling
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.pair_library import folders_of
from dflash_desktop.services.settings_store import SettingsStore
from tests.domain.measurements import report as bench_report
from tests.fakes.export_world import AddedPairs, export_plan
from tests.fakes.library_world import app_paths

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.pair_check import PairCheck
    from dflash_desktop.services.pair_library import PairLibrary


@dataclass
class _Check:
    """An engine with its check, both played."""

    refusal: Problem | None = None
    asked: list[PairFolders] = field(default_factory=list)
    stops: int = 0
    report: BenchReport | None = None
    how: dict[str, object] = field(default_factory=dict)

    async def run(
        self, folders: PairFolders, **how: object
    ) -> AsyncGenerator[BenchProgress | CheckReport, None]:
        self.how = how
        self.asked.append(folders)
        yield BenchProgress("Loading the pair", 1, 4)
        if self.refusal is not None:
            raise AppError(self.refusal)
        report = self.report
        numbers = None if report is None else numbers_of(report)
        yield CheckReport("A pair", Judgement(CheckVerdict.WORKING, ()), (), report, numbers)

    async def stop(self) -> None:
        self.stops += 1


@dataclass
class _Place:
    """Where the stage works, with what it keeps."""

    root: Path

    def __post_init__(self) -> None:
        self.paths = app_paths(self.root)
        self.settings = SettingsStore(self.paths.settings_file)
        self.history = CheckHistory(self.paths.checks_file)
        self.measurements = MeasurementStore(self.paths.measurements_file)

    def finish(self, check: _Check) -> ExportFinish:
        return ExportFinish(
            library=ModelLibrary(paths=self.paths),
            pairs=cast("PairLibrary", AddedPairs()),
            settings=self.settings,
            history=self.history,
            measurements=self.measurements,
            make_check=lambda: (cast("Engine", check), cast("PairCheck", check)),
        )


@pytest.fixture
def place(tmp_path: Path) -> _Place:
    return _Place(tmp_path)


async def _measured(
    check: _Check, place: _Place
) -> tuple[StoredExport, list[tuple[float | None, str]]]:
    told: list[tuple[float | None, str]] = []

    telling = _telling(lambda share, detail: told.append((share, detail)))
    plan = export_plan(Path("source"), ExportRole.TARGET, ExportRole.DRAFT)
    stored = StoredExport("a" * 12, plan)
    stored = await place.finish(check).measure(stored, telling, work_dir=Path("work"))
    return stored, told


def _telling(progress: Callable[[float | None, str], None]) -> StageTelling:
    async def keep(_: StoredExport) -> None:
        return None

    return StageTelling(
        progress=progress,
        log=lambda _: None,
        memory=lambda _: None,
        notice=lambda _: None,
        keep=keep,
    )


async def test_both_models_run_where_they_were_made_and_the_verdict_is_kept(
    place: _Place,
) -> None:
    check = _Check()
    stored, told = await _measured(check, place)
    assert (check.asked[0].target_dir, check.asked[0].draft_dir) == (
        Path("work") / "target",
        Path("work") / "draft",
    )
    assert stored.pair_verdict == CheckVerdict.WORKING.value
    assert told == [(0.25, "Loading the pair")]
    assert check.stops == 1, "its engine must not keep the models in memory"


async def test_a_pair_that_cannot_be_measured_is_kept_with_a_note(place: _Place) -> None:
    check = _Check(refusal=Problem("vision_target", "It is for text and images.", ""))
    stored, _ = await _measured(check, place)
    assert stored.pair_verdict == ""
    assert stored.notes == ("The pair was not measured: It is for text and images.",)
    assert check.stops == 1


async def test_the_check_stands_in_the_pairs_history_and_the_chat_has_its_comparison(
    place: _Place,
) -> None:
    measured = bench_report()
    place.settings.change(device="GPU.1", kv_cache_precision=KvCachePrecision.F16)
    check = _Check(report=measured)
    stored, _ = await _measured(check, place)
    assert check.how == {"device": "GPU.1", "kv_cache_precision": KvCachePrecision.F16}
    assert place.measurements.get(measured.key) == measured

    # The program ends and starts again before the models are in their place.
    journal = ExportJournal(place.paths.exports_dir)
    journal.save(stored)
    (stored,) = journal.load()
    for role in ExportRole:
        (place.root / "work" / role).mkdir(parents=True)
    output = place.root / "out"
    models = tuple(
        ExportedModel(role, f"a-{role}", place.root / "work" / role, "good") for role in ExportRole
    )
    stored = replace(stored, models=models, plan=replace(stored.plan, output_dir=output))
    for _ in range(2):  # a program that dies here does this stage again
        await place.finish(check).put_in_place(
            stored, _telling(lambda *_: None), work_dir=place.root / "work"
        )
    pair = folders_of("A pair", output / "a-target", output / "a-draft")
    (kept,) = place.history.of_pair(pair.id)
    assert (kept.verdict, kept.device_name) == (CheckVerdict.WORKING, measured.key.device_name)


async def test_a_comparison_that_was_made_in_full_is_worth_more(place: _Place) -> None:
    full = replace(bench_report(), pair_title="Measured in full")
    place.measurements.put(full)
    await _measured(_Check(report=bench_report()), place)
    assert place.measurements.get(full.key) == full
