"""`dflash-desktop bench`: what the draft is worth on this machine, and the setting that pays."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.cli.pair_options import add_pair_arguments, chosen_folders, load_pair
from dflash_desktop.domain.benchmark import BenchReport, tried_assistant_tokens
from dflash_desktop.domain.draft_choice import setting_worth
from dflash_desktop.domain.units import format_rate, format_speedup, significant
from dflash_desktop.services.bench_form import bench_form

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.benchmark import BenchRun
    from dflash_desktop.services.benchmark import BenchProgress

HELP = """Measure what the draft is worth here, and choose the setting that pays.

Every prompt is answered with and without the draft, in alternating order and warmed up. The
result is stored for this pair, device, driver, runtime and KV cache, and the chat uses it.

examples:
  dflash-desktop bench --fast            one prompt of each kind, under half a minute
  dflash-desktop bench                   all prompts and settings, some minutes
  dflash-desktop bench --assistant-tokens 1,2,3 --json
"""


def add_arguments(parser: ArgumentParser) -> None:
    """`--fast`, `--assistant-tokens`, and the pair."""
    parser.add_argument(
        "--fast", action="store_true", help="fewer prompts, fewer settings, shorter answers"
    )
    parser.add_argument(
        "--assistant-tokens",
        type=_settings,
        metavar="N,N,…",
        help="the settings to try (default: several up to what the draft was trained for)",
    )
    add_pair_arguments(parser)


async def run(args: Namespace, context: CommandContext) -> BenchResult:
    """Measure and store; progress goes to standard error. Raises `AppError`."""
    from dflash_desktop.services.benchmark import Benchmark  # no help text should wait for it

    folders = chosen_folders(args, context)
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
    return BenchResult(report)


@dataclass(frozen=True, slots=True)
class BenchResult:
    """A measurement, and what follows from it."""

    report: BenchReport

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return bench_form(self.report)

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
        return "\n".join((*lines, "", *(one.reason for one in chosen if one is not None)))


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


def _text_words(run: BenchRun) -> str:
    difference = run.first_difference
    if difference is None:
        return "identical" if run.identical else "differs"
    words = {True: ", a numeric tie", False: ", not a tie", None: ""}
    return f"differs from token {difference.token_index + 1}{words[difference.is_numeric_tie]}"
