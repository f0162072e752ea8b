"""The folder as one file that is unpacked anywhere: .tar.gz on Linux, .zip on Windows."""

from __future__ import annotations

import gzip
import platform
import sys
import tarfile
import zipfile
from typing import TYPE_CHECKING

from dflash_build import layout

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, out_dir: Path, name: str) -> Path:
    """Pack `folder` under the one top folder `name`; the same bytes from the same files."""
    if sys.platform == "win32":
        return _zip(folder, out_dir / f"{name}-windows-x64.zip", name)
    return _tar(folder, out_dir / f"{name}-linux-{platform.machine()}.tar.gz", name)


def _tar(folder: Path, target: Path, name: str) -> Path:
    date = layout.source_date()

    def anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = "root"
        member.mtime = date
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    with (
        target.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=date) as packed,
        tarfile.open(fileobj=packed, mode="w") as archive,
    ):
        for path in (folder, *sorted(folder.rglob("*"))):
            inner = (name, *path.relative_to(folder).parts)
            archive.add(path, "/".join(inner), recursive=False, filter=anonymous)
    return target


def _zip(folder: Path, target: Path, name: str) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{name}/{path.relative_to(folder).as_posix()}")
    return target
