"""The bytes of a GGUF file's head, one after the other, in bounded memory and time."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

HEADER_LIMIT_BYTES: Final = 64 << 20
"""A vocabulary of 260,000 tokens with its merges takes about 15 MB."""
_CHUNK_BYTES: Final = 1 << 20
_STRINGS_LIMIT: Final = 1_000_000
"""Of all lists together; the largest vocabularies have 780,000 tokens and merges."""
_KEPT_TEXT_BYTES: Final = 4096
_U32: Final = struct.Struct("<I")
_U64: Final = struct.Struct("<Q")


class GgufError(Exception):
    """This file must not be converted; `code` is stable and for programs, the text says why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class GgufBytes:
    """Bytes of the head, one after the other, from a buffer of bounded size."""

    def __init__(self, read: Callable[[int], bytes], file_bytes: int) -> None:
        self._read = read
        self._limit = min(HEADER_LIMIT_BYTES, file_bytes)
        self._is_whole_file = file_bytes <= HEADER_LIMIT_BYTES
        self._buffer = b""
        self._at = 0
        self._before = 0  # bytes in earlier buffers
        self._strings = 0

    @property
    def taken_bytes(self) -> int:
        """How far it is from the start of the file."""
        return self._before + self._at

    def take(self, count: int) -> bytes:
        """The next bytes. Raises `GgufError`, as all that follow."""
        if self._at + count > len(self._buffer):
            self._fill(count)
        piece = self._buffer[self._at : self._at + count]
        self._at += count
        return piece

    def u32(self) -> int:
        """The next unsigned number of 32 bits."""
        value: int = _U32.unpack(self.take(4))[0]
        return value

    def u64(self) -> int:
        """The next unsigned number of 64 bits."""
        value: int = _U64.unpack(self.take(8))[0]
        return value

    def text(self, limit_bytes: int, owner: str) -> str:
        """The next text, which must be short."""
        length = self.u64()
        if length > limit_bytes:
            raise GgufError("gguf_damaged", f"{owner} has {length:,} bytes")
        try:
            return self.take(length).decode()
        except UnicodeDecodeError as error:
            raise GgufError("gguf_damaged", f"{owner} is not valid text") from error

    def long_text(self) -> str:
        """A text of any length; what is beyond a page of it is passed over."""
        length = self.u64()
        kept = self.take(min(length, _KEPT_TEXT_BYTES))
        self.skip(length - len(kept))
        return kept.decode("utf-8", "replace")

    def skip(self, count: int) -> None:
        """Pass over bytes."""
        self._ensure_allowed(count)
        while count:
            here = min(count, len(self._buffer) - self._at)
            self._at += here
            count -= here
            if count:
                self._fill(min(count, _CHUNK_BYTES))

    def skip_texts(self, count: int) -> None:
        """Pass over a list of texts: the one loop that runs a million times."""
        self._strings += count
        if self._strings > _STRINGS_LIMIT:
            raise GgufError("gguf_damaged", f"its lists hold {self._strings:,} texts")
        unpack, buffer, at = _U64.unpack_from, self._buffer, self._at
        last = len(buffer) - 8
        for _ in range(count):
            if at <= last:
                at += 8 + unpack(buffer, at)[0]
                if at <= last + 8:
                    continue
                self.skip(at - self._at)
            else:
                self._at = at
                self.skip(self.u64())
            buffer, at = self._buffer, self._at
            last = len(buffer) - 8
        self._at = at

    def _fill(self, count: int) -> None:
        self._ensure_allowed(count)
        rest = self._buffer[self._at :]
        self._before += self._at
        parts, length = [rest], len(rest)
        while length < count:
            piece = self._read(_CHUNK_BYTES)
            if not piece:
                raise _cut()
            parts.append(piece)
            length += len(piece)
        self._buffer, self._at = b"".join(parts), 0

    def _ensure_allowed(self, count: int) -> None:
        if self.taken_bytes + count <= self._limit:
            return
        if self._is_whole_file:
            raise _cut()
        raise GgufError("gguf_damaged", f"its head has more than {HEADER_LIMIT_BYTES >> 20} MB")


def _cut() -> GgufError:
    return GgufError("gguf_cut", "it ends in the middle of its head")
