"""SHA-256 of many files at the speed of the disk, on threads that can be stopped."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final, TypeVar

from dflash_desktop.domain.library import WorkProgress

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

_CHUNK_BYTES: Final = 1 << 20
_THREADS: Final = min(4, os.cpu_count() or 1)
_TELL_SECONDS: Final = 0.1

_T = TypeVar("_T")


class StoppedError(Exception):
    """Nobody waits for this work any more."""


class WorkCounter:
    """Bytes that were worked through, counted by several threads; also how these are stopped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._done_bytes = 0

    @property
    def done_bytes(self) -> int:
        """So far."""
        return self._done_bytes

    def add(self, count: int) -> None:
        """Count some more. Raises `StoppedError` once `stop` was called."""
        if self._stop.is_set():
            raise StoppedError
        with self._lock:
            self._done_bytes += count

    def stop(self) -> None:
        """Make every thread that counts here end with its next piece."""
        self._stop.set()


async def hash_files(
    files: Mapping[str, Path],
    *,
    total_bytes: int,
    on_progress: Callable[[WorkProgress], None] = lambda _: None,
) -> dict[str, str | OSError]:
    """The hex SHA-256 of each file by its key, or why it could not be read to its end.

    `on_progress` is called in the loop's thread, about ten times a second. Cancelling ends the
    threads within a piece of a megabyte.
    """
    counter = WorkCounter()

    def work(path: Path) -> str | OSError:
        try:
            return hash_file(path, counter)
        except OSError as error:
            return error

    def tell(done_bytes: int) -> None:
        # A file that grows meanwhile gives more than was announced.
        on_progress(WorkProgress(min(done_bytes, total_bytes), total_bytes))

    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="ThreadPoolExecutor-hash") as pool:
        jobs = {key: loop.run_in_executor(pool, work, path) for key, path in files.items()}
        await finish(jobs.values(), counter, on_done_bytes=tell)
    return {key: job.result() for key, job in jobs.items()}


async def finish(
    jobs: Collection[asyncio.Future[_T]],
    counter: WorkCounter,
    *,
    on_done_bytes: Callable[[int], None],
) -> None:
    """Wait for jobs on threads and say how far they are; cancelling stops them first.

    What they raise is theirs to tell: ask each for its result.
    """
    pending = set(jobs)
    try:
        while pending:
            _, pending = await asyncio.wait(pending, timeout=_TELL_SECONDS)
            on_done_bytes(counter.done_bytes)
    finally:
        counter.stop()
        if pending:
            await asyncio.wait(pending)
        for job in jobs:
            job.exception()  # seen, so that nobody misses it when we were cancelled


def file_sha256(path: Path) -> str:
    """The hex SHA-256 of one file, with nobody counting. Blocking; raises `OSError`."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def hash_file(path: Path, counter: WorkCounter) -> str:
    """The hex SHA-256 of one file. Blocking; raises `OSError` and `StoppedError`."""
    digest, buffer = hashlib.sha256(), bytearray(_CHUNK_BYTES)
    view = memoryview(buffer)
    with path.open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            digest.update(view[:count])
            counter.add(count)
    return digest.hexdigest()
