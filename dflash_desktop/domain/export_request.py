"""What a person wants exported: which checkpoints, to which weights, to where."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class WeightFormat(StrEnum):
    """How weights are stored; the value is what optimum-cli's --weight-format takes."""

    FP16 = "fp16"
    INT8 = "int8"
    INT4 = "int4"


class ExportRole(StrEnum):
    """Which half of a pair a model becomes."""

    TARGET = "target"
    DRAFT = "draft"


class SourceKind(StrEnum):
    """Where a checkpoint is."""

    HUB = "hub"  # a repository that has to be fetched
    FOLDER = "folder"  # a checkpoint on this disk
    GGUF = "gguf"  # a draft that ships only as GGUF


@dataclass(frozen=True, slots=True)
class ExportSource:
    """One checkpoint; `repo_id` for a hub's, else `path`."""

    kind: SourceKind
    repo_id: str = ""  # "owner/name"
    revision: str = "main"
    path: Path | None = None


@dataclass(frozen=True, slots=True)
class ExportItem:
    """One model to make."""

    role: ExportRole
    source: ExportSource
    weight_format: WeightFormat
    group_size: int | None = None  # of int4; None: 128, or the largest that divides the width
    all_layers: bool = False  # of int4 drafts: the last matrix, too
    reference: Path | None = (
        None  # of a GGUF draft: the checkpoint it was made from, if it is here
    )


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What is exported together: a target and its draft, or one of them."""

    title: str
    items: tuple[ExportItem, ...]
    threads: int | None = None  # None: all cores but one
    allow_development: bool = False  # tools that nobody has checked, for the newest drafts
