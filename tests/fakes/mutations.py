"""Files as a stranger might hand them over: real ones with something wrong, always the same."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING

from tests.fakes.exports import graph_file, unpack
from tests.fakes.gguf_files import STRING, UINT64, GgufText, small_gguf
from tests.fakes.ir_models import ModelFiles, write_draft, write_target

if TYPE_CHECKING:
    import random
    from pathlib import Path

_NUMBERS = (0, 1, -1, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**53, 2**63 - 1, 2**63, 2**64 - 1, 2**70)
_TEXTS = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        *("<", ">", "/>", "</layer>", "</net>", '"', "'", "&", "&amp;", "&#0;", "&#x10ffff;"),
        *("<!-- ", " -->", "<![CDATA[", "]]>", "<?xml?>", "<!DOCTYPE a [<!ENTITY b 'c'>]>"),
        *("<dim>", "<rt_info>", "</rt_info>", '<layer id="1"/>', '<edge from-layer="0"/>'),
        *("{", "}", "[", "]", ",", ":", "null", "true", "NaN", "Infinity", "1e999", "-0"),
        *("\\u0000", "\\ud800", "\ud800", "\x00", "\U0001f600", "\r\n", "\u2028", "\ufeff"),
    )
)
_NESTS = (b"<a>", b'<a b="', b"[", b'{"a":', b"<layer>", b"<rt_info>", b"<output><port>", b"\x00")


def mutated(data: bytes, bits: random.Random) -> bytes:
    """The bytes with one to four things wrong."""
    for _ in range(bits.randint(1, 4)):
        data = bits.choice(_WAYS)(data, bits)
    return data


def _flip(data: bytes, bits: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(bits.randint(1, 8)):
        if changed:
            changed[bits.randrange(len(changed))] = bits.randrange(256)
    return bytes(changed)


def _cut(data: bytes, bits: random.Random) -> bytes:
    return data[: bits.randrange(len(data) + 1)]


def _drop(data: bytes, bits: random.Random) -> bytes:
    start, length = _range(data, bits)
    return data[:start] + data[start + length :]


def _repeat(data: bytes, bits: random.Random) -> bytes:
    start, length = _range(data, bits)
    times = bits.choice((2, 3, 50, 5000)) if length < 200 else 2
    return data[:start] + data[start : start + length] * times + data[start:]


def _move(data: bytes, bits: random.Random) -> bytes:
    start, length = _range(data, bits)
    piece, rest = data[start : start + length], data[:start] + data[start + length :]
    at = bits.randrange(len(rest) + 1)
    return rest[:at] + piece + rest[at:]


def _insert(data: bytes, bits: random.Random) -> bytes:
    at = bits.randrange(len(data) + 1)
    piece = bits.choice((*_TEXTS, bits.randbytes(bits.randint(1, 40))))
    return data[:at] + piece + data[at:]


def _nest(data: bytes, bits: random.Random) -> bytes:
    at = bits.randrange(len(data) + 1)
    return data[:at] + bits.choice(_NESTS) * bits.choice((100, 10_000, 300_000)) + data[at:]


def _write_number(data: bytes, bits: random.Random) -> bytes:
    """A binary number in place, as GGUF has them."""
    if len(data) < 8:
        return data
    at = bits.randrange(len(data) - 7)
    form, width = bits.choice((("<Q", 8), ("<I", 4), (">Q", 8)))
    number = bits.choice(_NUMBERS) & ((1 << 8 * width) - 1)
    return data[:at] + struct.pack(form, number) + data[at + width :]


def _write_digits(data: bytes, bits: random.Random) -> bytes:
    """Another number where digits are, as XML and JSON have them."""
    places = [at for at in range(len(data)) if data[at : at + 1].isdigit()]
    if not places:
        return data
    start = end = bits.choice(places)
    while end < len(data) and data[end : end + 1].isdigit():
        end += 1
    return data[:start] + str(bits.choice(_NUMBERS)).encode() + data[end:]


def _range(data: bytes, bits: random.Random) -> tuple[int, int]:
    start = bits.randrange(len(data) + 1)
    return start, min(len(data) - start, bits.choice((1, 4, 8, 30, 200, 3000)))


_WAYS = (
    _flip, _cut, _drop, _repeat, _move, _insert, _insert, _nest, _write_number, _write_digits
)  # fmt: skip


def graphs(folder: Path) -> list[bytes]:
    """XML of targets, drafts and a detokenizer, made up and really exported."""
    target, draft = write_target(folder / "target"), write_draft(folder / "draft")
    found = [
        (target.folder / "openvino_model.xml").read_bytes(),
        (target.folder / "openvino_detokenizer.xml").read_bytes(),
        (draft.folder / "openvino_model.xml").read_bytes(),
    ]
    exports = [unpack(name, folder / f"{name}-export") for name in ("llama", "draft")]
    return [*found, *(graph_file(export).read_bytes() for export in exports)]


def configurations(folder: Path) -> list[bytes]:
    """config.json of all kinds that are read."""
    target = ModelFiles(folder / "target")
    plain = (target.folder / "config.json").read_bytes()
    vision = {"architectures": ["X"], "text_config": json.loads(plain), "auto_map": {"a": "b"}}
    nested = {"dflash_config": {"block_size": 8, "target_layer_ids": [1, 2]}, "eos_token_id": [1]}
    draft = (folder / "draft" / "config.json").read_bytes()
    return [plain, draft, json.dumps(vision).encode(), json.dumps(nested).encode()]


def gguf_heads() -> list[bytes]:
    """Heads of GGUF files of each kind, without the tensors' bytes."""
    files = [small_gguf(architecture) for architecture in ("llama", "qwen2", "qwen3")]
    empty = GgufText()
    empty.metadata = {"general.architecture": (STRING, "llama"), "x": (UINT64, 1)}
    return [*(file.header() for file in files), empty.header()]
