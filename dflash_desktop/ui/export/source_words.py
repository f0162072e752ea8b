"""What a person wrote or dropped as a checkpoint, and what it is taken for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dflash_desktop.domain.export_request import ExportRole, ExportSource, SourceKind
from dflash_desktop.ui.models.offer_words import name_error, repository_name

_GGUF: Final = ".gguf"
_PATH_BEGIN: Final = re.compile(r"[/~.\\]|[A-Za-z]:[\\/]")
"""A name on the hub begins with none of these; "C:" is a drive, on whatever system it is typed."""

_WORDS: Final = {
    SourceKind.HUB: "A repository on the hub, which is fetched first",
    SourceKind.FOLDER: "A folder on this disk, which stays as it is",
    SourceKind.GGUF: "A GGUF file on this disk, which stays as it is",
}


@dataclass(frozen=True, slots=True)
class ReadSource:
    """`source` is None for an empty field and where `error` says what is wrong."""

    source: ExportSource | None = None
    error: str = ""

    @property
    def words(self) -> str:
        """What it was taken for."""
        return "" if self.source is None else _WORDS[self.source.kind]


def read_source(text: str, role: ExportRole) -> ReadSource:
    """The checkpoint that a text names; nothing on the disk is looked at."""
    text = _unquoted(text.strip())
    if not text:
        return ReadSource()
    is_gguf = text.casefold().endswith(_GGUF)
    if _PATH_BEGIN.match(text) or is_gguf or "\\" in text:
        if is_gguf and role is ExportRole.TARGET:
            return ReadSource(
                error="A model as GGUF is imported on the Models page. Only drafts are made here."
            )
        kind = SourceKind.GGUF if is_gguf else SourceKind.FOLDER
        return ReadSource(ExportSource(kind, path=Path(text).expanduser()))
    name = repository_name(text)
    error = name_error(name)
    if error:
        return ReadSource(error=f"{error} A folder begins with / or with its drive.")
    return ReadSource(ExportSource(SourceKind.HUB, repo_id=name))


def short_name(source: ExportSource) -> str:
    """The last part of its name, for a title."""
    if source.path is None:
        return source.repo_id.rpartition("/")[2]
    return source.path.stem if source.kind is SourceKind.GGUF else source.path.name


def field_text(source: ExportSource) -> str:
    """As a person would have written it."""
    return source.repo_id if source.path is None else str(source.path)


def _unquoted(text: str) -> str:
    """File managers copy paths between quotes."""
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text
