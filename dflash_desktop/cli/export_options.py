"""How the export commands are told what to export."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_names import source_name
from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)
from dflash_desktop.domain.problems import AppError, Problem

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

_REPOSITORY: Final = re.compile(r"([\w.-]+/[\w.-]+)(?:@([\w./-]+))?", re.ASCII)
_FORMATS: Final = tuple(str(one) for one in WeightFormat)
_WHERE: Final = "OWNER/NAME on the hub (@REVISION may follow), or a checkpoint's folder"


def add_export_options(parser: ArgumentParser) -> None:
    """The target, the draft, their weights, and where the models go."""
    parser.add_argument("--target", metavar="SOURCE", help=f"the target: {_WHERE}")
    parser.add_argument(
        "--draft", metavar="SOURCE", help=f"the draft: {_WHERE}, or a file that ends in .gguf"
    )
    parser.add_argument(
        "--target-weights", choices=_FORMATS, default="int4", help="default: %(default)s"
    )
    parser.add_argument(
        "--draft-weights", choices=_FORMATS, default="int8", help="default: %(default)s"
    )
    parser.add_argument(
        "--group-size",
        type=int,
        choices=(16, 32, 64, 128),
        help="of int4; default: 128, or the largest that divides every row",
    )
    parser.add_argument(
        "--all-layers", action="store_true", help="of an int4 draft: the last matrix, too"
    )
    parser.add_argument(
        "--reference",
        type=Path,
        metavar="FOLDER",
        help="of a GGUF draft: the checkpoint that it was made from, to compare with",
    )
    parser.add_argument("--threads", type=int, metavar="N", help="default: all cores but one")
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="where the models go; default: the library"
    )
    parser.add_argument(
        "--allow-development",
        action="store_true",
        help="use development builds for DFlash 2 and DSpark, which nobody has checked",
    )


def export_request(args: Namespace) -> ExportRequest:
    """What was asked for. Raises `AppError` ("export_source_unknown")."""
    items = []
    for role in ExportRole:
        said: str | None = getattr(args, role.value)
        if said is not None:
            items.append(_item(role, _source(said), args))
    title = " with ".join(source_name(item.source) for item in items)
    return ExportRequest(
        title=title,
        items=tuple(items),
        threads=args.threads,
        allow_development=args.allow_development,
    )


def _item(role: ExportRole, source: ExportSource, args: Namespace) -> ExportItem:
    is_draft = role is ExportRole.DRAFT
    return ExportItem(
        role=role,
        source=source,
        weight_format=WeightFormat(args.draft_weights if is_draft else args.target_weights),
        group_size=args.group_size,
        all_layers=is_draft and args.all_layers,
        reference=args.reference if source.kind is SourceKind.GGUF else None,
    )


def _source(said: str) -> ExportSource:
    """What is on this disk goes before a repository of the same name."""
    path = Path(said).expanduser().absolute()
    if path.is_dir():
        return ExportSource(SourceKind.FOLDER, path=path)
    if path.is_file() and path.suffix.lower() == ".gguf":
        return ExportSource(SourceKind.GGUF, path=path)
    match = _REPOSITORY.fullmatch(said)
    if match is not None and not path.exists():
        return ExportSource(SourceKind.HUB, repo_id=match[1], revision=match[2] or "main")
    problem = Problem(
        code="export_source_unknown",
        headline=f"“{said[:200]}” is no checkpoint.",
        advice="Give a repository as OWNER/NAME, the folder of a checkpoint, or a draft's .gguf "
        "file.",
    )
    raise AppError(problem)
