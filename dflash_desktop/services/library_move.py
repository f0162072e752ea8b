"""Move the whole library to another place, so that it is whole in one of them at every moment.

Everything is copied (on the same disk: gets a second name), read back and compared; then one
small file says where the library is; only then does the old place go. Whatever ends the program
in between leaves the library whole and a leftover that is known.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.file_hashing import hash_file
from dflash_desktop.services.file_tree import is_link, tree_entries, write_folder_through
from dflash_desktop.services.library_place import (
    PARTS,
    MoveJournal,
    check_room,
    clear_journal,
    read_journal,
    settle,
    write_journal,
)
from dflash_desktop.services.model_removal import delete_entries
from dflash_desktop.workers.disk_room import existing_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.file_hashing import WorkCounter
    from dflash_desktop.services.file_tree import TreeEntry

_log = logging.getLogger(__name__)

_CHUNK_BYTES: Final = 1 << 20
_NO_LINKS: Final = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})


def library_entries(library_dir: Path) -> dict[str, tuple[TreeEntry, ...]]:
    """What a move takes along, by part. Blocking.

    Raises `AppError` ("library_has_links") for what cannot be copied as it is, and `OSError`.
    """
    found: dict[str, tuple[TreeEntry, ...]] = {}
    for part in PARTS:
        folder = library_dir / part
        if is_link(folder):
            raise AppError(_has_links(folder))
        if folder.is_dir():
            found[part] = tuple(tree_entries(folder))
            for entry in found[part]:
                if not entry.is_plain:
                    raise AppError(_has_links(folder / entry.path))
    return found


def moved_bytes(entries: dict[str, tuple[TreeEntry, ...]]) -> int:
    """The sizes of all files."""
    return sum(e.size_bytes for part in entries.values() for e in part if not e.is_folder)


def move_library(
    place: Path,
    entries: dict[str, tuple[TreeEntry, ...]],
    *,
    paths: AppPaths,
    counter: WorkCounter,
) -> None:
    """Move what `library_entries` found to `place`. Blocking, for hours perhaps; hold the lock.

    The counter counts every byte twice: written, and read back. Its `StoppedError`, an `AppError`
    ("disk_full", "move_failed") and `OSError` leave the library where it was and nothing at
    `place`.
    """
    source = paths.library_dir
    if read_journal(paths) is not None:
        clear_journal(paths)  # the caller has cleared away what it names
    made = _Made(place)
    write_journal(paths, MoveJournal(source, place))
    try:
        if not _is_same_disk(source, place):
            check_room(place, moved_bytes(entries))
        made.folder(place)  # an empty library has a place, too
        for part, found in entries.items():
            _take(source / part, place / part, found, made, counter)
        made.write_through()
        settle(paths, place)
    except BaseException:
        if paths.library_dir == source:
            made.undo()
            with suppress(OSError):
                clear_journal(paths)
        raise
    try:
        _delete_old(source, entries)
        clear_journal(paths)
    except OSError as error:
        _log.info("the old place of the library stays as a leftover: %s", error)


class _Made:
    """What was made in the new place, so that it can be taken back."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._files: list[Path] = []
        self._folders: list[Path] = []

    def folder(self, path: Path) -> None:
        """Make a folder and what is missing above it."""
        for parent in reversed((path, *path.parents)):
            if not parent.exists():
                parent.mkdir()
                self._folders.append(parent)

    def file(self, path: Path) -> None:
        """Note a file that was just made."""
        self._files.append(path)

    def write_through(self) -> None:
        """Have the system write the names, too."""
        for folder in self._folders:
            write_folder_through(folder)

    def undo(self) -> None:
        """Delete all of it; what cannot be deleted stays as a leftover."""
        for path in self._files:
            with suppress(OSError):
                path.unlink()
        for path in reversed(self._folders):
            with suppress(OSError):
                path.rmdir()


def _is_same_disk(source: Path, place: Path) -> bool:
    return source.stat().st_dev == existing_folder(place).stat().st_dev


def _take(
    source: Path,
    destination: Path,
    entries: Sequence[TreeEntry],
    made: _Made,
    counter: WorkCounter,
) -> None:
    made.folder(destination)
    for entry in entries:
        target = destination / entry.path
        if entry.is_folder:
            made.folder(target)
        else:
            _take_file(source / entry.path, target, made, counter)


def _take_file(source: Path, target: Path, made: _Made, counter: WorkCounter) -> None:
    counter.add(0)
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
    else:
        made.file(target)
        counter.add(2 * target.stat().st_size)
        return
    copied = _copy(source, target, made, counter)
    # Read back: a disk that loses bytes silently is why people move their models.
    if hash_file(target, counter) != copied:
        raise AppError(_wrong_copy(target))


def _copy(source: Path, target: Path, made: _Made, counter: WorkCounter) -> str:
    """Copy the bytes, see them onto the disk, and tell the SHA-256 of what was read."""
    digest, buffer = hashlib.sha256(), bytearray(_CHUNK_BYTES)
    view = memoryview(buffer)
    with source.open("rb", buffering=0) as reader, target.open("xb", buffering=0) as writer:
        made.file(target)
        while count := reader.readinto(buffer):
            digest.update(view[:count])
            written = 0
            while written < count:
                written += writer.write(view[written:count])
            counter.add(count)
        os.fsync(writer.fileno())
        if sys.platform == "linux":  # else it would be read back from memory, not from the disk
            os.posix_fadvise(writer.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with suppress(OSError):  # the times of a file are worth keeping, not worth failing for
        shutil.copystat(source, target)
    return digest.hexdigest()


def _delete_old(source: Path, entries: dict[str, tuple[TreeEntry, ...]]) -> None:
    for part, found in entries.items():
        delete_entries(source / part, found)
    with suppress(OSError):  # it holds something else: the conversations, for instance
        source.rmdir()


def _has_links(path: Path) -> Problem:
    return Problem(
        code="library_has_links",
        headline="The library holds a link to another place.",
        advice=f"Remove or replace it first: {path}",
        remedies=(Remedy.RETRY,),
    )


def _wrong_copy(path: Path) -> Problem:
    return Problem(
        code="move_failed",
        headline="A copy is not what was written.",
        advice="The new disk or its cable is not reliable. The models are where they were.",
        detail=str(path),
    )
