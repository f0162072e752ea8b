"""Exports of a draft in each weight format, and what the pair gains from one."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_request import ExportRole, WeightFormat
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.bench_prompts import load_bench_prompts
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.export_result import check_exported
from dflash_desktop.services.timed_answers import TimedAnswers, question
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.exporting.real_export import item, made, planned

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

FORMATS: Final = {
    "fp16": (WeightFormat.FP16, None),
    "int8": (WeightFormat.INT8, None),
    "int4 g16": (WeightFormat.INT4, 16),
    "int4 g32": (WeightFormat.INT4, 32),
    "int4 g64": (WeightFormat.INT4, 64),
    "int4 g128": (WeightFormat.INT4, 128),  # of 576: where 128 does not divide, 64 is taken
}
ASSISTANT_TOKENS: Final = 3
ANSWER_TOKENS: Final = 32


async def exported(python: Path, checkpoint: Path, work_dir: Path, form: str) -> Path:
    """The folder of the draft in that format, checked; int4 is of all layers."""
    weights, group_size = FORMATS[form]
    draft = item(
        ExportRole.DRAFT,
        checkpoint,
        weights,
        group_size=group_size,
        all_layers=weights is WeightFormat.INT4,
    )
    plan = await planned(work_dir, draft)
    folder = await asyncio.to_thread(made, plan, python, work_dir, ExportRole.DRAFT)
    check_exported(folder, ExportRole.DRAFT)
    return folder


async def tokens_per_step(
    pair: PairFolders,
    draft: Path,
    log_dir: Path,
    *,
    device: str = "CPU",
    fast: bool = True,
    answer_tokens: int = ANSWER_TOKENS,
) -> float:
    """Over the answers to the built-in questions, with that draft in place of the pair's own."""
    prompts = load_bench_prompts()
    async with _stopped_after(Engine(launcher=WorkerLauncher(log_dir=log_dir))) as engine:
        folders = PairFolders(pair.id, pair.title, pair.target_dir, draft)
        loaded = await engine.load(folders, device=device, keep_both=False)
        answers = TimedAnswers(engine=engine, pair=loaded, warm_up=prompts.warm_up)
        tokens = steps = 0
        for prompt in prompts.of_text(fast=fast):
            answer = await answers.answer(question(prompt.text), ASSISTANT_TOKENS, answer_tokens)
            tokens, steps = tokens + answer.stats.tokens, steps + answer.stats.steps
    return tokens / steps


@asynccontextmanager
async def _stopped_after(engine: Engine) -> AsyncIterator[Engine]:
    try:
        yield engine
    finally:
        await engine.stop()
