"""A model on this disk, as the library knows it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence


class ModelRole(StrEnum):
    """What a model is good for, from its own files."""

    TARGET = "target"
    DRAFT = "draft"
    IMAGE = "image"  # makes pictures
    OTHER = "other"


class ModelCondition(StrEnum):
    """What is known of its bytes."""

    VERIFIED = "verified"  # every byte is what the manifest says
    UNVERIFIED = "unverified"  # nobody has compared it yet: an added folder being hashed
    DAMAGED = "damaged"  # the last comparison found differences
    ABSENT = "absent"  # the folder is not there: a stick that was pulled out


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model; `path` is relative, with "/"."""

    path: str
    size_bytes: int
    sha256: str  # 64 hex digits


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """What a folder must hold; written last, so a folder without it does not count."""

    repo_id: str  # empty for a folder that a person added
    commit: str  # 40 hex digits, empty likewise
    endpoint: str  # where it came from, without any credentials
    files: tuple[ModelFile, ...]
    role: ModelRole
    precision: str  # "int4", "int8", "fp16"…; empty: not known
    installed_at: datetime
    verified_at: datetime | None

    @property
    def size_bytes(self) -> int:
        """The sum of all files."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """One model of the library; `id` is stable and can be typed: "owner/name" or "name"."""

    id: str
    title: str
    path: Path
    manifest: ModelManifest
    condition: ModelCondition
    is_ours: bool  # downloaded by this program, so it may delete it; else only a reference
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FileDifference:
    """One file that is not what the manifest says."""

    path: str
    kind: str  # "missing", "size", "bytes", "extra", "unreadable"


@dataclass(frozen=True, slots=True)
class VerificationReport:
    """The outcome of comparing every byte."""

    model_id: str
    checked_files: int
    checked_bytes: int
    differences: tuple[FileDifference, ...]
    at: datetime

    @property
    def is_whole(self) -> bool:
        """Whether nothing differs; files that are there in addition are no fault."""
        return all(d.kind == "extra" for d in self.differences)


@dataclass(frozen=True, slots=True)
class WorkProgress:
    """How much of a long work on files is done; no rate until bytes have moved."""

    done_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True)
class RemovalPlan:
    """What removing a model does, known before it is done."""

    model: InstalledModel
    freed_bytes: int  # a file that is also elsewhere (a hard link) frees nothing
    shared_bytes: int  # such files, each counted once
    used_by: tuple[str, ...]  # titles of the pairs that cannot be loaded afterwards
    shared_with: tuple[InstalledModel, ...] = ()  # other models that hold some of these files
    shared_with_models_bytes: int = 0  # of `shared_bytes`, what at least one of them holds

    @property
    def deletes_files(self) -> bool:
        """An added folder is only forgotten."""
        return self.model.is_ours

    def staying_words(self, names: Sequence[str]) -> tuple[str, ...]:
        """Which bytes stay and for whom, in sentences; `names` are those of `shared_with`."""
        sentences = []
        if names:
            kept, whose = format_bytes(self.shared_with_models_bytes), " and ".join(names)
            sentences.append(f"{kept} stay: they are files of {whose}, too.")
        if elsewhere := self.shared_bytes - self.shared_with_models_bytes:
            kept = format_bytes(elsewhere)
            sentences.append(f"{kept} stay: other programs use these files, too.")
        return tuple(sentences)


class LeftoverKind(StrEnum):
    """Why something lies in the library's folders that is no model and no open transfer."""

    TRANSFER = "transfer"  # arrived for a transfer that nobody remembers
    REPLACED = "replaced"  # an older folder of a model of which a later one is there
    REMOVED = "removed"  # a removal that was interrupted
    MOVED = "moved"  # a place that the library was moved from or to, and that does not count
    EXPORT = "export"  # of an export that nobody can go on with
    UNKNOWN = "unknown"  # a folder without a manifest; perhaps a person put it there


@dataclass(frozen=True, slots=True)
class Leftover:
    """Something that takes room for nothing."""

    path: Path
    kind: LeftoverKind
    size_bytes: int  # that removing it frees
    looks_like_model: bool = False  # it may be a person's own: adding it is better than removing
    repo_ids: tuple[str, ...] = ()  # of an interrupted download: its folder's name says nothing

    @property
    def title(self) -> str:
        """What a person knows it as."""
        return ", ".join(self.repo_ids) or self.path.name


@dataclass(frozen=True, slots=True)
class CacheSize:
    """What the runtime keeps of compiled models."""

    path: Path
    file_count: int
    size_bytes: int
