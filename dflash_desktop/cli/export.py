"""`dflash-desktop export`: make OpenVINO models of checkpoints that nobody has converted."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from dflash_desktop.cli.export_options import add_export_options, export_request
from dflash_desktop.cli.result import answer_with_grades

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.cli.result import Result

HELP = """Export a target, a DFlash draft, or both from their checkpoints.

The plan says what will run, what it takes, and whether it can work here; it starts nothing, and of
a hub it fetches small files only. Its exit code is 0 when the export fits or is tight, and 1 when
it cannot work here. A fault is 2.

examples:
  dflash-desktop export plan --target Qwen/Qwen3-8B --draft z-lab/Qwen3-8B-DFlash-b16
  dflash-desktop export plan --draft ./draft.gguf --draft-weights int4 --group-size 16 --json
"""

_ACTIONS = {
    "plan": "what an export would run and take, and whether it can work here",
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
        add_export_options(action)
        answer_with_grades(action)


async def run(args: Namespace, context: CommandContext) -> Result:
    """Do what the action says."""
    from dflash_desktop.cli.export_plan_result import ExportPlanResult

    request = export_request(args)
    return ExportPlanResult(await context.export_planning.plan(request, output_dir=args.output))
