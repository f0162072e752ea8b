from __future__ import annotations

from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.domain.benchmark import BenchReport, PromptKind
from dflash_desktop.domain.draft_choice import setting_worth
from dflash_desktop.domain.draft_policy import pays_up_to_tokens
from dflash_desktop.domain.generation import NO_STATS, FinishReason
from dflash_desktop.domain.pair import PairFolders, measurement_key
from dflash_desktop.domain.problems import AppError, CancelledByPersonError
from dflash_desktop.services.bench_prompts import load_bench_prompts
from dflash_desktop.services.benchmark import Benchmark, BenchProgress
from dflash_desktop.services.engine import Engine
from dflash_desktop.workers.protocol import Finished
from tests.fakes.bench_worker import BenchLauncher, Speeds
from tests.fakes.engine import PAIR

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflash_desktop.domain.pair import LoadedPair

# What `Speeds` means with its defaults: a step costs 1 + 0.1 n and brings min(2, n + 1) tokens.
IDEAL = {1: 2 / 1.1, 2: 2 / 1.2, 3: 2 / 1.3, 7: 2 / 1.7}


@asynccontextmanager
async def loaded(
    tmp_path: Path,
    speeds: Speeds,
    *,
    keep_both: bool = True,
    folders: PairFolders = PAIR,
) -> AsyncIterator[tuple[Benchmark, LoadedPair, Engine]]:
    engine = Engine(launcher=BenchLauncher(speeds=speeds, log_dir=tmp_path))
    try:
        pair = await engine.load(folders, device="CPU", keep_both=keep_both)
        yield Benchmark(engine=engine), pair, engine
    finally:
        await engine.stop()


async def measure(
    tmp_path: Path,
    speeds: Speeds,
    *,
    fast: bool = True,
    keep_both: bool = True,
    assistant_tokens: Sequence[int] | None = None,
) -> tuple[BenchReport, list[BenchProgress]]:
    seen: list[BenchProgress] = []
    async with loaded(tmp_path, speeds, keep_both=keep_both) as (benchmark, pair, _):
        async for step in benchmark.run(pair, PAIR, fast=fast, assistant_tokens=assistant_tokens):
            if isinstance(step, BenchReport):
                assert step.key == measurement_key(pair)
                return step, seen
            seen.append(step)
    raise AssertionError("no report came")


def speedups(report: BenchReport) -> dict[int, float]:
    settings = {run.assistant_tokens for p in report.prompts for run in p.runs}
    worths = [setting_worth(report.prompts, setting) for setting in sorted(settings)]
    return {worth.assistant_tokens: worth.speedup for worth in worths if worth}


@pytest.mark.parametrize("keep_both", [True, False])
async def test_speedups_are_those_of_the_machine_and_the_best_is_chosen(
    tmp_path: Path, keep_both: bool
) -> None:
    report, _ = await measure(tmp_path, Speeds(), keep_both=keep_both, assistant_tokens=(1, 3, 7))
    expected = {setting: IDEAL[setting] for setting in (1, 3, 7)}
    assert speedups(report) == pytest.approx(expected, rel=1e-6)
    assert report.chosen.assistant_tokens == 1
    assert report.baseline_tokens_per_second == pytest.approx(50.0)
    assert all(run.identical for p in report.prompts for run in p.runs)


@pytest.mark.parametrize("keep_both", [True, False])
async def test_a_first_call_that_is_five_times_slower_changes_nothing(
    tmp_path: Path, keep_both: bool
) -> None:
    report, _ = await measure(tmp_path, Speeds(first_calls=1), keep_both=keep_both)
    expected = {setting: IDEAL[setting] for setting in (3, 7)}
    assert speedups(report) == pytest.approx(expected, rel=1e-6)


async def test_a_machine_that_gets_slower_all_the_time_changes_little(tmp_path: Path) -> None:
    # 5 % slower over each prompt: measured in one direction, the last setting would look worse.
    report, _ = await measure(tmp_path, Speeds(slower_every_answer=0.005))
    expected = {setting: IDEAL[setting] for setting in (3, 7)}
    assert speedups(report) == pytest.approx(expected, rel=0.01)


async def test_a_draft_that_is_never_accepted_is_switched_off(tmp_path: Path) -> None:
    report, _ = await measure(tmp_path, Speeds(tokens_per_step=1.0))
    assert report.chosen.assistant_tokens == 0
    assert report.chosen.speedup is None
    assert "Draft off" in report.chosen.reason


async def test_acceptance_of_each_prompt_shows_in_its_kind(tmp_path: Path) -> None:
    by_word = {"Python": 3.5, "sky": 1.0}
    report, _ = await measure(tmp_path, Speeds(tokens_per_step_by_word=by_word))
    worth = setting_worth(report.prompts, 3)
    assert worth is not None
    kinds = {kind.kind: kind.speedup for kind in worth.by_kind}
    assert kinds[PromptKind.CODE] == pytest.approx(3.5 / 1.3)
    assert kinds[PromptKind.PROSE] == pytest.approx(1.0 / 1.3)
    assert worth.by_kind[0].kind is PromptKind.CODE
    assert "code" in report.chosen.reason
    assert "prose" in report.chosen.reason


