"""Models of any size with random weights: a GGUF file with the tokenizer of another one."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy as np

_U32, _STRING, _ARRAY = 4, 8, 9
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_F32, _Q8_0 = 0, 8
_BLOCK = 32
_ALIGNMENT = 32


@dataclass(frozen=True)
class Geometry:
    layers: int
    hidden: int
    feed_forward: int
    heads: int
    kv_heads: int

    @property
    def kv_width(self) -> int:
        return self.hidden // self.heads * self.kv_heads


def write_random_llama(source: Path, destination: Path, geometry: Geometry) -> None:
    """A model of this geometry, in int8, that reads and writes tokens as `source` does."""
    import numpy as np

    changed = {
        "llama.block_count": geometry.layers,
        "llama.embedding_length": geometry.hidden,
        "llama.feed_forward_length": geometry.feed_forward,
        "llama.attention.head_count": geometry.heads,
        "llama.attention.head_count_kv": geometry.kv_heads,
        "llama.rope.dimension_count": geometry.hidden // geometry.heads,
    }
    with source.open("rb") as file:
        magic, version, _, entry_count = struct.unpack("<4sIQQ", file.read(24))
        entries = [_entry(file, changed) for _ in range(entry_count)]
        vocabulary = next(count for _, count in entries if count)
    tensors = list(_tensors(geometry, vocabulary))
    generator = np.random.default_rng(0)
    with destination.open("wb") as out:
        out.write(struct.pack("<4sIQQ", magic, version, len(tensors), len(entries)))
        for data, _ in entries:
            out.write(data)
        offset = 0
        for name, shape, kind in tensors:
            out.write(struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", len(shape)))
            out.write(struct.pack(f"<{len(shape)}QIQ", *shape, kind, offset))
            offset += _padded(_tensor_bytes(shape, kind))
        out.write(bytes(_padded(out.tell()) - out.tell()))
        for _, shape, kind in tensors:
            out.write(_values(_tensor_bytes(shape, kind), kind, generator))


def _tensors(geometry: Geometry, vocabulary: int) -> Iterator[tuple[str, tuple[int, ...], int]]:
    hidden, wide, narrow = geometry.hidden, geometry.feed_forward, geometry.kv_width
    yield "token_embd.weight", (hidden, vocabulary), _Q8_0
    yield "output_norm.weight", (hidden,), _F32
    for layer in range(geometry.layers):
        name = f"blk.{layer}"
        for norm in ("attn_norm", "ffn_norm"):
            yield f"{name}.{norm}.weight", (hidden,), _F32
        yield f"{name}.attn_q.weight", (hidden, hidden), _Q8_0
        yield f"{name}.attn_k.weight", (hidden, narrow), _Q8_0
        yield f"{name}.attn_v.weight", (hidden, narrow), _Q8_0
        yield f"{name}.attn_output.weight", (hidden, hidden), _Q8_0
        yield f"{name}.ffn_gate.weight", (hidden, wide), _Q8_0
        yield f"{name}.ffn_up.weight", (hidden, wide), _Q8_0
        yield f"{name}.ffn_down.weight", (wide, hidden), _Q8_0


def _tensor_bytes(shape: tuple[int, ...], kind: int) -> int:
    count = 1
    for length in shape:
        count *= length
    return count * 4 if kind == _F32 else count // _BLOCK * (_BLOCK + 2)


def _values(count_bytes: int, kind: int, generator: np.random.Generator) -> bytes:
    """Ones for a norm; else blocks of a small f16 scale and 32 whole numbers.

    No two tensors are alike, since OpenVINO keeps equal ones only once.
    """
    import numpy as np

    padding = bytes(_padded(count_bytes) - count_bytes)
    if kind == _F32:
        return struct.pack("<f", 1.0) * (count_bytes // 4) + padding
    blocks = generator.integers(0, 256, (count_bytes // 34, 34), dtype=np.uint8)
    blocks[:, :2] = np.frombuffer(struct.pack("<e", 0.001), dtype=np.uint8)
    return blocks.tobytes() + padding


def _padded(count: int) -> int:
    return -(-count // _ALIGNMENT) * _ALIGNMENT


def _entry(file: BinaryIO, changed: dict[str, int]) -> tuple[bytes, int]:
    """One entry of the metadata as bytes, and how many tokens it lists; 0 if it lists none."""
    start = file.tell()
    key = _text(file)
    (kind,) = struct.unpack("<I", file.read(4))
    if key in changed:
        _skip(file, kind)
        head = struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I", _U32)
        return head + struct.pack("<I", changed[key]), 0
    count = _skip(file, kind)
    end = file.tell()
    file.seek(start)
    return file.read(end - start), count if key == "tokenizer.ggml.tokens" else 0


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode()


def _skip(file: BinaryIO, kind: int) -> int:
    if kind == _STRING:
        _text(file)
    elif kind == _ARRAY:
        item, count = struct.unpack("<IQ", file.read(12))
        for _ in range(count):
            _skip(file, item)
        return int(count)
    else:
        file.seek(_SIZES[kind], 1)
    return 0
