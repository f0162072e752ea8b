"""Measures on this machine what a draft is worth, against the same target without it."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.bench_plan import BenchPlan, PlannedRun, make_plan
from dflash_desktop.domain.bench_samples import Sample, fork, prompt_result
from dflash_desktop.domain.benchmark import BenchReport, PromptKind, PromptResult
from dflash_desktop.domain.draft_choice import choose, choose_for_pictures
from dflash_desktop.domain.pair import measurement_key
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.bench_picture import draw_bench_picture
from dflash_desktop.services.bench_prompts import load_bench_prompts
from dflash_desktop.services.long_context import Turn, long_context_points
from dflash_desktop.services.power_source import power_source
from dflash_desktop.services.text_forks import explain_forks
from dflash_desktop.services.timed_answers import TimedAnswers, question

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from dflash_desktop.domain.benchmark import BenchPrompt
    from dflash_desktop.domain.pair import LoadedPair, PairFolders
    from dflash_desktop.services.engine import Engine


@dataclass(frozen=True, slots=True)
class BenchProgress:
    """How far a measurement is; `latest` is the prompt that has just been completed."""

    sentence: str
    done: int
    total: int
    latest: PromptResult | None = None


class Benchmark:
    """Runs measurements; it stores nothing."""

    def __init__(self, *, engine: Engine) -> None:
        self._engine = engine

    async def run(
        self,
        pair: LoadedPair,
        folders: PairFolders,
        *,
        fast: bool,
        assistant_tokens: Sequence[int] | None = None,
        long_context: bool | None = None,
    ) -> AsyncGenerator[BenchProgress | BenchReport]:
        """Measure the loaded pair: progress, and last the report. Close the iterator to cancel.

        `assistant_tokens` are the settings to try in place of the usual ones. Long contexts are
        tried in full measurements where the draft pays, or as `long_context` says. A model that
        sees is also asked about a picture; what the draft is worth there is kept apart. With both
        pipelines in memory all runs of a prompt stand side by side; else they are grouped, so that
        few reloads are needed.

        Raises `AppError` when the pair has no draft, the engine fails, or the machine changed on
        the way; then there is no report.
        """
        if pair.draft is None:
            raise AppError(_NO_DRAFT)
        power = power_source()
        prompts = load_bench_prompts()
        asked = prompts.of_text(fast=fast)
        about_pictures = prompts.of_pictures(fast=fast) if pair.sees_pictures else ()
        chosen_prompts = (*asked, *about_pictures)
        answers = TimedAnswers(engine=self._engine, pair=pair, warm_up=prompts.warm_up)
        yield BenchProgress("Warming up", 0, 1)
        pace = (await answers.warm_up(0)).stats
        plan = make_plan(
            prompts=len(chosen_prompts),
            block_size=pair.draft.block_size,
            wanted=assistant_tokens,
            first_token_seconds=pace.first_token_seconds,
            seconds_per_token=pace.decode_seconds / max(1, pace.tokens),
            fast=fast,
            keeps_both=pair.keeps_both,
        )
        samples: list[Sample] = []
        with TemporaryDirectory(prefix="dflash-bench-") as folder:
            pictures = await _pictures(Path(folder)) if about_pictures else ()
            for done, run in enumerate(plan.runs):
                yield _progress(plan, chosen_prompts, samples, done)
                samples.append(await _sample(answers, chosen_prompts, pictures, plan, run))
        total = len(plan.runs)
        yield _progress(plan, chosen_prompts, samples, total)
        results = await self._results(chosen_prompts, plan, samples)
        of_text, of_pictures = results[: len(asked)], results[len(asked) :]
        report = BenchReport(
            key=measurement_key(pair),
            pair_title=folders.title,
            measured_at=datetime.now(UTC),
            is_fast=fast,
            power_source=power,
            prompts=of_text,
            chosen=choose(of_text),
            pictures=of_pictures,
            chosen_with_pictures=choose_for_pictures(of_pictures) if of_pictures else None,
        )
        setting = report.chosen.assistant_tokens or (plan.settings[-1] if long_context else 0)
        if setting and (not fast if long_context is None else long_context):
            yield BenchProgress(_LONG_CONTEXT, total, total)
            report = await self._with_long_context(report, pair, answers, samples, setting)
        if power_source() != power:
            raise AppError(_POWER_CHANGED)
        yield report

    async def _results(
        self, prompts: Sequence[BenchPrompt], plan: BenchPlan, samples: Sequence[Sample]
    ) -> tuple[PromptResult, ...]:
        forks = [
            parting
            for index in range(len(prompts))
            for setting in plan.settings
            if (parting := fork(samples, index, setting)) is not None
        ]
        differences = await explain_forks(
            self._engine,
            tuple(dict.fromkeys(forks)),
            {index: question(prompt.text) for index, prompt in enumerate(prompts)},
        )
        return tuple(
            prompt_result(prompt, index, samples, plan.settings, differences)
            for index, prompt in enumerate(prompts)
        )

    async def _with_long_context(
        self,
        report: BenchReport,
        pair: LoadedPair,
        answers: TimedAnswers,
        samples: Sequence[Sample],
        assistant_tokens: int,
    ) -> BenchReport:
        own = {s.run.prompt: s for s in samples if s.run.assistant_tokens == 0}
        texts = await self._engine.detokenize(tuple(own[i].token_ids for i in sorted(own)))
        turns = [
            Turn(result.prompt.text, text, _turn_tokens(result.prompt, own[index]))
            for index, (result, text) in enumerate(zip(report.prompts, texts, strict=False))
        ]
        points = long_context_points(
            answers,
            turns,
            assistant_tokens=assistant_tokens,
            context_tokens=pair.context_tokens,
        )
        async with aclosing(points):
            return replace(report, long_context=tuple([point async for point in points]))


async def _pictures(folder: Path) -> tuple[Path, ...]:
    return (await asyncio.to_thread(draw_bench_picture, folder / "shapes.png"),)


async def _sample(
    answers: TimedAnswers,
    prompts: Sequence[BenchPrompt],
    pictures: tuple[Path, ...],
    plan: BenchPlan,
    run: PlannedRun,
) -> Sample:
    prompt = prompts[run.prompt]
    finished = await answers.answer(
        question(prompt.text, pictures if prompt.kind is PromptKind.PICTURE else ()),
        run.assistant_tokens,
        min(prompt.max_new_tokens, plan.max_new_tokens),
    )
    return Sample(run, finished.stats, finished.token_ids, finished.step_tokens)


def _progress(
    plan: BenchPlan, prompts: Sequence[BenchPrompt], samples: Sequence[Sample], done: int
) -> BenchProgress:
    """What comes next; a prompt is complete when none of its runs is left."""
    left = {run.prompt for run in plan.runs[done:]}
    before = {run.prompt for run in plan.runs[max(0, done - 1) :]}
    latest = None
    for index in before - left:
        latest = prompt_result(prompts[index], index, samples, plan.settings, {})
    sentence = _COMPARING
    if done < len(plan.runs):
        run = plan.runs[done]
        kind = prompts[run.prompt].kind.value.replace("_", " ")
        way = f"{run.assistant_tokens} assistant tokens" if run.assistant_tokens else "no draft"
        sentence = f"Prompt {run.prompt + 1} of {len(prompts)} ({kind}), {way}"
    return BenchProgress(sentence, done, len(plan.runs), latest)


def _turn_tokens(prompt: BenchPrompt, own_answer: Sample) -> int:
    return own_answer.stats.tokens + len(prompt.text) // 4  # about four letters to a token


_COMPARING: Final = "Comparing the texts"
_LONG_CONTEXT: Final = "Trying long conversations"

_NO_DRAFT: Final = Problem(
    code="no_draft",
    headline="This model is loaded without a draft, so there is nothing to measure.",
    advice="Choose a pair with a draft, then measure again.",
    remedies=(Remedy.CHOOSE_MODEL,),
)
_POWER_CHANGED: Final = Problem(
    code="measurement_disturbed",
    headline="The power cable was plugged in or pulled out while measuring.",
    advice="That changes every speed, so nothing was stored. Measure again.",
    remedies=(Remedy.MEASURE,),
)
