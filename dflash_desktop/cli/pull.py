"""`dflash-desktop pull`: download a pair or models, verify every byte, go on after any break."""

from __future__ import annotations

import argparse
import getpass
import signal
import sys
from typing import TYPE_CHECKING, Final

from dflash_desktop.cli.pull_output import PullOutput
from dflash_desktop.cli.result import EXIT_FAULT, EXIT_INTERRUPTED, ToldResult
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.transfer import RepoRequest, TransferRequest, TransferState, request_id

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Callable

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.services.downloads import Downloads

HELP = """Download models from a hub, verify every byte, and put them into the library.

NAME is a pair of the catalogue or of your own, by id or title, or models as OWNER/NAME; several
models are one transfer. What arrived is kept whatever happens: the same command goes on where it
stopped, and so does the window. Only one of them downloads at a time.

With --json each line is one object: planned, progress (several), and done or failed.
Exit codes: 0 in the library, 1 a fault that is explained, 2 wrong usage, 130 stopped by Ctrl+C.

examples:
  dflash-desktop pull OpenVINO/Qwen3-8B-int4-ov
  dflash-desktop pull owner/target owner/draft --limit 20
  dflash-desktop pull owner/model --include "*.xml" --include "*.bin" --revision v2
  dflash-desktop pull owner/gated-model --login
"""

_BYTES_PER_MEGABYTE: Final = 1_000_000


