"""Which names of files from elsewhere may be made here, on Linux and on Windows alike.

A model that was fetched on one system shall open on the other, so both systems' rules count on
both: a stick is carried from one to the other, and what is harmless here may be a device there.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

RECORD_FOLDER: Final = ".dflash"
"""Where the program keeps what it knows of a model, inside the model's own folder."""

WINDOWS_PATH_CHARACTERS: Final = 259
"""What a program may use of MAX_PATH, unless the machine was set up for longer paths."""

LINUX_PATH_BYTES: Final = 4095
NAME_BYTES: Final = 255
"""The longest name of one file or folder; Windows counts UTF-16 units, which are fewer."""

_FORBIDDEN: Final = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\]')
_DEVICES: Final = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    # Windows reads superscript digits as digits here.
    | {f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789¹²³"}
)


def unsafe_reason(path: str) -> str | None:
    """Why no file of this relative path ("/" between its parts) may be made; None if it may."""
    if not path:
        return "it is empty"
    if _has_surrogates(path):
        return "it is not valid text"
    if path.startswith("/"):
        return "it is an absolute path"
    if re.match(r"[A-Za-z]:", path):
        return "it begins with a drive letter"
    if match := _FORBIDDEN.search(path):
        return f"it contains {match[0]!r}"
    if path.split("/")[0].casefold() == RECORD_FOLDER:
        return "it is where the program keeps its own records"
    for part in path.split("/"):
        if reason := _unsafe_part(part):
            return reason
    return None


def _unsafe_part(part: str) -> str | None:
    if part == "..":
        return "it leads out of its folder"
    if part in ("", "."):
        return "a part of it is empty"
    if part[-1] in ". ":
        return "a part of it ends with a dot or a space, which Windows drops"
    if part.split(".")[0].rstrip(" ").lower() in _DEVICES:
        return "it is the name of a device on Windows"
    if len(part.encode()) > NAME_BYTES:
        return f"a part of it is longer than {NAME_BYTES} bytes"
    return None


def colliding_paths(paths: Iterable[str]) -> tuple[str, str] | None:
    """Two paths that are one where case is ignored, or of which one is a folder of the other.

    None if all can lie side by side.
    """
    files: dict[str, str] = {}
    for path in paths:
        folded = _folded(path)
        if folded in files:
            return files[folded], path
        files[folded] = path
    folders: dict[str, str] = {}  # by folded name, as the first path spells it
    for path in files.values():
        parts = path.split("/")
        for count in range(1, len(parts)):
            folder = "/".join(parts[:count])
            if _folded(folder) in files:
                return files[_folded(folder)], path
            # On Windows two spellings are one folder, on Linux two: the model would differ.
            if folders.setdefault(_folded(folder), folder) != folder:
                return folders[_folded(folder)], path
    return None


def too_long_path(
    folder: str, paths: Iterable[str], *, spare_characters: int = 0, is_windows: bool
) -> str | None:
    """The longest of `paths` below `folder`, if the system cannot open it there; else None.

    `spare_characters` is kept free for names that are longer for a while.
    """
    longest = max(paths, key=lambda path: _length(path, is_windows=is_windows), default="")
    limit = WINDOWS_PATH_CHARACTERS if is_windows else LINUX_PATH_BYTES
    length = _length(f"{folder}/{longest}", is_windows=is_windows) + spare_characters
    return longest if length > limit else None


def _length(path: str, *, is_windows: bool) -> int:
    if is_windows:
        return len(path.encode("utf-16-le", "surrogatepass")) // 2
    return len(path.encode("utf-8", "surrogateescape"))


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
