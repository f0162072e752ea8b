"""The stage that measures an exported pair: its verdict is kept, and a refusal is no failure."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_verdict import CheckVerdict, Judgement
from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.benchmark import BenchProgress
from dflash_desktop.services.export_finish import ExportFinish
from dflash_desktop.services.export_journal import StoredExport
from dflash_desktop.services.export_stages import StageTelling
from tests.fakes.export_world import export_plan

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.pair_check import PairCheck
    from dflash_desktop.services.pair_library import PairLibrary


@dataclass
class _Check:
    """An engine with its check, both played."""

    refusal: Problem | None = None
    asked: list[PairFolders] = field(default_factory=list)
    stops: int = 0

    async def run(self, folders: PairFolders) -> AsyncGenerator[BenchProgress | CheckReport, None]:
        self.asked.append(folders)
        yield BenchProgress("Loading the pair", 1, 4)
        if self.refusal is not None:
            raise AppError(self.refusal)
        yield CheckReport("A pair", Judgement(CheckVerdict.WORKING, ()), ())

    async def stop(self) -> None:
        self.stops += 1


async def _measured(check: _Check) -> tuple[StoredExport, list[tuple[float | None, str]]]:
    told: list[tuple[float | None, str]] = []

    async def keep(_: StoredExport) -> None:
        return None

    telling = StageTelling(
        progress=lambda share, detail: told.append((share, detail)),
        log=lambda _: None,
        memory=lambda _: None,
        notice=lambda _: None,
        keep=keep,
    )
    finish = ExportFinish(
        library=cast("ModelLibrary", None),
        pairs=cast("PairLibrary", None),
        make_check=lambda: (cast("Engine", check), cast("PairCheck", check)),
    )
    plan = export_plan(Path("source"), ExportRole.TARGET, ExportRole.DRAFT)
    stored = await finish.measure(StoredExport("a" * 12, plan), telling, work_dir=Path("work"))
    return stored, told


async def test_both_models_run_where_they_were_made_and_the_verdict_is_kept() -> None:
    check = _Check()
    stored, told = await _measured(check)
    assert (check.asked[0].target_dir, check.asked[0].draft_dir) == (
        Path("work") / "target",
        Path("work") / "draft",
    )
    assert stored.pair_verdict == CheckVerdict.WORKING.value
    assert told == [(0.25, "Loading the pair")]
    assert check.stops == 1, "its engine must not keep the models in memory"


async def test_a_pair_that_cannot_be_measured_is_kept_with_a_note() -> None:
    check = _Check(refusal=Problem("vision_target", "It is for text and images.", ""))
    stored, _ = await _measured(check)
    assert stored.pair_verdict == ""
    assert stored.notes == ("The pair was not measured: It is for text and images.",)
    assert check.stops == 1
