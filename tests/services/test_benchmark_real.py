"""The measurement with the real engine and the real starter pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.benchmark import BenchReport, PromptKind
from dflash_desktop.domain.draft_choice import setting_worth
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.services.bench_prompts import load_bench_prompts
from dflash_desktop.services.benchmark import Benchmark
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.timed_answers import TimedAnswers, question
from dflash_desktop.services.worker_launch import WorkerLauncher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

pytestmark = [pytest.mark.starter, pytest.mark.openvino, pytest.mark.timeout(900)]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path))
    yield engine
    await engine.stop()


async def test_a_fast_measurement_of_the_starter_pair(
    engine: Engine, starter_pair: PairFolders
) -> None:
    pair = await engine.load(
        starter_pair, device="CPU", kv_cache_precision=KvCachePrecision.F32, keep_both=True
    )
    steps = [step async for step in Benchmark(engine=engine).run(pair, starter_pair, fast=True)]
    report = steps[-1]
    assert isinstance(report, BenchReport)
    assert {p.prompt.kind for p in report.prompts} == set(PromptKind) - {PromptKind.PICTURE}
    runs = [run for p in report.prompts for run in p.runs]
    assert all(run.identical for run in runs), [run.first_difference for run in runs]
    assert all(run.tokens_per_step and run.tokens_per_step > 1 for run in runs)
    assert report.baseline_tokens_per_second
    # How fast it is depends on the machine; that the choice pays or is off does not.
    chosen = report.chosen.assistant_tokens
    worth = setting_worth(report.prompts, chosen) if chosen else None
    assert (chosen == 0) == (worth is None)
    assert worth is None or worth.pays


async def test_the_starter_draft_is_accepted_and_changes_no_text(
    engine: Engine, starter_pair: PairFolders
) -> None:
    pair = await engine.load(
        starter_pair, device="CPU", kv_cache_precision=KvCachePrecision.F32, keep_both=True
    )
    prompts = load_bench_prompts()
    answers = TimedAnswers(engine=engine, pair=pair, warm_up=prompts.warm_up)
    tokens = steps = 0
    for prompt in prompts.full:
        messages = question(prompt.text)
        own = await answers.answer(messages, 0, prompt.max_new_tokens)
        drafted = await answers.answer(messages, 3, prompt.max_new_tokens)
        assert drafted.token_ids == own.token_ids, prompt.text
        tokens += drafted.stats.tokens
        steps += drafted.stats.steps
    assert tokens / steps >= 2.2
