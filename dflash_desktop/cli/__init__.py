"""The command line, `dflash-desktop COMMAND`: find the command, run it, print the outcome.

Exit codes: 0 done, 1 a fault that is explained, 2 wrong usage, 130 interrupted by the person,
141 the reader of our output went away. Commands whose exit code grades (`verify`, `check` …)
answer with 1 and 2 as their help says, and with 2 to a fault.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import os
import sys
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, Protocol, cast

from dflash_desktop import __version__
from dflash_desktop.cli.context import CommandContext
from dflash_desktop.cli.result import (
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    JSON_VERSION,
    PrintedResult,
    ResultWithExitCode,
    fault_code_of,
    problem_form,
)
from dflash_desktop.domain.problems import AppError, CancelledByPersonError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from dflash_desktop.cli.result import Result

_log = logging.getLogger(__name__)

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_READER_GONE = 141

PROGRAM = "dflash-desktop"

EXAMPLES = f"""\
examples:
  {PROGRAM}                             open the window
  {PROGRAM} starter install             get the small model for a first try
  {PROGRAM} chat --prompt "Hello"       ask one question
  {PROGRAM} image "A lighthouse"        make a picture
  {PROGRAM} bench --fast                measure what the draft gains here
  {PROGRAM} recommend                   which models fit this machine
  {PROGRAM} pull OWNER/NAME             download a model and verify every byte
  {PROGRAM} verify TARGET DRAFT         find out why a draft does not help
  {PROGRAM} import MODEL.gguf           make a target of a GGUF file
  {PROGRAM} repair TARGET DRAFT         mend what metadata alone can mend
  {PROGRAM} models list                 which models are on this disk
  {PROGRAM} check TARGET DRAFT          run it with and without the draft: does it pay?
  {PROGRAM} export plan --target SOURCE   what making a model of a checkpoint takes
  {PROGRAM} ovms TARGET DRAFT           files for OpenVINO Model Server
  {PROGRAM} record TARGET DRAFT         what decides its speed, to share and compare
  {PROGRAM} export-env install          get the tools that export models
  {PROGRAM} self-test                   is this installation whole?
  {PROGRAM} doctor --json               devices and versions, for a program

Each command explains itself: {PROGRAM} chat --help
"""


class Command(Protocol):
    """What each module of a command offers; the first line of HELP is its summary."""

    @property
    def HELP(self) -> str:  # noqa: N802 - as the modules call it
        """What it says about itself."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's own arguments."""

    async def run(self, args: argparse.Namespace, context: CommandContext) -> Result:
        """Do it; raises `AppError` for what a person must know."""


class _Named:
    """A command by the name of its module, which is imported when it is first looked at.

    All of them together take longer than most have to do.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @cached_property
    def _command(self) -> Command:
        return cast("Command", import_module(f"{__name__}.{self._name}"))

    @property
    def HELP(self) -> str:  # noqa: N802 - as the modules call it
        """What it says about itself."""
        return self._command.HELP

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's own arguments."""
        self._command.add_arguments(parser)

    async def run(self, args: argparse.Namespace, context: CommandContext) -> Result:
        """Do it."""
        return await self._command.run(args, context)


# These are no names of Python modules.
_MODULES = {"import": "import_gguf", "self-test": "self_test", "export-env": "export_env"}
COMMANDS: Mapping[str, Command] = {
    name: _Named(_MODULES.get(name, name))
    for name in (
        "starter",
        "chat",
        "image",
        "bench",
        "recommend",
        "pull",
        "models",
        "doctor",
        "verify",
        "repair",
        "import",
        "export",
        "ovms",
        "record",
        "check",
        "self-test",
        "export-env",
    )
}


class UsageError(Exception):
    """The arguments make no sense; `program` is the command whose help explains them."""

    def __init__(self, message: str, *, program: str) -> None:
        super().__init__(message)
        self.program = program


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message, program=self.prog)


