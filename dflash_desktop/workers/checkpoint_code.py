"""Whether a checkpoint brings Python code of its own; plain file reading, for every process."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pathlib import Path

_JSON_LIMIT_BYTES: Final = 64 << 20  # a tokenizer.json has 30 MB
_CODE_MAP: Final = "auto_map"
_ESCAPED: Final = re.compile(rb"\\u00([0-7][0-9a-fA-F])")
"""A plain letter in the long way that JSON allows, too."""


def own_code(folder: Path) -> tuple[str, ...]:
    """The names of the files that are code or say where code is. Raises `OSError`.

    Also of the folders in it: transformers runs custom_generate/generate.py without being told.
    """
    files = (*folder.iterdir(), *folder.glob("*/*.py"))
    return tuple(
        sorted(
            path.relative_to(folder).as_posix()
            for path in files
            if path.suffix == ".py" or (path.suffix == ".json" and maps_code(path))
        )
    )


def maps_code(path: Path) -> bool:
    """Whether this JSON file would make transformers run code. Raises `OSError`."""
    if path.stat().st_size > _JSON_LIMIT_BYTES:
        return True  # nothing honest is that large, and transformers would read all of it
    with path.open("rb") as file:
        text = file.read()
    plain = _ESCAPED.sub(lambda letter: bytes.fromhex(letter[1].decode()), text)
    return f'"{_CODE_MAP}"'.encode() in plain


def without_code(path: Path) -> dict[str, Any]:
    """The object in a JSON file, less what names code. Raises `OSError` and `ValueError`."""
    loaded: dict[str, Any] = dict(json.loads(path.read_bytes()))
    return {key: value for key, value in loaded.items() if key != _CODE_MAP}
