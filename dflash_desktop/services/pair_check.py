"""Checks a pair by running it: the same questions with and without the draft, and a verdict."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_numbers import numbers_of
from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_verdict import judge, judge_unmeasured
from dflash_desktop.domain.generation import SamplingParams
from dflash_desktop.domain.pair_contract import Finding, Verdict, check_contract, verdict_of
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.bench_prompts import load_bench_prompts
from dflash_desktop.services.benchmark import Benchmark, BenchProgress
from dflash_desktop.services.model_inspection import (
    inspect_draft,
    inspect_model,
    installed_runtime,
)
from dflash_desktop.services.timed_answers import question

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.generation import KvCachePrecision
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.pair_loading import PairLoading


_ALONE_TOKENS: Final = 16


class PairCheck:
    """Runs checks with the engine; it stores nothing, and leaves the pair loaded."""

    def __init__(self, *, engine: Engine, loading: PairLoading) -> None:
        self._engine = engine
        self._loading = loading
        self._benchmark = Benchmark(engine=engine)

    async def run(
        self,
        folders: PairFolders,
        *,
        device: str = "",
        kv_cache_precision: KvCachePrecision | None = None,
        exact: bool = False,
        long_context: bool = False,
    ) -> AsyncGenerator[BenchProgress | CheckReport]:
        """Progress, and last the report. Close the iterator to cancel.

        `long_context` also asks behind prompts of up to 4,000 tokens, for another minute.

        Raises `AppError` when there is no draft, or when not even the target alone can run.
        """
        if folders.draft_dir is None:
            raise AppError(_NO_DRAFT)
        yield BenchProgress("Reading the files", 0, 1)
        findings, window = await asyncio.to_thread(_read, folders.target_dir, folders.draft_dir)
        if verdict_of(findings) is Verdict.BLOCKED:
            yield CheckReport(folders.title, judge_unmeasured(findings), findings)
            return
        yield BenchProgress("Loading the pair", 0, 1)
        load = partial(
            self._loading.load,
            device=device,
            kv_cache_precision=kv_cache_precision,
            exact=exact,
        )
        try:
            pair = await load(folders)
        except AppError as error:
            # If the target runs alone, it was the draft that the runtime did not take.
            await load(replace(folders, draft_dir=None))
            refusal = error.problem.headline
            judgement = judge_unmeasured(findings, refusal=refusal)
            yield CheckReport(folders.title, judgement, findings)
            return
        run = self._benchmark.run(pair, folders, fast=True, long_context=long_context)
        try:
            async with aclosing(run) as steps:
                async for step in steps:
                    if isinstance(step, BenchProgress):
                        yield step
                    else:
                        yield _report(step, findings, window)
        except AppError as error:
            if error.problem.code != "engine_crashed":
                raise
            # Some drafts end the process with their first proposal. It is the draft, if the
            # target answers alone.
            await load(replace(folders, draft_dir=None))
            await self._answer_alone()
            judgement = judge_unmeasured(findings, refusal=error.problem.headline)
            yield CheckReport(folders.title, judgement, findings)

    async def _answer_alone(self) -> None:
        params = SamplingParams(max_new_tokens=_ALONE_TOKENS)
        messages = question(load_bench_prompts().warm_up)
        events = self._engine.generate(messages, params, assistant_tokens=0)
        async with aclosing(events):
            async for _ in events:
                pass


def _read(target_dir: Path, draft_dir: Path) -> tuple[tuple[Finding, ...], int | None]:
    """What the contract finds, and how many tokens the draft looks back. Blocking."""
    target, draft = inspect_model(target_dir), inspect_draft(target_dir, draft_dir)
    findings = check_contract(target, draft, runtime=installed_runtime())
    return findings, None if draft is None else draft.config.window_tokens


def _report(
    report: BenchReport, findings: tuple[Finding, ...], window_tokens: int | None
) -> CheckReport:
    numbers = numbers_of(report, window_tokens=window_tokens)
    return CheckReport(report.pair_title, judge(numbers, findings), findings, report, numbers)


_NO_DRAFT: Final = Problem(
    code="no_draft",
    headline="There is no draft to check.",
    advice="Name the draft's folder after the target's.",
    remedies=(Remedy.CHOOSE_MODEL,),
)