async def test_the_full_measurement_covers_every_prompt_and_finds_the_crossover(
    tmp_path: Path,
) -> None:
    # A step with the draft grows by 1/2000 for each token of context, without it not at all:
    # 2 / 1.1 = 1 + length / 2000 where the gain is used up.
    speeds = Speeds(draft_growth_per_context_token=1 / 2000)
    report, seen = await measure(tmp_path, speeds, fast=False, assistant_tokens=(1,))
    assert [p.prompt for p in report.prompts] == list(load_bench_prompts().full)
    assert [point.speedup > 1.0 for point in report.long_context] == [True, False, False]
    crossover = pays_up_to_tokens(report)
    assert crossover is not None
    assert 1000 < crossover < 2100
    assert "Trying long conversations" in [progress.sentence for progress in seen]


async def test_progress_counts_up_and_delivers_each_prompt_once(tmp_path: Path) -> None:
    report, seen = await measure(tmp_path, Speeds())
    done = [progress.done for progress in seen[1:]]
    assert done == list(range(seen[-1].total + 1))
    latest = [progress.latest.prompt for progress in seen if progress.latest]
    assert latest == [result.prompt for result in report.prompts]


async def test_a_numeric_tie_is_told_from_a_wrong_token(tmp_path: Path) -> None:
    tie = Speeds(differs_from=5, differs_for_word="sky", gap_nats=0.015, noise_nats=0.01)
    report, _ = await measure(tmp_path, tie)
    (prose,) = (p for p in report.prompts if p.prompt.kind is PromptKind.PROSE)
    difference = prose.runs[0].first_difference
    assert difference is not None
    assert not prose.runs[0].identical
    assert (difference.token_index, difference.is_numeric_tie) == (5, True)
    assert difference.gap_nats == pytest.approx(0.015)
    assert difference.without_draft.split()[0] == "t5"
    assert difference.with_draft.split()[0] == "t1005"
    assert report.chosen.assistant_tokens == 3

    wrong = Speeds(differs_from=5, differs_for_word="sky", gap_nats=0.5, noise_nats=0.01)
    report, _ = await measure(tmp_path, wrong)
    assert report.chosen.assistant_tokens == 0
    assert "not the target's own" in report.chosen.reason


async def test_a_failure_in_the_middle_is_said_and_gives_no_report(tmp_path: Path) -> None:
    with pytest.raises(AppError) as caught:
        await measure(tmp_path, Speeds(fails_at_answer=12))
    assert caught.value.problem.headline


async def test_an_engine_that_dies_in_the_middle_is_said_and_gives_no_report(
    tmp_path: Path,
) -> None:
    with pytest.raises(AppError):
        await measure(tmp_path, Speeds(crashes_at_answer=12))


async def test_closing_the_iterator_stops_and_leaves_the_engine_usable(tmp_path: Path) -> None:
    async with loaded(tmp_path, Speeds()) as (benchmark, pair, engine):
        async with aclosing(benchmark.run(pair, PAIR, fast=True)) as steps:
            async for step in steps:
                assert isinstance(step, BenchProgress)
                if step.done == 3:
                    break
        assert await engine.detokenize(((1,),)) == ("t1",)


async def test_the_person_who_stops_the_engine_stops_the_measurement(tmp_path: Path) -> None:
    async with loaded(tmp_path, Speeds()) as (benchmark, pair, engine):
        stopped = Finished(0, FinishReason.CANCELLED, NO_STATS, ())

        async def cancelled(*_: object, **__: object) -> AsyncIterator[Finished]:
            yield stopped

        engine.generate = cancelled  # type: ignore[method-assign, assignment]  # a stopped answer
        with pytest.raises(CancelledByPersonError):
            async for _ in benchmark.run(pair, PAIR, fast=True):
                pass


async def test_a_pair_without_a_draft_has_nothing_to_measure(tmp_path: Path) -> None:
    alone = PairFolders("alone", "Alone", Path("/fake/target"), None)
    async with loaded(tmp_path, Speeds(), folders=alone) as (benchmark, pair, _):
        with pytest.raises(AppError) as caught:
            await anext(benchmark.run(pair, alone, fast=True))
    assert caught.value.problem.code == "no_draft"


async def test_another_pair_loaded_meanwhile_spoils_the_measurement(tmp_path: Path) -> None:
    alone = PairFolders("alone", "Alone", Path("/fake/target"), None)

    async def load_another_after_three_runs(benchmark: Benchmark, pair: LoadedPair) -> None:
        async for step in benchmark.run(pair, PAIR, fast=True):
            if isinstance(step, BenchProgress) and step.done == 3:
                await engine.load(alone, device="CPU")

    async with loaded(tmp_path, Speeds()) as (benchmark, pair, engine):
        with pytest.raises(AppError) as caught:
            await load_another_after_three_runs(benchmark, pair)
    assert caught.value.problem.code == "measurement_disturbed"


async def test_a_power_cable_pulled_meanwhile_spoils_the_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugged = iter((True, False))
    monkeypatch.setattr(
        psutil,
        "sensors_battery",
        lambda: SimpleNamespace(power_plugged=next(plugged)),
        raising=False,
    )
    with pytest.raises(AppError) as caught:
        await measure(tmp_path, Speeds())
    assert caught.value.problem.code == "measurement_disturbed"


async def test_both_ways_are_warm_and_alternate(tmp_path: Path) -> None:
    log = tmp_path / "answers.txt"
    await measure(tmp_path, Speeds(log_file=str(log)), assistant_tokens=(2,))
    settings = [int(line) for line in log.read_text().split()]
    # Baseline warmed up, asked; draft warmed up, asked; then back in the other order.
    assert settings[:9] == [0, 0, 0, 2, 2, 2, 2, 0, 0]
