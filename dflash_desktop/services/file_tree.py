"""What lies below a folder, seen without following a link out of it."""

from __future__ import annotations

import os
import stat
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_ENTRY_LIMIT: Final = 200_000
_DEPTH_LIMIT: Final = 64
_REPARSE_POINT: Final = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT: a junction, a link, a cloud file


_MOVE_ATTEMPTS: Final = 8 if sys.platform == "win32" else 1
_MOVE_PAUSE_SECONDS: Final = 0.25


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """One thing below a folder; `path` is relative, with "/"."""

    path: str
    size_bytes: int
    is_folder: bool  # a real one, on the same disk
    is_plain: bool  # an ordinary file or such a folder: no link, no junction, no device
    identity: tuple[int, int]  # of the file itself, which may have several names
    name_count: int


def is_link(path: Path) -> bool:
    """Whether this name leads to somewhere else: a symbolic link, or a junction on Windows."""
    try:
        return _is_link(os.lstat(path))
    except OSError:
        return False


def is_same(one: Path, other: Path) -> bool:
    """Whether both names lead to one folder or file; what is not there is told by its name."""
    try:
        return one.samefile(other)
    except OSError:
        return one == other


def rename_folder(source: Path, destination: Path) -> None:
    """Rename a folder, patiently on Windows. Raises `OSError`."""
    # WORKAROUND: on Windows an open file, for instance one that a virus scanner reads, keeps its
    # folder from being renamed for a moment: https://github.com/openvinotoolkit/openvino/issues/26844
    for attempt in range(1, _MOVE_ATTEMPTS + 1):
        try:
            source.rename(destination)
        except PermissionError:
            if attempt == _MOVE_ATTEMPTS:
                raise
            time.sleep(_MOVE_PAUSE_SECONDS)
        else:
            return


def write_folder_through(folder: Path) -> None:
    """Have the system write the names in a folder onto the disk. Raises `OSError`."""
    if sys.platform == "win32":  # folders cannot be opened there, and renames are journalled
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def tree_entries(folder: Path) -> Iterator[TreeEntry]:
    """Everything below the folder, a folder before what is in it; links are told, not followed.

    Raises `OSError`, also when there is more than any model holds.
    """
    disk = os.lstat(folder).st_dev
    pending = [("", 0)]
    count = 0
    while pending:
        prefix, depth = pending.pop()
        with os.scandir(folder / prefix) as found:
            names = sorted(entry.name for entry in found)
        for name in names:
            count += 1
            if count > _ENTRY_LIMIT or depth > _DEPTH_LIMIT:
                raise OSError(f"there is too much in {folder}")
            path = f"{prefix}/{name}" if prefix else name
            entry = _entry(folder / path, path, disk)
            yield entry
            if entry.is_folder:
                pending.append((path, depth + 1))


def sizes_of(folder: Path, parents: Iterable[str], *, follow_links: bool) -> dict[str, int]:
    """The sizes of the files in these folders below `folder`; what cannot be read is left out."""
    sizes: dict[str, int] = {}
    for parent in parents:
        try:
            with os.scandir(folder / parent if parent else folder) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=follow_links):
                        path = f"{parent}/{entry.name}" if parent else entry.name
                        sizes[path] = entry.stat(follow_symlinks=follow_links).st_size
        except OSError:
            continue
    return sizes


def _entry(full: Path, path: str, disk: int) -> TreeEntry:
    info = os.lstat(full)
    is_link_ = _is_link(info)
    is_folder = stat.S_ISDIR(info.st_mode) and not is_link_ and info.st_dev == disk
    return TreeEntry(
        path=path,
        size_bytes=info.st_size,
        is_folder=is_folder,
        is_plain=is_folder or (stat.S_ISREG(info.st_mode) and not is_link_),
        identity=(info.st_dev, info.st_ino),
        name_count=info.st_nlink,
    )


def _is_link(info: os.stat_result) -> bool:
    attributes: int = getattr(info, "st_file_attributes", 0)
    return stat.S_ISLNK(info.st_mode) or bool(attributes & _REPARSE_POINT)
