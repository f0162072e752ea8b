"""`dflash-desktop export`: make OpenVINO models of checkpoints that nobody has converted."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dflash_desktop.cli.export_options import add_export_options, export_request
from dflash_desktop.cli.export_run import add_resume_options, add_run_options
from dflash_desktop.cli.result import answer_with_grades

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.cli.result import Result
    from dflash_desktop.domain.export_plan import ExportPlan

HELP = """Export a target, a DFlash draft, or both from their checkpoints.

The plan says what will run, what it takes, and whether it can work here; it starts nothing, and of
a hub it fetches small files only. Its exit code is 0 when the export fits or is tight, and 1 when
it cannot work here. A fault is 2.

A run does it under the memory guard, which stops it before the machine suffers, and puts models
that are right into the library. Whatever ends it, finished stages are kept: resume goes on.
With --json each line is one object: stage, progress, memory, and done or failed. Its exit codes: 0
done, 1 a fault that is explained, 2 wrong usage, 130 stopped by Ctrl+C.

examples:
  dflash-desktop export run --target ./Qwen3-4B --memory-limit 20
  dflash-desktop export resume
  dflash-desktop export plan --target Qwen/Qwen3-8B --draft z-lab/Qwen3-8B-DFlash-b16
  dflash-desktop export plan --draft ./draft.gguf --draft-weights int4 --group-size 16 --json
"""

_ACTIONS = {
    "plan": "what an export would run and take, and whether it can work here",
    "run": "plan it, and do it under the memory guard",
    "resume": "go on with an export at its last finished stage",
}


def add_arguments(parser: ArgumentParser) -> None:
    """One sub-command for each action, each with `--json`, too."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, summary in _ACTIONS.items():
        action = actions.add_parser(
            name, help=summary, description=f"{summary.capitalize()}.", allow_abbrev=False
        )
        action.add_argument(
            "--json",
            action="store_true",
            default=argparse.SUPPRESS,  # what was said before the action stays said
            help="print JSON on standard output (its fields: docs/json.md)",
        )
        match name:
            case "plan":
                add_export_options(action)
                answer_with_grades(action)
            case "run":
                add_export_options(action)
                add_run_options(action)
            case _:
                add_resume_options(action)


async def run(args: Namespace, context: CommandContext) -> Result:
    """Do what the action says."""
    from dflash_desktop.cli.export_plan_result import ExportPlanResult
    from dflash_desktop.cli.export_run import resume, run_plan

    if args.action == "resume":
        return await resume(args, context)
    planning = _plan(args, context)
    if args.action == "run":
        return await run_plan(args, context, planning)
    return ExportPlanResult(await planning)


async def _plan(args: Namespace, context: CommandContext) -> ExportPlan:
    return await context.export_planning.plan(export_request(args), output_dir=args.output)
