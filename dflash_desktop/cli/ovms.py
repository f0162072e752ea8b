"""`dflash-desktop ovms`: serve a pair with OpenVINO Model Server, or judge that server's log."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.cli.finding_words import exit_code_of, finding_form, finding_paragraph
from dflash_desktop.cli.model_arguments import add_models_or_else, chosen_models
from dflash_desktop.cli.result import answer_with_grades
from dflash_desktop.domain.model_facts import VISION_GRAPH
from dflash_desktop.domain.ovms_files import ServedPair, configure_command, serve_command
from dflash_desktop.domain.ovms_log import LogReading, LogVerdict
from dflash_desktop.domain.pair_contract import Finding, Verdict, Weight, verdict_of
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.shell_words import Shell, command_line, shells_of
from dflash_desktop.workers.model_folder import has_own_head

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext

HELP = """Serve a pair with OpenVINO Model Server: write its files, or judge its log.

Writes graph.pbtxt and ovms_config.json for a pair that keeps the contract, and prints the command
lines that start the server; nothing is started or sent. --check-log reads a log of the server (-:
from standard input) and says whether the draft was attached as DFlash. Exit codes: 0 good, 1
warnings or not sure, 2 the pair is blocked or the draft is not attached. A fault is 2 as well:
nothing says that it is good.

examples:
  dflash-desktop ovms starter --output serve
  dflash-desktop ovms TARGET DRAFT --output serve --device GPU --rest-port 8000
  dflash-desktop ovms --check-log ovms.log
