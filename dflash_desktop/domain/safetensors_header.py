"""Read the head of a safetensors file: which tensors it holds, without any of their numbers.

The file is not trusted: lengths, types and places are held against the file's size.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Final, TypeGuard

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH: Final = struct.Struct("<Q")
_HEADER_LIMIT_BYTES: Final = 32 << 20
"""The format allows 100 MB. But 91,000 tensors in one file take 12 MB, and parsing
holds the process."""
_TENSOR_LIMIT: Final = 1 << 18
_RANK_LIMIT: Final = 8
BITS: Final = {
    **dict.fromkeys(("F64", "I64", "U64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("F8_E4M3", "F8_E5M2", "F8_E8M0", "I8", "U8", "BOOL"), 8),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}
"""How wide a number of each type is."""


class SafetensorsError(Exception):
    """This is no whole safetensors file; the text says why."""


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """One tensor of a file; `dtype` is a key of `BITS`."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def value_count(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)


def read_safetensors_header(
    read: Callable[[int], bytes], *, file_bytes: int
) -> tuple[StoredTensor, ...]:
    """The tensors of the file of that size; `read` gives its bytes from the first on.

    Raises `SafetensorsError`, and whatever `read` raises.
    """
    start = read(_LENGTH.size)
    if len(start) < _LENGTH.size:
        raise SafetensorsError("it is shorter than its own head")
    (length,) = _LENGTH.unpack(start)
    if length > min(_HEADER_LIMIT_BYTES, file_bytes - _LENGTH.size):
        raise SafetensorsError(f"it claims a head of {length:,} bytes")
    try:
        loaded = json.loads(read(length))
    except (ValueError, RecursionError) as error:
        raise SafetensorsError("its head is no JSON") from error
    if not isinstance(loaded, dict) or len(loaded) > _TENSOR_LIMIT:
        raise SafetensorsError("its head lists no tensors")
    loaded.pop("__metadata__", None)
    data_bytes = file_bytes - _LENGTH.size - length
    return tuple(_tensor(name, fields, data_bytes) for name, fields in loaded.items())


def _tensor(name: str, fields: object, data_bytes: int) -> StoredTensor:
    shown = name[:80]
    if not isinstance(fields, dict):
        raise SafetensorsError(f"{shown} is not described")
    dtype, shape, places = (fields.get(key) for key in ("dtype", "shape", "data_offsets"))
    if dtype not in BITS:
        raise SafetensorsError(f"{shown} is of the unknown type {str(dtype)[:20]}")
    if not _are_counts(shape) or len(shape) > _RANK_LIMIT:
        raise SafetensorsError(f"{shown} has no shape")
    if not _are_counts(places) or len(places) != 2:
        raise SafetensorsError(f"{shown} has no place")
    size = prod(shape) * BITS[dtype] // 8
    if not 0 <= places[0] <= places[1] <= data_bytes or places[1] - places[0] != size:
        raise SafetensorsError(f"{shown} lies where the file has no such bytes")
    return StoredTensor(name, dtype, tuple(shape))


def _are_counts(value: object) -> TypeGuard[list[int]]:
    return isinstance(value, list) and all(
        isinstance(one, int) and not isinstance(one, bool) and 0 <= one < 1 << 50 for one in value
    )