def add_arguments(parser: ArgumentParser) -> None:
    """What is wanted, from where, how fast, and with which token."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="a pair, or models as OWNER/NAME")
    parser.add_argument(
        "--revision", default="", metavar="R", help="a branch, a tag or a commit (default: main)"
    )
    parser.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="GLOB",
        help="only files of this pattern; may be repeated",
    )
    parser.add_argument(
        "--endpoint", default="", metavar="URL", help="another hub than in the settings"
    )
    parser.add_argument(
        "--limit", type=_megabytes, default=None, metavar="MB/S", help="no faster than this"
    )
    token = parser.add_mutually_exclusive_group()
    token.add_argument(
        "--login",
        action="store_true",
        help="ask for an access token and keep it in the system's keyring",
    )
    token.add_argument(
        "--token-from-stdin",
        action="store_true",
        help="read an access token from standard input, for this run only",
    )


def _megabytes(text: str) -> int:
    try:
        bytes_per_second = round(float(text) * _BYTES_PER_MEGABYTE)
    except (ValueError, OverflowError):
        bytes_per_second = 0
    if bytes_per_second < 50_000:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of MB/s from 0.05 on")
    return bytes_per_second


async def run(args: Namespace, context: CommandContext) -> ToldResult:
    """Plan, say what will come, and bring it in."""
    output = PullOutput(as_json=args.json)
    try:
        await _take_token(args, context)
        request = wanted(args, context)
        return await _pull(args, request, context, output)
    except AppError as error:
        output.failed(error.problem)
        return ToldResult(EXIT_FAULT)


async def _pull(
    args: Namespace, request: TransferRequest, context: CommandContext, output: PullOutput
) -> ToldResult:
    import asyncio  # takes longer than all that a help text needs

    downloads = context.open_downloads(endpoint=args.endpoint, max_bytes_per_second=args.limit)
    try:
        downloads.begin(only=request.id)
        _refuse_if_busy(downloads)
        output.planned(request, await downloads.plan(request))
        downloads.add(request, is_first=True)
        _refuse_if_busy(downloads)  # perhaps since then
        transfer = await _follow(downloads, request.id, output)
    except asyncio.CancelledError:  # Ctrl+C
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        if any(one.id == request.id for one in downloads.transfers()):
            downloads.pause(request.id)
        output.failed(_INTERRUPTED)
        return ToldResult(EXIT_INTERRUPTED)
    finally:
        await downloads.close()
    if transfer.problem is not None:
        raise AppError(transfer.problem)
    output.done(request, [context.models.find(repo.repo_id) for repo in request.repos])
    return ToldResult(0)


def _refuse_if_busy(downloads: Downloads) -> None:
    from dflash_desktop.services.transfer_problems import busy_elsewhere

    if not downloads.is_ours:
        raise AppError(busy_elsewhere())


async def _follow(downloads: Downloads, transfer_id: str, output: PullOutput) -> Transfer:
    """Tell how it goes until it has ended or only a person can help."""
    import asyncio

    news = asyncio.Event()
    unsubscribe = downloads.subscribe(news.set)
    try:
        while True:
            news.clear()
            transfer = next(one for one in downloads.transfers() if one.id == transfer_id)
            if transfer.state is TransferState.DONE or transfer.problem is not None:
                return transfer
            output.progress(transfer)
            await news.wait()
    finally:
        unsubscribe()


def wanted(args: Namespace, context: CommandContext) -> TransferRequest:
    """What the names mean. Raises `AppError`."""
    from dflash_desktop.domain.pair_request import request_for_pair
    from dflash_desktop.services.catalogue_store import load_catalogue

    if all(_is_repository(name) for name in args.names):
        repos = tuple(
            RepoRequest(name, args.revision or "main", tuple(args.include)) for name in args.names
        )
        return TransferRequest(request_id(repos), " with ".join(args.names), repos)
    named = " ".join(args.names).casefold()
    catalogue = load_catalogue(own_file=context.paths.own_pairs_file)
    for pair in catalogue.pairs:
        if named in (pair.id.casefold(), pair.title.casefold()):
            request = request_for_pair(pair)
            if request is None:
                raise AppError(_not_prebuilt(pair.title))
            if args.revision or args.include:
                raise AppError(_only_for_models())
            return request
    raise AppError(_unknown(" ".join(args.names)))


def _is_repository(name: str) -> bool:
    owner, slash, rest = name.partition("/")
    return bool(owner and slash and rest) and "/" not in rest and not any(map(str.isspace, name))


async def _take_token(args: Namespace, context: CommandContext) -> None:
    if not args.login and not args.token_from_stdin:
        return
    try:
        if args.token_from_stdin:
            context.tokens.use_for_this_run(_asked(sys.stdin.readline))
            return
        token = _asked(lambda: getpass.getpass("Access token (not shown): "))
        if not await context.tokens.keep(token):
            print(
                "This system has no keyring: the token is used for this run only.",
                file=sys.stderr,
            )
    except (ValueError, EOFError) as error:
        raise AppError(
            Problem(
                code="token_invalid",
                headline=str(error) or "No token was entered.",
                advice="Copy it whole from your account's page of access tokens on the hub.",
            )
        ) from error


def _asked(ask: Callable[[], str]) -> str:
    """A person's answer; asyncio's own handler would wait for it before it honours Ctrl+C."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return ask()
    finally:
        signal.signal(signal.SIGINT, handler)


_INTERRUPTED: Final = Problem(
    code="interrupted",
    headline="Stopped.",
    advice="What arrived is kept: run the same command again to go on, or resume in the window.",
)


def _unknown(name: str) -> Problem:
    return Problem(
        code="unknown_name",
        headline=f"There is no pair “{name}” in the catalogue, and it is no model of a hub.",
        advice="Write a model as OWNER/NAME. For the pairs, see: dflash-desktop recommend",
    )


def _not_prebuilt(title: str) -> Problem:
    return Problem(
        code="not_prebuilt",
        headline=f"“{title}” cannot be downloaded ready to run.",
        advice="Nobody offers all of its parts in OpenVINO's form on a hub that is known here.",
    )


def _only_for_models() -> Problem:
    return Problem(
        code="only_for_models",
        headline="A pair of the catalogue comes as it is listed there.",
        advice="Name its models as OWNER/NAME to choose a revision or files.",
    )
