"""How the commands that look into models are told which ones: folders, or ids of the library."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.shell_words import Shell, command_line

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace, _MutuallyExclusiveGroup

    from dflash_desktop.cli.context import CommandContext


def add_model_arguments(parser: ArgumentParser) -> None:
    """The target, and the draft if there is one."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="the target's folder, or the id of a model or pair in the library, for instance: "
        "starter",
    )
    _add_draft(parser)


def add_models_or_else(parser: ArgumentParser) -> _MutuallyExclusiveGroup:
    """The target and the draft, or instead of them what the caller adds to the returned group."""
    either = parser.add_mutually_exclusive_group(required=True)
    either.add_argument(
        "target",
        nargs="?",
        metavar="TARGET",
        help="the target's folder, or the id of a model or pair in the library",
    )
    _add_draft(parser)
    return either


def chosen_models(args: Namespace, context: CommandContext) -> tuple[Path, Path | None]:
    """The folders that are meant; the id of a pair alone means the pair. Raises `AppError`."""
    target: str = args.target
    draft: str | None = args.draft
    target_pair = None if Path(target).is_dir() else context.pairs.find(target)
    target_dir = target_pair.target_dir if target_pair else model_folder(target, context)
    if draft is None:
        return target_dir, target_pair.draft_dir if target_pair else None
    draft_pair = None if Path(draft).is_dir() else context.pairs.find(draft)
    return target_dir, (draft_pair.draft_dir if draft_pair else None) or model_folder(
        draft, context
    )


def model_folder(name: str, context: CommandContext) -> Path:
    """The folder, or the library's model of that id. Raises `AppError`."""
    folder = Path(name).resolve()
    if folder.is_dir():
        return folder
    if model := context.models.find(name):
        return model.path
    raise AppError(
        Problem(
            code="model_not_found",
            headline=f"“{name}” is no folder, and no model or pair of the library.",
            advice="Name the folder that holds openvino_model.xml.",
        )
    )


def own_command(*words: str) -> str:
    """A command of this program as one line to paste, whatever the folders are called.

    On Windows quoted as cmd wants it, which PowerShell mostly reads alike.
    """
    shell = Shell.CMD if sys.platform == "win32" else Shell.SH
    return command_line(("dflash-desktop", *words), shell)


def _add_draft(parser: ArgumentParser) -> None:
    parser.add_argument(
        "draft", nargs="?", metavar="DRAFT", help="the draft's folder, or its id in the library"
    )
