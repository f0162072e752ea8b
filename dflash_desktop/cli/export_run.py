"""`dflash-desktop export run` and `export resume`: do it, under the memory guard."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final

from dflash_desktop.cli.export_output import ExportOutput
from dflash_desktop.cli.result import EXIT_FAULT, EXIT_INTERRUPTED, ToldResult
from dflash_desktop.domain.export_run import AT_REST
from dflash_desktop.domain.problems import AppError, Problem

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Awaitable, Callable

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.export_plan import ExportPlan
    from dflash_desktop.domain.export_run import ExportRun
    from dflash_desktop.services.exports import Exports

_BYTES_PER_GIGABYTE: Final = 1_000_000_000


def add_run_options(parser: ArgumentParser) -> None:
    """What holds for starting and for going on."""
    parser.add_argument(
        "--memory-limit",
        type=_gigabytes,
        default=None,
        metavar="GB",
        help="stop the export when it takes more (default: as in the settings)",
    )
    parser.add_argument(
        "--log", action="store_true", help="show what the exporter prints, on standard error"
    )


def add_resume_options(parser: ArgumentParser) -> None:
    """Which export goes on."""
    parser.add_argument(
        "id",
        nargs="?",
        default="",
        metavar="ID",
        help="which export (default: the only one there is)",
    )
    add_run_options(parser)


def _gigabytes(text: str) -> int:
    try:
        limit_bytes = round(float(text) * _BYTES_PER_GIGABYTE)
    except (ValueError, OverflowError):
        limit_bytes = 0
    if limit_bytes <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of GB")
    return limit_bytes


async def run_plan(
    args: Namespace, context: CommandContext, planning: Awaitable[ExportPlan]
) -> ToldResult:
    """Plan it, and run it to its end."""
    output = ExportOutput(as_json=args.json, shows_log=args.log)
    try:
        plan = await planning
        return await _follow(args, context, output, lambda exports: exports.start(plan))
    except AppError as error:
        output.failed(error.problem)
        return ToldResult(EXIT_FAULT)


async def resume(args: Namespace, context: CommandContext) -> ToldResult:
    """Go on with one that failed, was cut off or stopped."""
    output = ExportOutput(as_json=args.json, shows_log=args.log)

    def begin(exports: Exports) -> ExportRun:
        run = _chosen(exports, args.id)
        exports.resume(run.id)
        return run

    try:
        return await _follow(args, context, output, begin)
    except AppError as error:
        output.failed(error.problem)
        return ToldResult(EXIT_FAULT)


async def _follow(
    args: Namespace,
    context: CommandContext,
    output: ExportOutput,
    begin: Callable[[Exports], ExportRun],
) -> ToldResult:
    import asyncio  # takes longer than all that a help text needs

    exports = context.open_exports(limit_bytes=args.memory_limit)
    run: ExportRun | None = None
    try:
        await exports.tidy()
        run = begin(exports)
        run = await _until_over(exports, run.id, output)
    except asyncio.CancelledError:  # Ctrl+C
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        await exports.close()
        output.failed(_interrupted(run), run=run)
        return ToldResult(EXIT_INTERRUPTED)
    finally:
        await exports.close()
    if run.problem is not None:
        output.failed(run.problem, run=run)
        return ToldResult(EXIT_FAULT)
    output.done(run)
    return ToldResult(0)


async def _until_over(exports: Exports, run_id: str, output: ExportOutput) -> ExportRun:
    import asyncio

    news = asyncio.Event()
    unsubscribe = exports.subscribe(news.set)
    try:
        while True:
            news.clear()
            run = next(one for one in exports.runs() if one.id == run_id)
            output.show(run)
            if run.state in AT_REST:
                return run
            await news.wait()
    finally:
        unsubscribe()


def _chosen(exports: Exports, wanted: str) -> ExportRun:
    open_runs = [run for run in exports.runs() if run.id.startswith(wanted)]
    if len(open_runs) == 1:
        return open_runs[0]
    raise AppError(_which(exports.runs()))


def _which(runs: tuple[ExportRun, ...]) -> Problem:
    if not runs:
        return Problem(
            code="no_such_export",
            headline="There is no export to go on with.",
            advice="Start one with: dflash-desktop export run",
        )
    listed = "; ".join(f"{run.id}: {run.plan.request.title}" for run in runs)
    return Problem(
        code="no_such_export",
        headline="It is not clear which export shall go on.",
        advice=f"Name one of these: {listed}",
    )


def _interrupted(run: ExportRun | None) -> Problem:
    again = "dflash-desktop export resume" + (f" {run.id}" if run is not None else "")
    return Problem(
        code="interrupted",
        headline="Stopped.",
        advice=f"Finished stages are kept, and nothing runs any more. To go on: {again}",
    )
