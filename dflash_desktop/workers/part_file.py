"""The bytes of a file that have arrived so far, on the disk and in its hash alike."""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING, Final

from dflash_desktop.workers.stream_digest import READ_BYTES, FileHashes, StreamDigest, feed_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import IO

WRITTEN_BYTES: Final = 1024 * 1024
"""At most so much of a file is lost when this process is killed…"""

WRITTEN_SECONDS: Final = 0.25
"""…or what arrived in this time, if that is less."""

SYNCED_BYTES: Final = 256 * 1024 * 1024
"""After so many bytes the disk must have them: a slow one would else need minutes at the end."""


class PartFile:
    """One file on its way; end it with `close`. `on_block` may raise to stop a long reading."""

    def __init__(
        self, path: Path, size_bytes: int, *, wants_git: bool, on_block: Callable[[], None]
    ) -> None:
        """`size_bytes` is what the whole file will have."""
        self.path = path
        self._size_bytes = size_bytes
        self._wants_git = wants_git
        self._on_block = on_block
        self._digest: StreamDigest | None = None
        self._stream: IO[bytes] | None = None
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._written_at = 0.0
        self._unsynced_bytes = 0

    @property
    def present_bytes(self) -> int:
        """What is on the disk."""
        with contextlib.suppress(FileNotFoundError):
            return self.path.stat().st_size
        return 0

    def empty(self) -> None:
        """Begin with the first byte. Raises `OSError`."""
        self.close()
        self.path.unlink(missing_ok=True)  # never by cutting it: it may be a link
        self.path.touch()

    @contextlib.contextmanager
    def appending(self) -> Iterator[None]:
        """While open, `append` works; at its end everything is on the disk. Raises `OSError`."""
        self.catch_up()
        self._written_at = time.monotonic()
        with self.path.open("ab", buffering=0) as self._stream:
            try:
                yield
            finally:
                self._write()

    def copy(self, source: Path) -> None:
        """Take all bytes of another file, anew. Raises `OSError`."""
        self.empty()
        with source.open("rb", buffering=0) as stream, self.appending():
            while block := stream.read(READ_BYTES):
                self._on_block()
                self.append(block)

    def append(self, chunk: bytes) -> None:
        """Raises `OSError`."""
        self._pending.append(chunk)
        self._pending_bytes += len(chunk)
        late = time.monotonic() - self._written_at >= WRITTEN_SECONDS
        if late or self._pending_bytes >= WRITTEN_BYTES:
            self._write()

    def hashes(self) -> FileHashes:
        """Of all that is on the disk. Raises `OSError`."""
        digest = self.catch_up()
        self._digest = None
        return digest.result()

    def catch_up(self) -> StreamDigest:
        """The hash of every byte on the disk: another process may have written them.

        Many of them take a while; call it before a connection is opened, or that one will have
        been closed meanwhile. Raises `OSError`.
        """
        here = self.present_bytes
        if self._digest is not None and self._digest.fed_bytes == here:
            return self._digest
        self.close()
        self._digest = StreamDigest(self._size_bytes, wants_git=self._wants_git)
        if here:
            feed_file(self._digest, self.path, here, on_block=self._on_block)
        return self._digest

    def close(self) -> None:
        """Let go of the hash's thread; the bytes stay."""
        if self._digest is not None:
            self._digest.abandon()
            self._digest = None

    def _write(self) -> None:
        assert self._stream is not None  # noqa: S101 - only while appending
        assert self._digest is not None  # noqa: S101
        block = b"".join(self._pending)
        self._pending.clear()
        self._pending_bytes = 0
        rest = memoryview(block)
        while rest:
            rest = rest[self._stream.write(rest) :]
        self._unsynced_bytes += len(block)
        if self._unsynced_bytes >= SYNCED_BYTES:
            os.fsync(self._stream.fileno())
            self._unsynced_bytes = 0
        self._digest.feed(block)
        self._written_at = time.monotonic()
