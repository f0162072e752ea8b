"""How a repository lies in a transfer's incoming folder while it is on its way.

A verified file has its own name; what is on its way is named by its hash, so that nothing is ever
continued with the bytes of another commit. A record tells which files were verified, so that the
next attempt need not read them all again.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import time
import zlib
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.domain.transfer import PlannedFile, incoming_folder_name
from dflash_desktop.workers.disk_room import existing_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

BOOKKEEPING: Final = ".incoming"
"""The folder inside a repository's folder that must be gone before it is a model."""

_REPLACE_PAUSES_SECONDS: Final = (0.1, 0.3, 1.0) if sys.platform == "win32" else ()
_RECORD: Final = "verified.jsonl"
_HASH: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class _Verified(msgspec.Struct, frozen=True):
    """One line of the record."""

    path: str
    etag: str
    size_bytes: int
    mtime_ns: int
    sha256: str


class IncomingFolder:
    """One repository's part of an incoming folder; reading it makes nothing."""

    def __init__(self, incoming_dir: Path, repo_id: str) -> None:
        self.root = incoming_dir / incoming_folder_name(repo_id)
        self._bookkeeping = self.root / BOOKKEEPING
        self._verified = self._read_record()

    def make(self) -> None:
        """Create the folders. Raises `OSError`."""
        self._bookkeeping.mkdir(parents=True, exist_ok=True)

    def final_path(self, file: PlannedFile) -> Path:
        """Where the file lies once it is verified."""
        return self.root / file.path

    def part_path(self, file: PlannedFile) -> Path:
        """Where its bytes are collected: of limited length, whatever the file is called."""
        return self._bookkeeping / part_name(file)

    def xet_folder(self) -> Path:
        """Where Xet may lay its files."""
        return self._bookkeeping / "xet"

    def verified_sha256(self, file: PlannedFile) -> str | None:
        """The hash of a file that was verified and has not been touched since, else None."""
        record = self._verified.get(file.path)
        if record is None or record.etag != etag_of(file):
            return None
        try:
            status = self.final_path(file).stat()
        except OSError:
            return None
        same = (status.st_size, status.st_mtime_ns) == (record.size_bytes, record.mtime_ns)
        return record.sha256 if same else None

    def present_bytes(self, file: PlannedFile) -> int:
        """How much of the file an earlier attempt has left here."""
        if _size(self.final_path(file)) == file.size_bytes:
            return file.size_bytes
        part_bytes = _size(self.part_path(file)) or 0
        return part_bytes if part_bytes <= file.size_bytes else 0

    def adopt(self, file: PlannedFile, sha256: str, *, is_linked: bool = False) -> None:
        """Give a verified file its name, safe from a power cut, and write that down.

        `is_linked` says that its bytes have long been on the disk.
        """
        part, final = self.part_path(file), self.final_path(file)
        if not is_linked:
            with part.open("rb+") as stream:
                os.fsync(stream.fileno())
        final.parent.mkdir(parents=True, exist_ok=True)
        _replace(part, final)
        self.record(file, sha256)

    def record(self, file: PlannedFile, sha256: str) -> None:
        """Note that the file in place is verified."""
        status = self.final_path(file).stat()
        verified = _Verified(file.path, etag_of(file), status.st_size, status.st_mtime_ns, sha256)
        with (self._bookkeeping / _RECORD).open("ab") as stream:
            stream.write(msgspec.json.encode(verified) + b"\n")

    def forget_parts(self, files: Iterable[PlannedFile]) -> None:
        """Remove parts that belong to none of these files, and what Xet left: it begins anew."""
        shutil.rmtree(self.xet_folder(), ignore_errors=True)
        wanted = {part_name(file) for file in files}
        for part in self._bookkeeping.glob("*.part"):
            if part.name not in wanted:
                part.unlink(missing_ok=True)

    def finish(self) -> None:
        """Remove the bookkeeping, so that only the model is left."""
        shutil.rmtree(self._bookkeeping, ignore_errors=True)

    def _read_record(self) -> dict[str, _Verified]:
        verified: dict[str, _Verified] = {}
        with contextlib.suppress(OSError):
            for line in (self._bookkeeping / _RECORD).read_bytes().splitlines():
                # A line that was cut when the process ended only means reading that file again.
                with contextlib.suppress(msgspec.MsgspecError):
                    entry = msgspec.json.decode(line, type=_Verified)
                    verified[entry.path] = entry
        return verified


def etag_of(file: PlannedFile) -> str:
    """What the hub, its storage and its cache know these bytes by.

    Raises `ValueError` when it is no hash: it becomes a part of paths.
    """
    etag = file.sha256 or file.git_blob_id or ""
    if not _HASH.fullmatch(etag):
        raise ValueError(f"{file.path} has no hash")
    return etag


def part_name(file: PlannedFile) -> str:
    """Two files of the same bytes have two parts, since they may arrive at the same time."""
    return f"{etag_of(file)[:32]}-{zlib.crc32(file.path.encode()):08x}.part"


def cached_blob(cache_dirs: Iterable[Path], repo_id: str, file: PlannedFile) -> Path | None:
    """The file in one of the hub's own caches, by hash and size; its bytes are not read here."""
    folder = "models--" + repo_id.replace("/", "--")
    for cache_dir in cache_dirs:
        blob = cache_dir / folder / "blobs" / etag_of(file)
        if _size(blob) == file.size_bytes:
            return blob
    return None


def link(source: Path, target: Path) -> bool:
    """Make `target` the same file as `source`; False where the file system cannot do that."""
    target.unlink(missing_ok=True)
    try:
        # The blob itself and not a link to it: some caches share blobs by symbolic links.
        os.link(source.resolve(), target)
    except OSError:
        return False
    return True


def is_on_same_disk(source: Path, folder: Path) -> bool:
    """Whether a file can be linked into this folder or the nearest one that exists above it."""
    with contextlib.suppress(OSError):
        return source.stat().st_dev == existing_folder(folder).stat().st_dev
    return False


def _replace(part: Path, final: Path) -> None:
    # On Windows a virus scanner holds what was just written open for a moment.
    for pause in (*_REPLACE_PAUSES_SECONDS, None):
        try:
            part.replace(final)
        except PermissionError:
            if pause is None:
                raise
            time.sleep(pause)
        else:
            return


def _size(path: Path) -> int | None:
    """None if no file can be seen there."""
    try:
        return path.stat().st_size if path.is_file() else None
    except OSError:
        return None
