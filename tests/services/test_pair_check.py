"""A check ends in a verdict with its causes, whatever the pair and the engine do."""

from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.check_numbers import TextVerdict
from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.check_form import check_form
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.pair_check import PairCheck
from dflash_desktop.services.pair_loading import PairLoading
from tests.fakes.bench_worker import BenchLauncher, Speeds

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.fakes.ir_models import ModelFiles


@asynccontextmanager
async def checking(tmp_path: Path, speeds: Speeds) -> AsyncIterator[PairCheck]:
    engine = Engine(launcher=BenchLauncher(speeds=speeds, log_dir=tmp_path))
    loading = PairLoading(engine=engine, compile_cache_dir=tmp_path / "cache")
    try:
        yield PairCheck(engine=engine, loading=loading)
    finally:
        await engine.stop()


async def check(
    tmp_path: Path, target: ModelFiles, draft: ModelFiles, speeds: Speeds
) -> CheckReport:
    folders = PairFolders("id", "Pair", target.folder, draft.folder)
    async with checking(tmp_path, speeds) as checks, aclosing(checks.run(folders)) as steps:
        *_, last = [step async for step in steps]
    assert isinstance(last, CheckReport)
    return last


@pytest.mark.parametrize(
    ("speeds", "verdict", "first_cause"),
    [
        (Speeds(), CheckVerdict.WORKING, None),
        (Speeds(tokens_per_step=1.0), CheckVerdict.USELESS, "draft_of_another_target"),
        (Speeds(tokens_per_step=1.1), CheckVerdict.USELESS, "draft_shifted"),
        (
            Speeds(share_per_assistant_token=0.9, tokens_per_step=3.0),
            CheckVerdict.SLOWER,
            "steps_too_slow",
        ),
        (Speeds(differs_from=20, gap_nats=0.5), CheckVerdict.WRONG_TEXT, "wrong_token"),
        (Speeds(differs_from=20, gap_nats=0.001), CheckVerdict.WORKING, None),
    ],
)
async def test_the_numbers_decide(
    tmp_path: Path,
    target: ModelFiles,
    draft: ModelFiles,
    speeds: Speeds,
    verdict: CheckVerdict,
    first_cause: str | None,
) -> None:
    report = await check(tmp_path, target, draft, speeds)
    causes = [cause.code for cause in report.judgement.causes]
    assert (report.judgement.verdict, next(iter(causes), None)) == (verdict, first_cause)


async def test_where_texts_part_both_are_told_with_the_margin(
    tmp_path: Path, target: ModelFiles, draft: ModelFiles
) -> None:
    report = await check(tmp_path, target, draft, Speeds(differs_from=20, gap_nats=0.001))
    assert report.numbers is not None
    assert report.numbers.text is TextVerdict.NUMERIC_TIE
    measurements = check_form(report)["measurements"]
    assert isinstance(measurements, dict)
    text = measurements["text"]
    assert text["statement"].startswith("Numeric tie: ")
    assert text["first_difference"]["without_draft"].startswith("t20 t21")
    assert text["first_difference"]["with_draft"].startswith("t1020")
    assert text["first_difference"]["gap_nats"] == pytest.approx(0.001)


async def test_a_draft_that_looks_back_a_little_is_found_behind_long_prompts(
    tmp_path: Path, target: ModelFiles, draft: ModelFiles
) -> None:
    draft.configure(use_sliding_window=True, sliding_window=1500)
    folders = PairFolders("id", "Pair", target.folder, draft.folder)
    speeds = Speeds(tokens=256, tokens_per_step=3.0, loses_draft_from=1500)
    async with (
        checking(tmp_path, speeds) as checks,
        aclosing(checks.run(folders, long_context=True)) as steps,
    ):
        *_, last = [step async for step in steps]
    assert isinstance(last, CheckReport)
    assert [cause.code for cause in last.judgement.causes] == ["beyond_window"]
    assert "Behind 1500 tokens" in last.judgement.causes[0].words


async def test_a_draft_that_ends_the_process_is_not_attached_and_the_target_still_answers(
    tmp_path: Path, target: ModelFiles, draft: ModelFiles
) -> None:
    report = await check(tmp_path, target, draft, Speeds(crashes_with_draft=True))
    assert report.judgement.verdict is CheckVerdict.NOT_ATTACHED
    assert report.judgement.causes[0].code == "runtime_refused"


async def test_what_the_contract_blocks_is_never_loaded(
    tmp_path: Path, target: ModelFiles, draft: ModelFiles
) -> None:
    draft.edit("1,2,3", "1,2,48")
    report = await check(tmp_path, target, draft, Speeds(log_file=str(tmp_path / "answers")))
    assert report.judgement.verdict is CheckVerdict.NOT_ATTACHED
    assert report.judgement.causes[0].code == "target_layer_outside"
    assert check_form(report)["measurements"] is None
    assert not (tmp_path / "answers").exists()


async def test_a_target_without_a_draft_has_nothing_to_check(
    tmp_path: Path, target: ModelFiles
) -> None:
    folders = PairFolders("id", "Pair", target.folder, None)
    async with checking(tmp_path, Speeds()) as checks, aclosing(checks.run(folders)) as steps:
        with pytest.raises(AppError) as raised:
            await anext(steps)
    assert raised.value.problem.code == "no_draft"


async def test_a_check_that_is_closed_early_leaves_the_engine_ready(
    tmp_path: Path, target: ModelFiles, draft: ModelFiles
) -> None:
    folders = PairFolders("id", "Pair", target.folder, draft.folder)
    async with checking(tmp_path, Speeds()) as checks:
        async with aclosing(checks.run(folders)) as steps:
            async for step in steps:
                if step.done if not isinstance(step, CheckReport) else True:
                    break
        async with aclosing(checks.run(folders)) as steps:
            assert isinstance([step async for step in steps][-1], CheckReport)
