"""`dflash-desktop bench`: what the draft is worth on this machine, and the setting that pays."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflash_desktop.cli.pair_options import (
    EXACT,
    add_pair_arguments,
    chosen_folders,
    chosen_precision,
    load_pair,
    pair_loading,
)
from dflash_desktop.domain.benchmark import BenchReport, tried_assistant_tokens
from dflash_desktop.domain.draft_choice import setting_worth
from dflash_desktop.domain.draft_rivals import USED_WHERE, WaysCompared, worth_words
from dflash_desktop.domain.units import format_rate, format_speedup, significant
from dflash_desktop.services.bench_form import bench_form, rivals_form

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.benchmark import BenchRun
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.benchmark import BenchProgress

HELP = """Measure what the draft is worth here, and choose the setting that pays.

Every prompt is answered with and without the draft, in alternating order and warmed up. The
result is stored for this pair, device, driver, runtime and KV cache, and the chat uses it.

examples:
  dflash-desktop bench --fast            one prompt of each kind, under half a minute
  dflash-desktop bench                   all prompts and settings, some minutes
  dflash-desktop bench --assistant-tokens 1,2,3 --json
  dflash-desktop bench --rivals          also what else drafts for this target, side by side
"""


def add_arguments(parser: ArgumentParser) -> None:
    """`--fast`, `--assistant-tokens`, `--rivals`, and the pair."""
    parser.add_argument(
        "--fast", action="store_true", help="fewer prompts, fewer settings, shorter answers"
    )
    parser.add_argument(
        "--assistant-tokens",
        type=_settings,
        metavar="N,N,…",
        help="the settings to try (default: several up to what the draft was trained for)",
    )
    parser.add_argument(
        "--rivals",
        action="store_true",
        help="measure every other draft of this target in the library too, and its own head (MTP)",
    )
    add_pair_arguments(parser)


async def run(args: Namespace, context: CommandContext) -> BenchResult:
    """Measure and store; progress goes to standard error. Raises `AppError`."""
    folders = chosen_folders(args, context)
    if not args.rivals:
        return BenchResult(await _measure(folders, args, context))
    import asyncio  # no help text should wait for what only the work needs

    ways = await asyncio.to_thread(_all_ways, folders, context)
    if len(ways) > 1:
        return await _measure_all(ways, args, context)
    report = await _measure(ways[0] if ways else folders, args, context)
    return BenchResult(report, lacks_rivals=True)


async def _measure(folders: PairFolders, args: Namespace, context: CommandContext) -> BenchReport:
    from dflash_desktop.services.benchmark import Benchmark  # no help text should wait for it

    pair = await load_pair(folders, args, context)
    printer = _ProgressPrinter()
    steps = Benchmark(engine=context.engine).run(
        pair, folders, fast=args.fast, assistant_tokens=args.assistant_tokens
    )
    report: BenchReport | None = None
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, BenchReport):
                report = step
            else:
                printer.show(step)
    if report is None:
        raise RuntimeError("a measurement ended without a report")
    context.measurements.put(report)
    return report


def _all_ways(folders: PairFolders, context: CommandContext) -> tuple[PairFolders, ...]:
    """What drafts for this target, the named draft first; of a target alone all that there are."""
    from dflash_desktop.services.fastest_way import ways_of
    from dflash_desktop.services.pair_library import folders_of
    from dflash_desktop.workers.model_folder import has_own_head

    pairs = list(context.pairs.pairs())
    target_dir = folders.target_dir
    if has_own_head(target_dir):
        title = f"{target_dir.name} with its own head"
        pairs.append(folders_of(title, target_dir, target_dir))
    draft_dir = folders.draft_dir
    if draft_dir is not None:
        same = (one for one in pairs if (one.target_dir, one.draft_dir) == (target_dir, draft_dir))
        title = f"{folders.title} with {draft_dir.name}"
        return ways_of(next(same, replace(folders, title=title)), pairs)
    of_target = [one for one in pairs if one.target_dir == target_dir and one.draft_dir]
    return ways_of(of_target[0], of_target) if of_target else ()


async def _measure_all(
    ways: tuple[PairFolders, ...], args: Namespace, context: CommandContext
) -> BenchResult:
    from dflash_desktop.services.way_measurement import WayMeasurement

    measurement = WayMeasurement(
        engine=context.engine, loading=pair_loading(context), measurements=context.measurements
    )
    steps = measurement.run(
        ways,
        fast=args.fast,
        device=args.device,
        kv_cache_precision=chosen_precision(args),
        exact=args.kv_cache == EXACT,
        assistant_tokens=args.assistant_tokens,
    )
    printer = _ProgressPrinter()
    reports: list[BenchReport] = []
    compared: WaysCompared | None = None
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, BenchReport):
                reports.append(step)
            elif isinstance(step, WaysCompared):
                compared = step
            else:
                printer.show(step)
    return BenchResult(reports[0], compared, lacks_rivals=compared is None)


@dataclass(frozen=True, slots=True)
class BenchResult:
    """A measurement, and what follows from it."""

    report: BenchReport
    rivals: WaysCompared | None = None
    lacks_rivals: bool = False  # asked for, and there are none

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {**bench_form(self.report), "rivals": rivals_form(self.rivals)}

    def as_text(self) -> str:
        """A table of all runs, a line for each setting, and the choice."""
        report = self.report
        key = report.key
        lines = [
            f"{report.pair_title} on {key.device_name}, KV cache {key.kv_cache_precision}",
            key.runtime,
            "",
            _line("kind", "tokens", "no draft", "draft", "speed-up", "per step", "text"),
        ]
        for result in (*report.prompts, *report.pictures):
            lines += [_run_line(str(result.prompt.kind), run) for run in result.runs]
        lines.append("")
        for setting in tried_assistant_tokens(report.prompts):
            if worth := setting_worth(report.prompts, setting):
                kinds = ", ".join(kind.words for kind in worth.by_kind)
                lines.append(f"{setting:>2} tokens: {format_speedup(worth.speedup)} ({kinds})")
        for point in report.long_context:
            lines.append(
                f"behind {point.context_tokens} tokens: {format_speedup(point.speedup)}, "
                f"{format_rate(point.baseline_tokens_per_second)} without the draft"
            )
        chosen = (report.chosen, report.chosen_with_pictures)
        lines += ["", *(one.reason for one in chosen if one is not None)]
        if self.rivals is not None:
            lines += ["", *_rival_lines(self.rivals)]
        if self.lacks_rivals:
            lines += ["", _NO_RIVALS]
        return "\n".join(lines)


class _ProgressPrinter:
    """One line for each new sentence, with the share that is done."""

    def __init__(self) -> None:
        self._last = ""

    def show(self, progress: BenchProgress) -> None:
        """Print what is new."""
        if progress.sentence != self._last:
            self._last = progress.sentence
            share = f"{progress.done / progress.total:4.0%}"
            print(f"{share}  {progress.sentence}", file=sys.stderr, flush=True)


def _rival_lines(compared: WaysCompared) -> list[str]:
    lines = [
        f"{worth_words(report):>13}  {report.pair_title}"
        f"{', the fastest' if compared.pays and report is compared.fastest else ''}"
        for report in compared.reports
    ]
    return [*lines, "", compared.statement, *([USED_WHERE] if compared.pays else [])]


def _settings(text: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is not a list of numbers like 1,2,3") from error
    if min(numbers) < 1:
        raise ArgumentTypeError("0 is the baseline and always measured; give numbers from 1")
    return numbers


def _run_line(kind: str, run: BenchRun) -> str:
    return _line(
        kind,
        str(run.assistant_tokens),
        _rate(run.baseline_tokens_per_second),
        _rate(run.tokens_per_second),
        format_speedup(run.speedup),
        _rate(run.tokens_per_step),
        _text_words(run),
    )


def _line(*cells: str) -> str:
    kind, *numbers, text = cells
    return f"{kind:<13}{''.join(f'{number:>10}' for number in numbers)}  {text}"


def _rate(value: float | None) -> str:
    return "–" if value is None else significant(value)


_NO_RIVALS = "Nothing else here drafts for this target, so there was nothing to compare."


def _text_words(run: BenchRun) -> str:
    difference = run.first_difference
    if difference is None:
        return "identical" if run.identical else "differs"
    words = {True: ", a numeric tie", False: ", not a tie", None: ""}
    return f"differs from token {difference.token_index + 1}{words[difference.is_numeric_tie]}"