def build_parser(arguments: Sequence[str] = ()) -> argparse.ArgumentParser:
    """The whole command line; parsing raises `UsageError` where argparse would exit.

    Where `arguments` begin with a command, its parser is enough.
    """
    wanted = arguments[:1] if arguments[:1] and arguments[0] in COMMANDS else tuple(COMMANDS)
    parser = _Parser(
        prog=PROGRAM,
        description="Chat with language models on this machine, sped up by DFlash drafts.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in wanted:
        command = COMMANDS[name]
        summary, _, rest = command.HELP.strip().partition("\n")
        subparser = commands.add_parser(
            name,
            help=summary,
            description=f"{summary}\n{rest}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        subparser.add_argument(
            "--json",
            action="store_true",
            help="print one JSON object on standard output (its fields: docs/json.md)",
        )
        command.add_arguments(subparser)
    return parser


def main(
    arguments: Sequence[str],
    *,
    open_context: Callable[[], CommandContext] = CommandContext.of_this_installation,
) -> int:
    """Run one command line and return its exit code."""
    _speak_utf8()
    try:
        code = _answer(arguments, open_context)
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes standard output once more on its way out: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_READER_GONE
    return code


def _answer(arguments: Sequence[str], open_context: Callable[[], CommandContext]) -> int:
    as_json = "--json" in arguments
    fault_code = EXIT_FAULT
    try:
        args = build_parser(arguments).parse_args(arguments)
        fault_code = fault_code_of(args)
        output, exit_code = _run(COMMANDS[args.command], args, open_context)
    except SystemExit as end:  # --help and --version
        return EXIT_OK if end.code is None else int(end.code)
    except UsageError as error:
        _report(_usage_problem(error), as_json=as_json)
        return EXIT_USAGE
    except AppError as error:
        _report(error.problem, as_json=as_json)
        return fault_code
    except (KeyboardInterrupt, CancelledByPersonError):
        _report(INTERRUPTED, as_json=as_json)
        return EXIT_INTERRUPTED
    if output:
        print(output)
    return exit_code


INTERRUPTED = Problem(
    code="interrupted",
    headline="Stopped.",
    advice="Run the command again to start over.",
)


def _usage_problem(error: UsageError) -> Problem:
    return Problem(
        code="usage",
        headline=f"{PROGRAM} did not understand: {error}.",
        advice=f"See: {error.program} --help",
    )


def _run(
    command: Command, args: argparse.Namespace, open_context: Callable[[], CommandContext]
) -> tuple[str, int]:
    """What the command has to say, in the form that was asked for, and its exit code."""
    import asyncio  # takes longer than all that a help text needs

    async def run_in_context() -> tuple[str, int]:
        async with open_context() as context:
            try:
                result = await command.run(args, context)
                if isinstance(result, PrintedResult):
                    return "", result.exit_code
                text = _json_text(result.as_json()) if args.json else result.as_text()
            except (AppError, CancelledByPersonError, BrokenPipeError):
                raise
            except Exception as error:
                _log.exception("%s failed", args.command)
                raise AppError(_internal_problem(error, log_file=context.log_file)) from error
        return text, result.exit_code if isinstance(result, ResultWithExitCode) else EXIT_OK

    return asyncio.run(run_in_context())


def _internal_problem(error: Exception, *, log_file: Path) -> Problem:
    return Problem(
        code="internal_error",
        headline="The program made a mistake of its own and had to stop.",
        advice=f"Try again. If it happens again, report it with the end of {log_file}.",
        detail=repr(error),
    )


def _report(problem: Problem, *, as_json: bool) -> None:
    if not as_json:
        print(f"{problem.headline}\n{problem.advice}", file=sys.stderr)
        return
    print(_json_text({"error": problem_form(problem)}))


def _json_text(fields: Mapping[str, object]) -> str:
    # ASCII: a program may read us with any encoding. NaN is no JSON, and no number of ours.
    return json.dumps({"json_version": JSON_VERSION, **fields}, allow_nan=False, indent=2)


def _speak_utf8() -> None:
    """Windows gives a pipe the code page of 1990; characters nobody can show must not end us."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            encoding = "utf-8" if sys.platform == "win32" else None
            stream.reconfigure(encoding=encoding, errors="backslashreplace")
