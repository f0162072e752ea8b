"""What a disk can still take, where a folder is or will be; plain calls, for every process."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def existing_folder(folder: Path) -> Path:
    """The folder, or the nearest existing one above it."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def free_disk_bytes(folder: Path) -> int:
    """What the disk of `folder`, which need not exist yet, can still take. Raises `OSError`."""
    return shutil.disk_usage(existing_folder(folder)).free


def told_free_disk_bytes(folder: Path) -> int | None:
    """The same as far as the system tells it: of the first place upwards that answers."""
    for place in (folder, *folder.parents):
        try:
            return shutil.disk_usage(place).free
        except OSError:
            continue
    return None
