"""PNG files without a library for pictures: write pixels, and put words into and out of a file."""

from __future__ import annotations

import io
import struct
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path
    from typing import BinaryIO

    from dflash_desktop.domain.made_picture import Pixels

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_RGB: Final = 2
_UP_FILTER: Final = b"\x02"
_PERCEPTUAL: Final = b"\0"
_LONGEST_TEXT_BYTES: Final = 1 << 20
_MOST_CHUNKS_BEFORE_PIXELS: Final = 200
_LEVEL: Final = 6
_CHUNK_FRAME_BYTES: Final = 12  # length, name and checksum


def png_bytes(pixels: Pixels, texts: Mapping[str, str]) -> bytes:
    """The pixels as a PNG in sRGB with these texts in it, by keyword (Latin-1, 1 to 79 bytes).

    Takes a quarter of a second for a megapixel: not for the window's thread.
    """
    head = struct.pack(">IIBBBBB", pixels.width, pixels.height, 8, _RGB, 0, 0, 0)
    chunks = [_chunk(b"IHDR", head), _chunk(b"sRGB", _PERCEPTUAL)]
    chunks += [_chunk(b"iTXt", _text_body(keyword, text)) for keyword, text in texts.items()]
    chunks.append(_chunk(b"IDAT", zlib.compress(_filtered(pixels), _LEVEL)))
    chunks.append(_chunk(b"IEND", b""))
    return _SIGNATURE + b"".join(chunks)


def png_texts(path: Path) -> dict[str, str]:
    """The texts before a file's pixels; what is damaged or too long is left out.

    Raises `OSError`.
    """
    texts: dict[str, str] = {}
    with path.open("rb") as file:
        for name, body in _chunks_before_pixels(file):
            if name == b"iTXt":
                keyword, text = _text_of(body)
                if keyword and text is not None:
                    texts[keyword] = text
    return texts


def with_texts(png: bytes, texts: Mapping[str, str]) -> bytes:
    """The file with these texts instead of its own of the same keywords; "" takes one away.

    Pixels and all else stay byte by byte; what is no whole PNG is returned as it is.
    """
    kept: list[bytes] = []
    end = len(_SIGNATURE)
    for name, body in _chunks_before_pixels(io.BytesIO(png)):
        end += len(body) + _CHUNK_FRAME_BYTES
        if name != b"iTXt" or _text_of(body)[0] not in texts:
            kept.append(_chunk(name, body))
    if not kept or not kept[0].startswith(b"IHDR", 4):
        return png
    new = [_chunk(b"iTXt", _text_body(keyword, text)) for keyword, text in texts.items() if text]
    return b"".join((_SIGNATURE, *kept, *new, png[end:]))


def _filtered(pixels: Pixels) -> bytes:
    """Each row less the one above it, with the filter's number before it.

    All bytes are subtracted at once, as two large numbers whose carries are kept apart by the
    highest bit of each byte: a loop over bytes takes seconds for a megapixel, this 20 ms.
    """
    size, row = len(pixels.rgb), pixels.width * 3
    this = int.from_bytes(pixels.rgb, "little")
    above = int.from_bytes((b"\0" * row + pixels.rgb)[:size], "little")
    high = int.from_bytes(b"\x80" * size, "little")
    low = int.from_bytes(b"\x7f" * size, "little")
    different = this ^ above
    result = ((this | high) - (above & low)) ^ (~different & high)
    data = result.to_bytes(size, "little")
    rows = (data[start : start + row] for start in range(0, size, row))
    return b"".join(part for line in rows for part in (_UP_FILTER, line))


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _text_body(keyword: str, text: str) -> bytes:
    """Keyword, not compressed, no language, no translated keyword, UTF-8."""
    return keyword.encode("latin-1") + b"\0\0\0\0\0" + text.encode("utf-8", "replace")


def _text_of(body: bytes) -> tuple[str, str | None]:
    keyword, _, rest = body.partition(b"\0")
    if rest[:2] != b"\0\0":
        return "", None  # compressed: none of ours
    _language, _, rest = rest[2:].partition(b"\0")
    _translated, _, text = rest.partition(b"\0")
    try:
        return keyword.decode("latin-1"), text.decode("utf-8")
    except UnicodeDecodeError:
        return "", None


def _chunks_before_pixels(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    if file.read(len(_SIGNATURE)) != _SIGNATURE:
        return
    for _ in range(_MOST_CHUNKS_BEFORE_PIXELS):
        head = file.read(8)
        if len(head) < 8:
            return
        length, name = struct.unpack(">I4s", head)
        if name == b"IDAT" or length > _LONGEST_TEXT_BYTES:
            return
        body = file.read(length)
        checksum = file.read(4)
        if len(body) < length or checksum != struct.pack(">I", zlib.crc32(name + body)):
            return
        yield name, body
