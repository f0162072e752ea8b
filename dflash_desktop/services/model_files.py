"""What a model's folder holds, and its small JSON files; whoever made them is not trusted."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

CONFIG_LIMIT_BYTES: Final = 4 << 20
"""Real ones have 1 to 100 KB, and parsing holds the window's process."""
_FILE_LIMIT: Final = 20_000


def file_sizes(folder: Path) -> dict[str, int]:
    """Ordinary files only: a pipe that is called like a model would never end.

    Raises `OSError`, also for more files than any model has.
    """
    sizes: dict[str, int] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if len(sizes) >= _FILE_LIMIT:
                raise OSError(f"more than {_FILE_LIMIT} files")
            if entry.is_file():
                sizes[entry.name] = entry.stat().st_size
    return sizes


def read_limited(path: Path, limit_bytes: int) -> bytes:
    """The whole file; nothing of one that is larger. Raises `OSError`."""
    with path.open("rb") as file:
        data = file.read(limit_bytes + 1)
    return data if len(data) <= limit_bytes else b""


def json_object(path: Path) -> dict[str, Any] | None:
    """None for what is no JSON object, or larger than any configuration. Raises `OSError`."""
    try:
        loaded = json.loads(read_limited(path, CONFIG_LIMIT_BYTES))
    except (ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None


def text_of(value: object) -> str:
    """Empty for what is no text."""
    return value if isinstance(value, str) else ""


def texts_of(value: object) -> tuple[str, ...]:
    """Empty for what is no list."""
    return tuple(map(text_of, value)) if isinstance(value, list) else ()
