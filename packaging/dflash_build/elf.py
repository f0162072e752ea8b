"""Takes the folders of the machine that built a library out of the library."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC_64_LITTLE: Final = b"\x7fELF\x02\x01"
_DYNAMIC_SEGMENT: Final = 2
_LOADED_SEGMENT: Final = 1
_STRINGS, _RPATH, _RUNPATH = 5, 15, 29
_SEGMENT: Final = struct.Struct("<IIQQQQQQ")
_ENTRY: Final = struct.Struct("<QQ")


def clear_foreign_paths(file: Path) -> bool:
    """Empty every search path that does not begin at the library itself; whether there was one.

    Such a path is of no use elsewhere, and a folder of that name would be searched for libraries.
    """
    data = bytearray(file.read_bytes())
    if not data.startswith(_MAGIC_64_LITTLE):
        return False
    found = ((place, _text(data, place)) for place in _search_paths(data))
    places = [place for place, text in found if text and not text.startswith(b"$ORIGIN")]
    for place in places:
        data[place] = 0  # its first letter only: strings share their tails with others
    if places:
        file.write_bytes(data)
    return bool(places)


def _search_paths(data: bytearray) -> list[int]:
    """Where in the file the texts of RPATH and RUNPATH begin."""
    segments = list(_segments(data))
    entries = [
        _ENTRY.unpack_from(data, at)
        for kind, place, _, size in segments
        if kind == _DYNAMIC_SEGMENT
        for at in range(place, place + size, _ENTRY.size)
    ]
    strings = next((value for tag, value in entries if tag == _STRINGS), None)
    if strings is None:
        return []
    start = next(
        strings - address + place
        for kind, place, address, size in segments
        if kind == _LOADED_SEGMENT and address <= strings < address + size
    )
    return [start + value for tag, value in entries if tag in (_RPATH, _RUNPATH)]


def _segments(data: bytearray) -> list[tuple[int, int, int, int]]:
    """Kind, place in the file, address, and size in the file of each."""
    (table,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    found = []
    for number in range(count):
        kind, _, place, address, _, bytes_, _, _ = _SEGMENT.unpack_from(
            data, table + number * size
        )
        found.append((kind, place, address, bytes_))
    return found


def _text(data: bytearray, place: int) -> bytes:
    return bytes(data[place : data.index(0, place)])
