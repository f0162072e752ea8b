"""The options with which every command that runs a model names its pair and its device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.cli.model_arguments import chosen_models
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.pair import PairFolders

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.pair import LoadedPair
    from dflash_desktop.services.pair_loading import PairLoading

EXACT = "exact"
"""In place of a precision: the one that was proven to keep the text."""


def add_pair_arguments(parser: ArgumentParser) -> None:
    """`--target`, `--draft`, `--device`, `--kv-cache`; without any, the starter pair."""
    parser.add_argument(
        "--target",
        metavar="MODEL",
        help="what to use instead of the starter pair: the folder of an OpenVINO model, or the id "
        "of a model or pair in the library",
    )
    parser.add_argument(
        "--draft",
        metavar="MODEL",
        help="the DFlash draft of that target: its folder or its id; the target once more means "
        "its own head (MTP)",
    )
    add_run_arguments(parser)


def add_run_arguments(parser: ArgumentParser) -> None:
    """`--device`, `--kv-cache`."""
    parser.add_argument(
        "--device",
        default="",
        metavar="NAME",
        help="CPU, a part of a card's name (B580), or what else `dflash-desktop doctor` shows "
        "(default: the best one)",
    )
    parser.add_argument(
        "--kv-cache",
        choices=[*KvCachePrecision, EXACT],
        metavar="|".join((*KvCachePrecision, EXACT)),
        help="how the KV cache is stored; exact takes the precision that a measurement proved to "
        "keep the text here, f32 without one (default: the device's)",
    )


def chosen_folders(args: Namespace, context: CommandContext) -> PairFolders:
    """The named pair, or the starter pair.

    Raises `AppError`: "starter_missing", or "model_not_found" for what is nowhere.
    """
    if args.target is None:
        return context.starter.pair()
    is_folder = Path(args.target).is_dir()
    pair = None if args.draft or is_folder else context.pairs.find(args.target)
    if pair is not None:
        return pair
    target, draft = chosen_models(args, context)
    model = None if is_folder else context.models.find(args.target)
    title = target.name if model is None else model.title
    return PairFolders(id=str(target), title=title, target_dir=target, draft_dir=draft)


async def load_pair(folders: PairFolders, args: Namespace, context: CommandContext) -> LoadedPair:
    """Load it on the named device or the best one; raises `AppError`."""
    return await pair_loading(context).load(
        folders,
        device=args.device,
        kv_cache_precision=chosen_precision(args),
        exact=args.kv_cache == EXACT,
    )


def pair_loading(context: CommandContext) -> PairLoading:
    """What loads pairs for a command."""
    from dflash_desktop.services.pair_loading import PairLoading  # no help text should wait

    return PairLoading(
        engine=context.engine,
        compile_cache_dir=context.paths.compile_cache_dir,
        note_used=context.models.note_used,
        measurements=context.measurements,
    )


def chosen_precision(args: Namespace) -> KvCachePrecision | None:
    """The named precision; None for the device's own and for "exact"."""
    wanted: str | None = args.kv_cache
    return None if wanted in {None, EXACT} else KvCachePrecision(wanted)
