"""What a checkpoint and the models made of it are called: never where they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.export_request import SourceKind

if TYPE_CHECKING:
    from dflash_desktop.domain.export_request import ExportItem, ExportSource


def source_name(source: ExportSource) -> str:
    """The last part of a repository's or a folder's name; of a GGUF file without its ending."""
    if source.kind is SourceKind.HUB or source.path is None:
        return source.repo_id.rpartition("/")[2]
    return source.path.stem if source.kind is SourceKind.GGUF else source.path.name


def item_name(item: ExportItem) -> str:
    """The exported model: its source, its format, and that it is for OpenVINO."""
    return f"{source_name(item.source)}-{item.weight_format}-ov"


def prepared_name(item: ExportItem) -> str:
    """The clean checkpoint that is made of it first."""
    return f"{source_name(item.source)}-clean"
