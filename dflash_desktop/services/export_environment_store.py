"""What of the export environments is on this disk: a folder for each, and what they share.

A folder is called after its environment and its lock, so an update is made beside what works.
Its record is written last: a folder without one was cut off.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.uv_program import python_inside

if TYPE_CHECKING:
    from dflash_desktop.services.export_lock import ExportLock

_RECORD_NAME: Final = ".dflash-environment.json"


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    environment: str
    lock: str
    packages: dict[str, str]
    unpacked_bytes: int


@dataclass(frozen=True, slots=True)
class InstalledEnvironment:
    """One that is whole, as far as its record says."""

    folder: Path
    lock: str
    packages: dict[str, str]  # names and versions
    unpacked_bytes: int


class ExportEnvironmentStore:
    """The folders below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.python_dir = root / "python"
        self._installing_file = root / "installing"

    def cache_dir(self, lock: ExportLock) -> Path:
        """Where packages are shared; never between what is locked and development builds."""
        return self.root / ("cache" if lock.is_hashed else "cache-development")

    def folder(self, environment_id: str, lock_digest: str) -> Path:
        """Where the environment is, or will be."""
        return self.root / f"{environment_id}-{lock_digest}"

    def folders(self, environment_id: str) -> tuple[Path, ...]:
        """All that is here of an environment, of other locks too."""
        with contextlib.suppress(OSError):
            return tuple(sorted(self.root.glob(f"{environment_id}-*")))
        return ()

    def installed(self, folder: Path) -> InstalledEnvironment | None:
        """What a folder's record says; None without one, or without the interpreter."""
        try:
            record = msgspec.json.decode((folder / _RECORD_NAME).read_bytes(), type=_Record)
        except (OSError, ValueError):
            return None
        if not python_inside(folder).exists():
            return None
        return InstalledEnvironment(folder, record.lock, record.packages, record.unpacked_bytes)

    def write_record(self, folder: Path, *, environment_id: str, lock: ExportLock) -> None:
        """Say that the folder is whole. Blocking, as all that follow; they raise `OSError`."""
        record = _Record(
            version=1,
            environment=environment_id,
            lock=lock.digest,
            packages={package.name: package.version for package in lock.packages},
            unpacked_bytes=lock.unpacked_bytes,
        )
        write_atomically(folder / _RECORD_NAME, msgspec.json.encode(record))

    def discard(self, folder: Path) -> None:
        """Delete a folder, its record first, so that no end of the program leaves half of it."""
        with contextlib.suppress(FileNotFoundError):
            (folder / _RECORD_NAME).unlink()
        if folder.exists():
            shutil.rmtree(folder)

    def clear_unfinished(self, lock: ExportLock) -> None:
        """Delete what an installer that was killed had not unpacked to the end."""
        for folder in self.cache_dir(lock).glob(".tmp*"):
            shutil.rmtree(folder, ignore_errors=True)

    def discard_shared(self, lock: ExportLock) -> None:
        """Delete what environments share, once the last that shares it is gone."""
        for part in (self.cache_dir(lock), self.python_dir):
            if part == self.python_dir and any(self.root.glob("*/pyvenv.cfg")):
                continue
            if part.exists():
                shutil.rmtree(part)

    def shares_files(self) -> bool:
        """Whether one file can be in two folders here; some disks know no hard links."""
        self.root.mkdir(parents=True, exist_ok=True)
        one, other = self.root / "link-test", self.root / "link-test-2"
        try:
            one.write_bytes(b"")
            os.link(one, other)
        except OSError:
            return False
        else:
            return True
        finally:
            for file in (one, other):
                with contextlib.suppress(OSError):
                    file.unlink()

    @property
    def installing_id(self) -> str:
        """Which environment the holder of the lock is installing."""
        try:
            return self._installing_file.read_text(encoding="utf-8")[:80]
        except (OSError, ValueError):
            return ""

    def say_installing(self, environment_id: str) -> None:
        """Let other processes know; "" when it is over."""
        if environment_id:
            self.root.mkdir(parents=True, exist_ok=True)
            self._installing_file.write_text(environment_id, encoding="utf-8")
        else:
            with contextlib.suppress(FileNotFoundError):
                self._installing_file.unlink()
