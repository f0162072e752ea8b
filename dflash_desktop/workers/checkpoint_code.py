"""Whether a checkpoint brings Python code of its own; plain file reading, for every process."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_JSON_LIMIT_BYTES: Final = 64 << 20  # a tokenizer.json has 30 MB
_CODE_MAP: Final = "auto_map"
_NAMES_CODE: Final = re.compile(
    b'"%b"'
    % b"".join(b"(?:%c|\\\\u(?i:%04x))" % (letter, letter) for letter in _CODE_MAP.encode())
)
"""The name with any letter in the long way that JSON allows, too. Only searched for, since parsing
a tokenizer's 30 MB would hold the window's process."""


def own_code(folder: Path) -> tuple[str, ...]:
    """The names of the files that are code or say where code is. Raises `OSError`.

    Also of the folders in it: transformers runs custom_generate/generate.py without being told.
    """
    return tuple(sorted(_code_in(folder)))


def is_code(name: str) -> bool:
    """By its name, in any case of letters: Windows opens `GENERATE.PY` as `generate.py`."""
    return name.lower().endswith(".py")


def maps_code(path: Path) -> bool:
    """Whether this JSON file would make transformers run code. Raises `OSError`."""
    if path.stat().st_size > _JSON_LIMIT_BYTES:
        return True  # nothing honest is that large, and transformers would read all of it
    with path.open("rb") as file:
        return _NAMES_CODE.search(file.read()) is not None


def without_code(path: Path) -> dict[str, Any]:
    """The object in a JSON file, less what names code at any depth.

    Raises `OSError`, and `ValueError` for what holds no object.
    """
    try:
        loaded = json.loads(path.read_bytes(), object_hook=_less_code)
    except RecursionError as error:
        raise ValueError(f"{path.name} is nested too deeply") from error
    if not isinstance(loaded, dict):
        raise ValueError(f"{path.name} holds no object")  # noqa: TRY004 - the file is wrong
    return loaded


def _code_in(folder: Path) -> Iterator[str]:
    for path in folder.iterdir():
        if is_code(path.name) or (path.suffix.lower() == ".json" and maps_code(path)):
            yield path.name
        elif path.is_dir():
            with suppress(PermissionError):  # what the exporter cannot open either
                yield from (f"{path.name}/{f.name}" for f in path.iterdir() if is_code(f.name))


def _less_code(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != _CODE_MAP}
