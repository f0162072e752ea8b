"""`dflash-desktop export-env`: the tools that export models, which are installed when needed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.cli.progress import StepProgress
from dflash_desktop.cli.result import (
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    ToldResult,
    print_event,
    problem_form,
)
from dflash_desktop.domain.export_environment import (
    ENVIRONMENTS,
    EnvironmentStage,
    EnvironmentState,
    EnvironmentStatus,
    export_environment,
)
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.cli.result import Result
    from dflash_desktop.domain.export_environment import EnvironmentProgress
    from dflash_desktop.services.export_environments import ExportEnvironments

HELP = """Install, look at or remove the tools that export models.

They are apart from the program, in its data folder, and every package is checked against the hash
with which it was tested. Models need different releases of transformers, so there are several of
them, and what they share is on the disk once. An export installs what it needs by itself.

examples:
  dflash-desktop export-env status
  dflash-desktop export-env install
  dflash-desktop export-env install transformers-5.2
  dflash-desktop export-env repair transformers-5.5
  dflash-desktop export-env remove --all
"""

_STATE_WORDS = {
    EnvironmentState.ABSENT: "not installed",
    EnvironmentState.INSTALLING: "being installed",
    EnvironmentState.READY: "ready",
    EnvironmentState.OUTDATED: "outdated",
    EnvironmentState.DAMAGED: "damaged",
}


def add_arguments(parser: ArgumentParser) -> None:
    """`export-env install|status|remove|repair [ID]`."""
    parser.add_argument(
        "action",
        choices=("install", "status", "remove", "repair"),
        help="install: get or update them; repair: check every file, and mend what is damaged",
    )
    parser.add_argument(
        "id",
        nargs="?",
        default="",
        metavar="ID",
        help=f"which: {', '.join(one.id for one in ENVIRONMENTS)} (the first unless you say it)",
    )
    parser.add_argument("--all", action="store_true", help="for remove: all of them")


async def run(args: Namespace, context: CommandContext) -> Result:
    """Do it, with progress on the way."""
    if args.action == "status":
        statuses = context.exporters.status()
        if args.id:
            wanted = export_environment(args.id)
            statuses = tuple(one for one in statuses if one.id == wanted.id)
        return ExportEnvResult(statuses)
    import asyncio  # takes longer than all that a help text needs

    telling = _Telling(as_json=args.json)
    try:
        await _change(args, context.exporters, telling)
    except asyncio.CancelledError:  # Ctrl+C
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        telling.failed(_INTERRUPTED)
        return ToldResult(EXIT_INTERRUPTED)
    except AppError as error:
        telling.failed(error.problem)
        return ToldResult(EXIT_FAULT)
    result = ExportEnvResult(context.exporters.status())
    if not args.json:
        return result
    print_event("done", result.as_json())
    return ToldResult(0)


_INTERRUPTED = Problem(
    code="interrupted",
    headline="Stopped.",
    advice="What arrived is kept: run the same command again to go on.",
)


async def _change(args: Namespace, environments: ExportEnvironments, telling: _Telling) -> None:
    environment_id = args.id or ENVIRONMENTS[0].id
    if args.action == "install":
        await environments.install(environment_id, telling.show)
    elif args.action == "repair":
        await environments.repair(environment_id, telling.show)
    else:
        if bool(args.id) == args.all:
            raise AppError(_ONE_OR_ALL)
        for one in [export_environment(args.id)] if args.id else ENVIRONMENTS:
            await environments.remove(one.id)


_ONE_OR_ALL = Problem(
    code="export_environment_unnamed",
    headline="It was not said which export tools shall go.",
    advice="Name them, or write --all: dflash-desktop export-env remove --all",
)


class _Telling:
    """Progress: for people on standard error, for programs one object a line."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._steps = StepProgress()
        self._told: tuple[EnvironmentStage, str, int] | None = None

    def show(self, progress: EnvironmentProgress) -> None:
        """Print what is new; of the bytes each percent."""
        if not self._as_json:
            self._steps.show(progress)
            return
        percent = 100 * progress.done_bytes // progress.total_bytes if progress.total_bytes else 0
        now = (progress.stage, progress.package, percent)
        if now == self._told:
            return
        self._told = now
        print_event(
            "progress",
            {
                "stage": progress.stage.value,
                "sentence": progress.sentence,
                "package": progress.package or None,
                "done_bytes": progress.done_bytes,
                "total_bytes": progress.total_bytes,
            },
        )

    def failed(self, problem: Problem) -> None:
        """Why not, and what to do next."""
        if self._as_json:
            print_event("failed", problem_form(problem))
        else:
            print(f"{problem.headline}\n{problem.advice}", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class ExportEnvResult:
    """All environments as they are now."""

    statuses: tuple[EnvironmentStatus, ...]

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {"environments": [_form(status) for status in self.statuses]}

    def as_text(self) -> str:
        """One paragraph for each."""
        return "\n\n".join(_paragraph(status) for status in self.statuses)


def _form(status: EnvironmentStatus) -> dict[str, object]:
    return {
        "id": status.id,
        "title": status.title,
        "state": status.state.value,
        "used_for": status.used_for,
        "size_bytes": status.size_bytes,
        "needed_bytes": status.needed_bytes,
        "is_development": status.is_development,
        "detail": status.detail,
    }


def _paragraph(status: EnvironmentStatus) -> str:
    if status.size_bytes:
        size = f", {format_bytes(status.size_bytes)} on the disk"
    elif status.needed_bytes:
        size = f", would take {format_bytes(status.needed_bytes)}"
    else:
        size = ""
    lines = [f"{status.id}: {_STATE_WORDS[status.state]}{size}", f"  for {status.used_for}"]
    if status.detail:
        lines.append(f"  {status.detail}")
    if status.state is EnvironmentState.OUTDATED:
        lines.append(f"  Run: dflash-desktop export-env install {status.id}")
    elif status.state is EnvironmentState.DAMAGED:
        lines.append(f"  Run: dflash-desktop export-env repair {status.id}")
    return "\n".join(lines)