"""

_LOG_EXIT_CODES = {
    LogVerdict.ATTACHED: 0,
    LogVerdict.STARTING: 1,
    LogVerdict.NOTHING_LOADED: 1,
    LogVerdict.OTHER_STRATEGY: 2,
    LogVerdict.NOT_ATTACHED: 2,
    LogVerdict.FAILED: 2,
}
_LAST_PORT = 65_535


def add_arguments(parser: ArgumentParser) -> None:
    """The pair and what to make of it, or a log."""
    answer_with_grades(parser)
    add_models_or_else(parser).add_argument(
        "--check-log", metavar="FILE", help="the server's log, or - to paste it; no pair is needed"
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="where to write (default: ovms-NAME in the current folder)",
    )
    parser.add_argument(
        "--device",
        default="",
        metavar="NAME",
        help="CPU, GPU, GPU.1 …: as `dflash-desktop doctor` shows them (default: the best one)",
    )
    parser.add_argument("--name", default="", help="what the server calls the model")
    parser.add_argument(
        "--rest-port", type=_port, default=8000, metavar="PORT", help="where it listens (8000)"
    )


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdecimal() else 0
    if not 0 < port <= _LAST_PORT:
        raise ArgumentTypeError(f"{text} is not a port: 1 to {_LAST_PORT}")
    return port


async def run(args: Namespace, context: CommandContext) -> OvmsResult:
    """Write the files or judge the log; raises `AppError`."""
    import asyncio  # no help text should wait for what only the work needs

    if args.check_log is not None:
        return OvmsResult(log=await asyncio.to_thread(_read_log, args.check_log))
    from dflash_desktop.services.model_inspection import check_folders
    from dflash_desktop.services.ovms_setup import write_ovms_files

    target, draft = chosen_models(args, context)
    if draft == target and has_own_head(target):
        raise AppError(_OWN_HEAD)
    if draft is None:
        raise AppError(_NO_DRAFT)
    findings = await asyncio.to_thread(check_folders, target, draft)
    if verdict_of(findings) is Verdict.BLOCKED:
        return OvmsResult(findings=findings)
    models = context.models.models()
    pair = ServedPair(
        name=args.name or next((m.id for m in models if m.path == target), target.name),
        target_path=target.as_posix(),
        draft_path=draft.as_posix(),
        device=await _device(args.device, context),
        is_vision=(target / VISION_GRAPH).is_file(),
    )
    folder = await asyncio.to_thread((args.output or Path(f"ovms-{pair.name}")).resolve)
    files = await asyncio.to_thread(write_ovms_files, pair, folder)
    serve = serve_command(files[1].as_posix(), rest_port=args.rest_port)
    lines = tuple(
        CommandLine(purpose, shell, command_line(words, shell))
        for purpose, words in (("serve", serve), ("configure", configure_command(pair)))
        for shell in shells_of(sys.platform)
    )
    return OvmsResult(findings=findings, files=files, commands=lines)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """One line to paste into one shell."""

    purpose: str  # "serve": with the files written here; "configure": the server writes its own
    shell: Shell
    line: str


@dataclass(frozen=True, slots=True)
class OvmsResult:
    """What was written and how it is used, or what a log says."""

    findings: tuple[Finding, ...] = ()
    files: tuple[Path, ...] = ()
    commands: tuple[CommandLine, ...] = ()
    log: LogReading | None = None

    @property
    def exit_code(self) -> int:
        """For scripts: 0 good, 1 warnings, 2 blocked."""
        return (
            exit_code_of(self.findings) if self.log is None else _LOG_EXIT_CODES[self.log.verdict]
        )

    def as_json(self) -> dict[str, object]:
        """The form in docs/json.md."""
        log = self.log and {
            "verdict": self.log.verdict,
            "strategies": list(self.log.strategies),
            "is_available": self.log.is_available,
            "errors": list(self.log.errors),
            "words": self.log.words,
        }
        return {
            "verdict": None if self.log else verdict_of(self.findings),
            "findings": [finding_form(finding) for finding in self.findings],
            "files": [str(file) for file in self.files],
            "commands": [
                {"purpose": one.purpose, "shell": one.shell, "line": one.line}
                for one in self.commands
            ],
            "log": log,
        }

    def as_text(self) -> str:
        """What to paste, or what the log says."""
        if self.log is not None:
            return "\n\n".join([self.log.words, *self.log.errors])
        left = [finding for finding in self.findings if finding.weight is not Weight.INFO]
        paragraphs = [finding_paragraph(finding) for finding in left]
        if not self.files:
            paragraphs.insert(0, "This pair cannot work, so nothing was written.")
            return "\n\n".join(paragraphs)
        paragraphs.append("Written:\n" + "\n".join(f"  {file}" for file in self.files))
        paragraphs += [
            _lines("Start the server with these files:", self.commands, "serve"),
            _lines("Or let a server from 2026.4 on write its own:", self.commands, "configure"),
            _USE,
        ]
        return "\n\n".join(paragraphs)


_USE = """\
A draft decodes greedily and one request at a time: send "temperature": 0, and as
"num_assistant_tokens" what `dflash-desktop bench` finds best. Then look at the server's log:
  dflash-desktop ovms --check-log FILE"""

_NO_DRAFT = Problem(
    code="draft_missing",
    headline="Only a target was named.",
    advice="Name the draft, too, or the id of a pair: dflash-desktop ovms TARGET DRAFT",
)

_OWN_HEAD = Problem(
    code="own_head_not_served",
    headline="This pair's draft is the target's own head (MTP).",
    advice="Whether OpenVINO Model Server drafts with it was not tried, so no files are written. "
    "Name a DFlash draft: dflash-desktop ovms TARGET DRAFT",
)


def _lines(title: str, commands: tuple[CommandLine, ...], purpose: str) -> str:
    chosen = [one for one in commands if one.purpose == purpose]
    several = len(chosen) > 1
    return "\n".join(
        [title, *(f"  {f'{one.shell}: ' if several else ''}{one.line}" for one in chosen)]
    )


async def _device(wanted: str, context: CommandContext) -> str:
    if wanted:
        return wanted.strip().upper()
    from dflash_desktop.domain.devices import choose_device

    return choose_device(await context.engine.devices()).id


def _read_log(name: str) -> LogReading:
    from dflash_desktop.services.ovms_setup import read_log

    if name == "-":
        return read_log(sys.stdin.buffer)
    try:
        with Path(name).open("rb") as file:
            return read_log(file)
    except OSError as error:
        raise AppError(
            Problem(
                code="log_unreadable",
                headline=f"“{Path(name).name}” cannot be opened.",
                advice="Check the path and the rights of the log.",
                detail=str(error),
            )
        ) from error
