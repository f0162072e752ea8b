"""Hashes of bytes while they arrive, computed so that neither waits for the other."""

from __future__ import annotations

import hashlib
import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

READ_BYTES: Final = 1024 * 1024
_THREAD_FROM_BYTES: Final = 8 * 1024 * 1024
_QUEUED_BLOCKS: Final = 16


@dataclass(frozen=True, slots=True)
class FileHashes:
    """What a file is known by; git's blob id is not computed for large files."""

    sha256: str
    git_blob_id: str | None


class StreamDigest:
    """The hashes of one file of known size, fed from its first byte on.

    Large files are hashed on a thread of their own (hashlib lets other threads run meanwhile);
    every digest must end with `result` or `abandon`, which end that thread.
    """

    def __init__(self, size_bytes: int, *, wants_git: bool) -> None:
        self.fed_bytes = 0
        self._sha256 = hashlib.sha256()
        self._git = hashlib.sha1(usedforsecurity=False) if wants_git else None
        if self._git is not None:
            self._git.update(b"blob %d\0" % size_bytes)
        self._blocks: queue.Queue[bytes | None] = queue.Queue(_QUEUED_BLOCKS)
        self._thread: threading.Thread | None = None
        if size_bytes >= _THREAD_FROM_BYTES:
            self._thread = threading.Thread(target=self._work, name="digest", daemon=True)
            self._thread.start()

    def feed(self, block: bytes) -> None:
        """Waits when the processor is slower than the network."""
        self.fed_bytes += len(block)
        if self._thread is None:
            self._update(block)
        else:
            self._blocks.put(block)

    def result(self) -> FileHashes:
        """The hashes of everything that was fed."""
        self._end()
        git_blob_id = self._git.hexdigest() if self._git is not None else None
        return FileHashes(self._sha256.hexdigest(), git_blob_id)

    def abandon(self) -> None:
        """End without a result."""
        self._end()

    def _end(self) -> None:
        if self._thread is not None:
            self._blocks.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while (block := self._blocks.get()) is not None:
            self._update(block)

    def _update(self, block: bytes) -> None:
        self._sha256.update(block)
        if self._git is not None:
            self._git.update(block)


def feed_file(
    digest: StreamDigest, file: Path, size_bytes: int, *, on_block: Callable[[], None]
) -> None:
    """Feed the first `size_bytes` of a file; `on_block` may raise to stop. Raises `OSError`."""
    with file.open("rb", buffering=0) as stream:
        left = size_bytes
        while left:
            block = stream.read(min(READ_BYTES, left))
            if not block:
                raise OSError(f"{file} ended {left} bytes too early")
            digest.feed(block)
            left -= len(block)
            on_block()
