"""Which models are loaded by which process, so that a command never deletes what a window uses.

Each process that loads a pair keeps one small file and a lock beside it. The system frees the lock
however the process ends, and what a dead process wrote counts for nothing.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.install_lock import InstallLock

if TYPE_CHECKING:
    from collections.abc import Iterable

_log = logging.getLogger(__name__)

_LIMIT_BYTES: Final = 1 << 20


class _Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    folders: Annotated[tuple[str, ...], msgspec.Meta(max_length=64)]


class ModelsInUse:
    """The folders that processes of this person have loaded. Blocking, quick."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._name = str(os.getpid())
        self._lock = InstallLock(folder / f"{self._name}.lock")

    def mark(self, folders: Iterable[Path]) -> None:
        """This process uses these from now on, and no others. Raises `OSError`."""
        if not self._lock.is_mine:
            self._sweep()
            self._lock.acquire()
        names = [str(folder) for folder in folders]
        data = msgspec.json.encode({"version": 1, "folders": names})
        write_atomically(self._folder / f"{self._name}.json", data)

    def by_others(self) -> tuple[Path, ...]:
        """What other processes that are alive have loaded."""
        found: list[Path] = []
        for lock_file in self._locks():
            if lock_file.stem != self._name and InstallLock(lock_file).is_held_by_anyone():
                found += _read(lock_file.with_suffix(".json"))
        return tuple(found)

    def _locks(self) -> list[Path]:
        try:
            return sorted(self._folder.glob("*.lock"))
        except OSError:
            return []

    def _sweep(self) -> None:
        """Take away what dead processes left."""
        for lock_file in self._locks():
            lock = InstallLock(lock_file)
            try:
                if lock.acquire():
                    lock_file.with_suffix(".json").unlink(missing_ok=True)
                    lock.release()
                    lock_file.unlink(missing_ok=True)
            except OSError as error:
                _log.info("%s stays: %s", lock_file, error)


def _read(file: Path) -> list[Path]:
    try:
        with file.open("rb") as stream:
            form = msgspec.json.decode(stream.read(_LIMIT_BYTES), type=_Form)
    except (OSError, ValueError):
        return []
    return [Path(name) for name in form.folders]
