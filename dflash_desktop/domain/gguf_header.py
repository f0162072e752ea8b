"""Read a GGUF file's head: its metadata and its table of tensors, without any weights.

The file is not trusted: whoever converts it does so in native code that believes every number in
it. So each count, length, type and place is checked here first, against fixed limits and against
the size of the file, in bounded memory and time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

from dflash_desktop.domain.gguf_bytes import GgufBytes, GgufError

MAGIC: Final = b"GGUF"
_KEY_LIMIT: Final = 4096
_TENSOR_LIMIT: Final = 1 << 16
_KEY_LIMIT_BYTES: Final = 1024
_NAME_LIMIT_BYTES: Final = 255
_RANK_LIMIT: Final = 4
_COUNT_LIMIT: Final = 1 << 50
_DEFAULT_ALIGNMENT: Final = 32
_ALIGNMENTS: Final = frozenset(1 << power for power in range(3, 17))

_SCALARS: Final[Mapping[int, struct.Struct]] = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
TEXT_TYPE: Final = 8
LIST_TYPE: Final = 9

TENSOR_TYPES: Final[Mapping[int, tuple[str, int, int]]] = {
    0: ("F32", 1, 4),
    1: ("F16", 1, 2),
    2: ("Q4_0", 32, 18),
    3: ("Q4_1", 32, 20),
    6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24),
    8: ("Q8_0", 32, 34),
    9: ("Q8_1", 32, 36),
    10: ("Q2_K", 256, 84),
    11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144),
    13: ("Q5_K", 256, 176),
    14: ("Q6_K", 256, 210),
    15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66),
    17: ("IQ2_XS", 256, 74),
    18: ("IQ3_XXS", 256, 98),
    19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18),
    21: ("IQ3_S", 256, 110),
    22: ("IQ2_S", 256, 82),
    23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1),
    25: ("I16", 1, 2),
    26: ("I32", 1, 4),
    27: ("I64", 1, 8),
    28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56),
    30: ("BF16", 1, 2),
    34: ("TQ1_0", 256, 54),
    35: ("TQ2_0", 256, 66),
    39: ("MXFP4", 32, 17),
}
"""By number: the name, and how many values a block has in how many bytes."""


@dataclass(frozen=True, slots=True)
class GgufList:
    """A list in the metadata; its items are passed over."""

    item_type: int
    count: int


@dataclass(frozen=True, slots=True)
class GgufValue:
    """One entry of the metadata; a long text is cut."""

    type: int
    value: int | float | bool | str | GgufList


@dataclass(frozen=True, slots=True)
class GgufTensor:
    """One tensor of the table; the first length is that of a row, as in the file."""

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int  # bytes, from the start of all tensors
    size_bytes: int

    @property
    def type_name(self) -> str:
        """As people call it: "Q4_K"."""
        return TENSOR_TYPES[self.type][0]

    @property
    def value_count(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What is true of the file: all tensors lie inside of it, and none over another."""

    version: int
    metadata: Mapping[str, GgufValue]
    tensors: Mapping[str, GgufTensor]
    tensors_at: int  # bytes, from the start of the file


def read_gguf_header(read: Callable[[int], bytes], *, file_bytes: int) -> GgufHeader:
    """The head of the file of that size, from its first byte on; `read` gives at most n bytes.

    Raises `GgufError`: "gguf_not_gguf", "gguf_version", "gguf_cut" or "gguf_damaged", and
    whatever `read` raises.
    """
    source = GgufBytes(read, file_bytes)
    version = _version(source, file_bytes)
    tensor_count, key_count = source.u64(), source.u64()
    _limit(tensor_count, _TENSOR_LIMIT, "tensors")
    _limit(key_count, _KEY_LIMIT, "entries of metadata")
    metadata: dict[str, GgufValue] = {}
    for _ in range(key_count):
        key = source.text(_KEY_LIMIT_BYTES, "a key")
        if key in metadata:
            raise GgufError("gguf_damaged", f"the entry {_shown(key)} is there twice")
        metadata[key] = _value(source, key)
    alignment = _alignment(metadata)
    tensors: dict[str, GgufTensor] = {}
    for _ in range(tensor_count):
        tensor = _tensor(source, alignment)
        if tensor.name in tensors:
            raise GgufError("gguf_damaged", f"the tensor {_shown(tensor.name)} is there twice")
        tensors[tensor.name] = tensor
    tensors_at = source.taken_bytes + -source.taken_bytes % alignment
    _check_places(tensors, file_bytes - tensors_at)
    return GgufHeader(version, metadata, tensors, tensors_at)


