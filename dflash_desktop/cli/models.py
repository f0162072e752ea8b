"""`dflash-desktop models`: what models are on this disk, and all that one does with them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.cli.models_results import (
    CacheResult,
    LeftoversResult,
    ModelResult,
    ModelsResult,
    PlaceResult,
    RemovalResult,
    ReportsResult,
)
from dflash_desktop.cli.progress import ByteProgress
from dflash_desktop.cli.result import answer_with_grades
from dflash_desktop.domain.library import LeftoverKind, ModelCondition
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.starter import StarterState

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.cli.result import Result
    from dflash_desktop.domain.library import Leftover, VerificationReport

HELP = """The models on this disk: list, verify, repair, remove, add, move, leftovers, cache.

Whatever is deleted is first seen to be wholly the program's own; an added folder is never touched.
The exit code is 0 when all is good, 1 when something was refused, and 2 for wrong usage. That of
`verify` and `repair` is 1 when a model is damaged. A fault is 2 as well: nothing says that
it is good.

examples:
  dflash-desktop models list --json
  dflash-desktop models verify --all
  dflash-desktop models repair owner/name
  dflash-desktop models remove owner/name --dry-run
  dflash-desktop models add /media/stick/Qwen3-4B-int4-ov
  dflash-desktop models move /media/large-disk
  dflash-desktop models leftovers --remove
  dflash-desktop models cache --clear
"""

_ACTIONS = {
    "list": "all models, with size, kind, commit and when they were verified",
    "verify": "compare every byte with what was downloaded",
    "repair": "verify, then fetch the files that are bad, and only these",
    "remove": "delete a model; an added folder is only forgotten",
    "add": "use a model folder where it is, without copying it",
    "move": "move all models to another disk, verified, with nothing lost if it is cut off",
    "leftovers": "what takes room for nothing",
    "cache": "what the runtime keeps of compiled models",
}


def add_arguments(parser: ArgumentParser) -> None:
    """One sub-command for each action, each with `--json`, too."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    parsers: dict[str, ArgumentParser] = {}
    for name, summary in _ACTIONS.items():
        parsers[name] = actions.add_parser(
            name, help=summary, description=f"{summary.capitalize()}.", allow_abbrev=False
        )
        parsers[name].add_argument(
            "--json",
            action="store_true",
            default=argparse.SUPPRESS,  # what was said before the action stays said
            help="print one JSON object on standard output (its fields: docs/json.md)",
        )
    for name in ("repair", "remove"):
        parsers[name].add_argument("model", metavar="ID", help="as `models list` shows it")
    which = parsers["verify"].add_mutually_exclusive_group(required=True)
    which.add_argument("model", nargs="?", metavar="ID", help="as `models list` shows it")
    which.add_argument("--all", action="store_true", help="all models that are there now")
    parsers["remove"].add_argument(
        "--dry-run", action="store_true", help="only say what would be freed"
    )
    for name in ("verify", "repair"):
        answer_with_grades(parsers[name])
    parsers["add"].add_argument("folder", type=Path, metavar="FOLDER")
    parsers["add"].add_argument("--title", default="", help="how the window calls it")
    parsers["move"].add_argument("folder", type=Path, metavar="FOLDER", help="the new place")
    parsers["leftovers"].add_argument(
        "--remove",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="remove these; without PATH all but those that may be yours",
    )
    parsers["cache"].add_argument("--clear", action="store_true", help="delete what is not in use")


async def run(args: Namespace, context: CommandContext) -> Result:
    """Do it, with progress on standard error; raises `AppError`."""
    match args.action:
        case "list":
            return ModelsResult(
                context.models.models(),
                context.paths.library_dir,
                context.models.absence(),
                # Only the words name it, and looking imports half of the program.
                None if args.json else _starter_dir(context),
            )
        case "verify":
            return await _verify(args, context)
        case "repair":
            return await _repair(args.model, context)
        case "remove":
            plan = await context.models.plan_removal(args.model)
            if not args.dry_run:
                await context.models.remove(args.model)
            return RemovalResult(plan, is_removed=not args.dry_run)
        case "add":
            model = await context.models.add_folder(args.folder, args.title)
            await _verified(model.id, context)
            return ModelResult(context.models.known(model.id))
        case "move":
            progress = ByteProgress("Moving")
            try:
                return PlaceResult(await context.upkeep.move(args.folder, progress.show))
            finally:
                progress.end()
        case "leftovers":
            return await _leftovers(args.remove, context)
        case _:
            return await _cache(context, is_clearing=args.clear)


def _starter_dir(context: CommandContext) -> Path | None:
    starter = context.starter.status()
    return starter.target_path if starter.state is StarterState.READY else None


async def _verify(args: Namespace, context: CommandContext) -> ReportsResult:
    if not args.all:
        return ReportsResult((await _verified(args.model, context),))
    present = [m for m in context.models.models() if m.condition is not ModelCondition.ABSENT]
    return ReportsResult(tuple([await _verified(model.id, context) for model in present]))


async def _verified(model_id: str, context: CommandContext) -> VerificationReport:
    progress = ByteProgress(f"Verifying {model_id}")
    try:
        return await context.models.verify(model_id, progress.show)
    finally:
        progress.end()


async def _repair(model_id: str, context: CommandContext) -> ReportsResult:
    verifying = ByteProgress(f"Verifying {model_id}")
    fetching = ByteProgress(f"Fetching for {model_id}")
    try:
        repaired = await context.refetch.verify_and_repair(
            model_id, on_verify=verifying.show, on_fetch=fetching.show
        )
    finally:
        verifying.end()
        fetching.end()
    return ReportsResult((repaired.report,), repaired.paths, is_repair=True)


async def _leftovers(wanted: list[Path] | None, context: CommandContext) -> LeftoversResult:
    found = await context.upkeep.leftovers()
    if wanted is None:
        return LeftoversResult(found, frozenset())
    chosen = [one for one in found if one.kind is not LeftoverKind.UNKNOWN]
    if wanted:
        chosen = [_named(path, found) for path in wanted]
    for leftover in chosen:
        await context.upkeep.remove_leftover(leftover)
    return LeftoversResult(found, frozenset(one.path for one in chosen))


def _named(path: Path, found: tuple[Leftover, ...]) -> Leftover:
    for leftover in found:
        if leftover.path == path.absolute():
            return leftover
    raise AppError(
        Problem(
            code="no_leftover",
            headline=f"“{path}” is not left over from anything.",
            advice="See what is: dflash-desktop models leftovers",
        )
    )


async def _cache(context: CommandContext, *, is_clearing: bool) -> CacheResult:
    before = await context.upkeep.compile_cache()
    if not is_clearing:
        return CacheResult(before, 0)
    after = await context.upkeep.clear_compile_cache()
    return CacheResult(after, before.size_bytes - after.size_bytes)
