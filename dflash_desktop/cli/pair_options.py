"""The options with which every command that runs a model names its pair and its device."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.pair import PairFolders

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.cli.context import CommandContext
    from dflash_desktop.domain.pair import LoadedPair


def add_pair_arguments(parser: ArgumentParser) -> None:
    """`--target`, `--draft`, `--device`, `--kv-cache`; without any, the starter pair."""
    parser.add_argument(
        "--target",
        type=Path,
        metavar="FOLDER",
        help="an OpenVINO model to use instead of the starter pair",
    )
    parser.add_argument(
        "--draft", type=Path, metavar="FOLDER", help="the DFlash draft of that target"
    )
    parser.add_argument(
        "--device",
        default="",
        metavar="NAME",
        help="CPU, a part of a card's name (B580), or what else `dflash-desktop doctor` shows "
        "(default: the best one)",
    )
    parser.add_argument(
        "--kv-cache",
        type=KvCachePrecision,
        choices=list(KvCachePrecision),
        metavar="|".join(KvCachePrecision),
        help="how the KV cache is stored; f32 keeps the text exact (default: the device's)",
    )


def chosen_folders(args: Namespace, context: CommandContext) -> PairFolders:
    """The named folders, or the starter pair; raises `AppError` ("starter_missing")."""
    if args.target is None:
        return context.starter.pair()
    target: Path = args.target.resolve()
    draft: Path | None = args.draft.resolve() if args.draft else None
    return PairFolders(id=str(target), title=target.name, target_dir=target, draft_dir=draft)


async def load_pair(folders: PairFolders, args: Namespace, context: CommandContext) -> LoadedPair:
    """Load it on the named device or the best one; raises `AppError`."""
    from dflash_desktop.services.pair_loading import PairLoading  # no help text should wait

    loading = PairLoading(engine=context.engine, compile_cache_dir=context.paths.compile_cache_dir)
    return await loading.load(folders, device=args.device, kv_cache_precision=args.kv_cache)
