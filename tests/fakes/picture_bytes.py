"""Picture files that no library here writes: deep, interlaced and tiny-palette PNG, ICC, HEIC."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

PNG_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_ADAM7: Final = (
    (0, 0, 8, 8),
    (4, 0, 8, 8),
    (0, 4, 4, 8),
    (2, 0, 4, 4),
    (0, 2, 2, 4),
    (1, 0, 2, 2),
    (0, 1, 1, 2),
)


def png_chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk with its checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width: int, height: int, depth: int, colour_type: int, interlace: int = 0) -> bytes:
    """Signature and IHDR."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, interlace)
    return PNG_SIGNATURE + png_chunk(b"IHDR", header)


def deep_png(
    width: int,
    height: int,
    colour_type: int,
    pixel: Callable[[int, int], Sequence[int]],
    *,
    interlaced: bool = False,
) -> bytes:
    """16 bits a channel; `pixel(x, y)` gives 0 to 65535 for each of them."""

    def row(y: int, first: int = 0, step: int = 1) -> bytes:
        xs = range(first, width, step)
        return b"\0" + b"".join(struct.pack(f">{len(pixel(x, y))}H", *pixel(x, y)) for x in xs)

    if interlaced:
        rows = b"".join(
            row(y, left, across)
            for left, top, across, down in _ADAM7
            if left < width
            for y in range(top, height, down)
        )
    else:
        rows = b"".join(row(y) for y in range(height))
    return (
        png_header(width, height, 16, colour_type, int(interlaced))
        + png_chunk(b"IDAT", zlib.compress(rows))
        + png_chunk(b"IEND", b"")
    )


def packed_png(
    width: int,
    height: int,
    *,
    depth: int,
    value: Callable[[int, int], int],
    palette: bytes = b"",
    transparency: bytes = b"",
) -> bytes:
    """1, 2 or 4 bits a pixel: greys, or places in the palette (3 bytes each) if there is one."""
    per_byte = 8 // depth
    rows = b""
    for y in range(height):
        row = b"\0"
        for left in range(0, width, per_byte):
            bits = 0
            for x in range(left, left + per_byte):
                bits = bits << depth | (value(x, y) if x < width else 0)
            row += bytes([bits])
        rows += row
    data = png_header(width, height, depth, 3 if palette else 0)
    if palette:
        data += png_chunk(b"PLTE", palette)
    if transparency:
        data += png_chunk(b"tRNS", transparency)
    return data + png_chunk(b"IDAT", zlib.compress(rows)) + png_chunk(b"IEND", b"")


P3_TO_XYZ: Final = (
    (0.51512, 0.29198, 0.15710),
    (0.24120, 0.69225, 0.06657),
    (-0.00105, 0.04189, 0.78407),
)
"""Display P3's primaries, adapted to the D50 white of profiles; columns are red, green, blue."""


def matrix_profile(name: str, to_xyz: Sequence[Sequence[float]], gamma: float) -> bytes:
    """An ICC profile of version 2 for a screen with these primaries and one gamma."""

    def xyz(values: Sequence[float]) -> bytes:
        return b"XYZ \0\0\0\0" + b"".join(struct.pack(">i", round(v * 65536)) for v in values)

    text = name.encode() + b"\0"
    description = b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + b"\0" * 78
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256))
    tags = {
        b"desc": description,
        b"cprt": b"text\0\0\0\0none\0",
        b"wtpt": xyz((0.9642, 1.0, 0.8249)),
        b"rXYZ": xyz([row[0] for row in to_xyz]),
        b"gXYZ": xyz([row[1] for row in to_xyz]),
        b"bXYZ": xyz([row[2] for row in to_xyz]),
        b"rTRC": curve,
        b"gTRC": curve,
        b"bTRC": curve,
    }
    table, body = struct.pack(">I", len(tags)), b""
    start = 128 + 4 + 12 * len(tags)
    for tag, data in tags.items():
        table += tag + struct.pack(">II", start + len(body), len(data))
        body += data + b"\0" * (-len(data) % 4)
    size = start + len(body)
    head = struct.pack(">I4sI4s4s4s", size, b"none", 0x02100000, b"mntr", b"RGB ", b"XYZ ")
    head += struct.pack(">6H", 2025, 1, 1, 0, 0, 0) + b"acsp" + b"\0" * 28
    head += struct.pack(">3i", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + table + body


def p3_as_srgb(pixel: Sequence[int], gamma: float) -> tuple[int, ...]:
    """What a pixel of that profile is in sRGB, by the formulas themselves."""
    linear = [(value / 255) ** gamma for value in pixel]
    x, y, z = (sum(c * v for c, v in zip(row, linear, strict=True)) for row in P3_TO_XYZ)
    rgb = (
        3.1338561 * x - 1.6168667 * y - 0.4906146 * z,  # sRGB's matrix for D50
        -0.9787684 * x + 1.9161415 * y + 0.0334540 * z,
        0.0719453 * x - 0.2289914 * y + 1.4052427 * z,
    )
    clipped = (min(1.0, max(0.0, value)) for value in rgb)
    return tuple(
        round(255 * (12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055))
        for v in clipped
    )


HEIC: Final = base64.b64decode(
    """
AAAAHGZ0eXBoZWl4AAAAAG1pZjFoZWl4bWlhZgAAAX5tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAA
AAAAAAAAACJpbG9jAAAAAERAAAEAAQAAAAABogABAAAAAAAAAP0AAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABo
dmMxAAAAAA5waXRtAAAAAAABAAAA/mlwcnAAAADeaXBjbwAAAHdodmNDAQQIAAAAnjgAAAAAHvAA/P/4+AAADwNgAAEA
F0ABDAH//wQIAAADAJ44AAADAAAeugJAYQABACpCAQEECAAAAwCeOAAAAwAAHpAFECCy3VyU1zcBDQYEAAADAGQAAAMA
BCBiAAEACEQBwXMYMBiQAAAAE2NvbHJuY2x4AAEADQAGgAAAABRpc3BlAAAAAAAAAFAAAABAAAAAKGNsYXAAAABQAAAA
AQAAADAAAAABAAAAAAAAAAL////wAAAAAgAAABBwaXhpAAAAAAMICAgAAAAYaXBtYQAAAAAAAAABAAEFgQIDBYQAAAEF
bWRhdAAAAPkoAa8E9CIm7Frp+t/6a///9sL7L8T2i242lp2OPA7xHS/E7//7h8+134uCbU4s69qMQWE+7F/T78f5KlAo
Nqo+MLKbVqiAm7/7Z2jSRS0/G+MX/mP6iDp0yq4PrsFFLbCOI+niweDdGCFQatEwV/rK1RQPXUvcoHZVJsuQyA/N6/ux
Kq061FX3T5xc4w0pUbOAPFNPmUgrpED+FfCrffadqA2QDRpXdFgxE0pbYjdtwG7Le/zF0QlJNTZ3VTNksXRhewxO+YJF
VZDd7OpKWA3adjMr5u3HXeQTEGCGW2plKmaG3yyhEO56ZgcOY3yjzsYeTLqm2duQOPg=
"""
)
"""The scene of `picture_corpus`, 80 by 48; what encodes such files (x265) is not kept here."""