def _version(source: GgufBytes, file_bytes: int) -> int:
    if file_bytes < len(MAGIC) or source.take(len(MAGIC)) != MAGIC:
        raise GgufError("gguf_not_gguf", "it does not begin as a GGUF file does")
    version = source.u32()
    if version in (2, 3):
        return version
    if version in (2 << 24, 3 << 24):
        raise GgufError("gguf_version", "it was written for big-endian machines")
    raise GgufError("gguf_version", f"it is of version {version}, and 2 and 3 can be read")


def _value(source: GgufBytes, key: str) -> GgufValue:
    kind = source.u32()
    if kind == TEXT_TYPE:
        return GgufValue(kind, source.long_text())
    if kind == LIST_TYPE:
        return GgufValue(kind, _list(source, key))
    form = _SCALARS.get(kind)
    if form is None:
        raise GgufError("gguf_damaged", f"the entry {_shown(key)} is of the type {kind}")
    return GgufValue(kind, form.unpack(source.take(form.size))[0])


def _list(source: GgufBytes, key: str) -> GgufList:
    kind, count = source.u32(), source.u64()
    form = _SCALARS.get(kind)
    if kind == TEXT_TYPE:
        source.skip_texts(count)
    elif form is None:
        raise GgufError("gguf_damaged", f"the list {_shown(key)} holds items of the type {kind}")
    else:
        source.skip(count * form.size)
    return GgufList(kind, count)


def _alignment(metadata: Mapping[str, GgufValue]) -> int:
    entry = metadata.get("general.alignment")
    if entry is None:
        return _DEFAULT_ALIGNMENT
    if entry.type != 4 or entry.value not in _ALIGNMENTS:
        raise GgufError("gguf_damaged", f"its tensors are aligned to {str(entry.value)[:40]}")
    return int(entry.value)


def _tensor(source: GgufBytes, alignment: int) -> GgufTensor:
    name = source.text(_NAME_LIMIT_BYTES, "a tensor's name")
    rank = source.u32()
    if not 1 <= rank <= _RANK_LIMIT:
        raise GgufError("gguf_damaged", f"{_shown(name)} has {rank:,} dimensions")
    shape = tuple(source.u64() for _ in range(rank))
    kind, offset = source.u32(), source.u64()
    if kind not in TENSOR_TYPES:
        raise GgufError("gguf_damaged", f"{_shown(name)} is of the unknown type {kind}")
    type_name, block_values, block_bytes = TENSOR_TYPES[kind]
    count = prod(shape)
    if not 0 < count <= _COUNT_LIMIT:
        raise GgufError("gguf_damaged", f"{_shown(name)} has the shape {list(shape)}")
    if shape[0] % block_values:
        reason = f"has rows of {shape[0]}, and {type_name} needs a multiple of {block_values}"
        raise GgufError("gguf_damaged", f"{_shown(name)} {reason}")
    if offset % alignment:
        raise GgufError("gguf_damaged", f"{_shown(name)} lies at {offset:,}, which is not aligned")
    return GgufTensor(name, shape, kind, offset, count // block_values * block_bytes)


def _check_places(tensors: Mapping[str, GgufTensor], data_bytes: int) -> None:
    end, before = 0, ""
    for tensor in sorted(tensors.values(), key=lambda one: one.offset):
        if tensor.offset < end:
            names = f"{_shown(before)} and {_shown(tensor.name)}"
            raise GgufError("gguf_damaged", f"{names} lie over each other")
        end, before = tensor.offset + tensor.size_bytes, tensor.name
    if end > data_bytes:
        raise GgufError(
            "gguf_cut", f"its tensors need {end:,} bytes, and {max(0, data_bytes):,} are there"
        )


def _limit(count: int, limit: int, what: str) -> None:
    if count > limit:
        raise GgufError("gguf_damaged", f"it claims to hold {count:,} {what}")


def _shown(text: str) -> str:
    return repr(text[:80])
