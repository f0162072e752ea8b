"""Whether a checkpoint brings Python code of its own; plain file reading, for every process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

_JSON_LIMIT_BYTES: Final = 64 << 20  # a tokenizer.json has 30 MB
_CODE_MAP: Final = "auto_map"


def own_code(folder: Path) -> tuple[str, ...]:
    """The names of the files that are code or say where code is. Raises `OSError`."""
    return tuple(
        sorted(
            path.name
            for path in folder.iterdir()
            if path.suffix == ".py" or (path.suffix == ".json" and maps_code(path))
        )
    )


def maps_code(path: Path) -> bool:
    """Whether this JSON file would make transformers run code. Raises `OSError`."""
    if path.stat().st_size > _JSON_LIMIT_BYTES:
        return False  # none that transformers takes a class from is that large
    with path.open("rb") as file:
        text = file.read()
    return f'"{_CODE_MAP}"'.encode() in text


def without_code(path: Path) -> dict[str, Any]:
    """The object in a JSON file, less what names code. Raises `OSError` and `ValueError`."""
    loaded: dict[str, Any] = dict(json.loads(path.read_bytes()))
    return {key: value for key, value in loaded.items() if key != _CODE_MAP}
