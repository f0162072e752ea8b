"""A GGUF file on this disk: looked at before anything native reads it."""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_header import GgufHeader, read_gguf_header
from dflash_desktop.domain.gguf_import import GgufFile
from dflash_desktop.domain.gguf_model import gguf_model
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import gguf_problems as problems

if TYPE_CHECKING:
    from pathlib import Path

_PART: Final = re.compile(r"(.*)-([0-9]{5})-of-([0-9]{5})(\.gguf)", re.IGNORECASE)
_PART_LIMIT: Final = 100
_UINT16: Final = 2


def look_at_gguf(path: Path) -> GgufFile:
    """What the file holds, if it can be converted. Blocking, a tenth of a second.

    Reads the head of it, and of the other parts of a split file, never any weights. Raises
    `AppError` with the code of `GgufError`, "gguf_split" or "gguf_unreadable".
    """
    current = path
    try:
        first = read_header(path)
        parts = (path, *_other_parts(path, first))
        headers = [first]
        for current in parts[1:]:
            headers += [read_header(current)]
        current = path
        model = gguf_model(first, tuple(headers[1:]))
        size = sum(part.stat().st_size for part in parts)
    except GgufError as error:
        raise AppError(problems.refused(current, error)) from error
    except OSError as error:
        raise AppError(problems.unreadable(current, error)) from error
    return GgufFile(parts, size, model)


def read_header(path: Path) -> GgufHeader:
    """The head of one file, checked. Raises `GgufError` and `OSError`."""
    if stat.S_ISFIFO(path.stat().st_mode):  # opening it would wait for somebody who writes
        raise GgufError("gguf_not_gguf", "it is no ordinary file")
    with path.open("rb") as file:
        return read_gguf_header(file.read, file_bytes=os.fstat(file.fileno()).st_size)


def _other_parts(path: Path, first: GgufHeader) -> tuple[Path, ...]:
    """GenAI finds them by their names, and takes all metadata from the first."""
    entry = first.metadata.get("split.count")
    if entry is None or entry.value in (0, 1):
        return ()
    if entry.type != _UINT16 or not isinstance(entry.value, int) or entry.value > _PART_LIMIT:
        raise GgufError("gguf_damaged", f"it claims to be one of {entry.value} parts")
    match = _PART.fullmatch(path.name)
    if match is None or int(match[3]) != entry.value:
        raise GgufError(
            "gguf_split", f"it is one of {entry.value} parts, but is not named like one"
        )
    name, place, count, suffix = match.groups()
    if int(place) != 1:
        raise GgufError("gguf_split", f"the first part is {name}-00001-of-{count}{suffix}")
    others = [
        path.with_name(f"{name}-{n:05}-of-{count}{suffix}") for n in range(2, int(count) + 1)
    ]
    for other in others:
        if not other.is_file():
            raise GgufError("gguf_split", f"{other.name} is not beside it")
    return tuple(others)
