"""A GGUF file's metadata as GenAI reads it: it casts without looking, so here it is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_header import TEXT_TYPE, GgufList

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflash_desktop.domain.gguf_header import GgufValue

INT32_TYPE: Final = 5
_UINT32: Final = 4
_FLOAT32: Final = 6


class GgufMetadata:
    """Entries of the kinds that GenAI reads them as: it casts without looking."""

    def __init__(self, entries: Mapping[str, GgufValue]) -> None:
        self._entries = entries

    def has(self, key: str) -> bool:
        """Whether there is such an entry."""
        return key in self._entries

    def text(self, key: str) -> str:
        """A text. Raises `GgufError`, as all that follow."""
        entry = self._entries.get(key)
        if entry is None or entry.type != TEXT_TYPE:
            raise missing(f"the entry {key!r}")
        return str(entry.value)

    def number(self, key: str, *, default: int | None = None) -> int:
        """A number of 32 bits, not below zero."""
        entry = self._entries.get(key)
        if entry is None and default is not None:
            return default
        if (
            entry is None
            or entry.type not in (_UINT32, INT32_TYPE)
            or not isinstance(entry.value, int)
        ):
            raise missing(f"a number {key!r}")
        if not 0 <= entry.value < 1 << 31:
            raise GgufError("gguf_damaged", f"{key!r} is {entry.value:,}")
        return entry.value

    def real(self, key: str) -> float:
        """A number with a point."""
        entry = self._entries.get(key)
        if entry is None or entry.type != _FLOAT32 or not isinstance(entry.value, float):
            raise missing(f"a number {key!r}")
        return entry.value

    def items(self, key: str, item_type: int) -> int:
        """How many items of this type a list holds; at least one."""
        entry = self._entries.get(key)
        if entry is None or not isinstance(entry.value, GgufList):
            raise missing(f"the list {key!r}")
        if entry.value.item_type != item_type or not entry.value.count:
            raise GgufError("gguf_damaged", f"the list {key!r} holds other things than expected")
        return entry.value.count

    def token(self, key: str, count: int) -> int | None:
        """The id of a token in a vocabulary of `count`, if the entry is there."""
        if not self.has(key):
            return None
        number = self.number(key)
        if number >= count:
            raise GgufError("gguf_damaged", f"{key!r} is {number:,}, beyond the vocabulary")
        return number


def missing(what: str) -> GgufError:
    """Something that GenAI looks up is not there."""
    return GgufError("gguf_incomplete", f"{what} is missing")
