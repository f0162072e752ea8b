"""The Debian package: the frozen folder in /usr/lib, and what tells the desktop of it."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from dflash_build import layout, linux_files
from dflash_build.system_packages import OPTIONAL, dependencies, linked_libraries

if TYPE_CHECKING:
    from pathlib import Path

_NAME: Final = layout.PACKAGE_NAME
_FOR_PACKAGE: Final = layout.PACKAGING / "linux" / "deb"
_SYNOPSIS: Final = "chat with language models on Intel Arc graphics, offline"
_LIBC: Final = "libc6 (>= 2.36)"
"""Debian 12's, on which it is built; Ubuntu 24.04 has 2.39."""

_MAINTAINER: Final = "The DFlash Desktop developers <dflash-desktop@localhost>"
_DEPENDS_FOR_A_DESKTOP: Final = ("fontconfig", "shared-mime-info")
_MTIME_ARGUMENTS: Final = ("--root-owner-group", "-Zxz", "-z6")


def write(folder: Path, out_dir: Path, *, with_starter: bool) -> Path:
    """Build it with `dpkg-deb`. Raises `ValueError` when a library's package is not known."""
    version = layout.project().version
    name = f"{_NAME}-with-starter" if with_starter else _NAME
    root = lay_out(folder, folder.parent / "deb")
    _write_control(root, version, with_starter=with_starter)
    _set_dates(root)
    target = out_dir / f"{name}_{version}_amd64.deb"
    subprocess.run(
        ["dpkg-deb", "--build", *_MTIME_ARGUMENTS, str(root), str(target)],
        env={**os.environ, "SOURCE_DATE_EPOCH": str(layout.source_date())},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return target


def lay_out(folder: Path, root: Path) -> Path:
    """The tree that will lie in /, below `root`, which is made anew."""
    shutil.rmtree(root, ignore_errors=True)
    program = root / "usr" / "lib" / _NAME
    program.parent.mkdir(parents=True)
    # Copies, not hard links: rights are changed below, and the folder shall stay as it is.
    shutil.copytree(folder, program, symlinks=True)
    _rights(program)
    start = root / "usr" / "bin" / _NAME
    start.parent.mkdir(parents=True)
    start.symlink_to(f"../lib/{_NAME}/{_NAME}")
    share = root / "usr" / "share"
    linux_files.write_share(share)
    _write_documents(program, share)
    return root


def _rights(program: Path) -> None:
    for path in program.rglob("*"):
        if path.is_symlink():
            continue
        is_started = path.parent == program or path.parent.name == layout.TOOLS
        path.chmod(0o755 if path.is_dir() or (is_started and os.access(path, os.X_OK)) else 0o644)


def _write_documents(program: Path, share: Path) -> None:
    documents = share / "doc" / _NAME
    documents.mkdir(parents=True)
    shutil.copy2(_FOR_PACKAGE / "copyright", documents / "copyright")
    shutil.move(program / layout.LICENCES, documents / layout.LICENCES)
    (program / layout.LICENCES).symlink_to(f"../../share/doc/{_NAME}/{layout.LICENCES}")
    date = datetime.fromtimestamp(layout.source_date(), UTC)
    entry = (
        f"{_NAME} ({layout.project().version}) stable; urgency=medium\n\n"
        "  * See CHANGELOG.md beside this file.\n\n"
        f" -- {_MAINTAINER}  {date:%a, %d %b %Y %H:%M:%S +0000}\n"
    )
    changes = (layout.REPOSITORY / "CHANGELOG.md").read_bytes()
    for name, text in (("changelog.gz", entry.encode()), ("CHANGELOG.md.gz", changes)):
        (documents / name).write_bytes(gzip.compress(text, 9, mtime=0))
    overrides = share / "lintian" / "overrides" / _NAME
    overrides.parent.mkdir(parents=True)
    shutil.copy2(_FOR_PACKAGE / "lintian-overrides", overrides)


def _write_control(root: Path, version: str, *, with_starter: bool) -> None:
    control = root / "DEBIAN"
    control.mkdir()
    files = [path for path in sorted(root.rglob("*")) if control not in path.parents]
    packed = [path for path in files if path.is_file() and not path.is_symlink()]
    needed = dependencies(linked_libraries(root / "usr" / "lib" / _NAME))
    depends = [_LIBC, *(name for name in needed if name != "libc6"), *_DEPENDS_FOR_A_DESKTOP]
    fields = {
        "Package": _NAME,
        "Version": version,
        "Architecture": "amd64",
        "Section": "utils",
        "Priority": "optional",
        "Maintainer": _MAINTAINER,
        "Installed-Size": str(sum(-(-path.stat().st_size // 1024) for path in packed)),
        "Depends": ", ".join(depends),
        "Recommends": ", ".join((*OPTIONAL.values(), "intel-opencl-icd")),
        "Description": f"{_SYNOPSIS}\n{_description(with_starter=with_starter)}",
    }
    text = "".join(f"{name}: {value}\n" for name, value in fields.items())
    (control / "control").write_text(text, encoding="utf-8")
    sums = [f"{_md5(path)}  {path.relative_to(root).as_posix()}\n" for path in packed]
    (control / "md5sums").write_text("".join(sums), encoding="utf-8")
    shutil.copy2(_FOR_PACKAGE / "postrm", control / "postrm")
    (control / "postrm").chmod(0o755)


def _description(*, with_starter: bool) -> str:
    text = (_FOR_PACKAGE / "description").read_text(encoding="utf-8").rstrip()
    extra = "\n .\n A small model to try it with is included, so that nothing needs a network."
    return text + (extra if with_starter else "")


def _md5(path: Path) -> str:
    with path.open("rb") as stream:
        # What dpkg wants for noticing damage; nothing is protected by it.
        return hashlib.file_digest(stream, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _set_dates(root: Path) -> None:
    date = layout.source_date()
    for path in root.rglob("*"):
        os.utime(path, (date, date), follow_symlinks=False)
