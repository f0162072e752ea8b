"""Where the first window of a data folder listens for later starts of the program."""

from __future__ import annotations

import getpass
import hashlib
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflash_desktop.paths import AppPaths

_PRIVATE: Final = 0o700
_OTHERS: Final = 0o077
_MAX_SOCKET_PATH_BYTES: Final = 100
"""The kernel's limit is 108, and Qt appends while it makes the socket."""


def window_address(paths: AppPaths, *, environment: Mapping[str, str] = os.environ) -> str:
    """A name for Qt's local sockets: one for each person and data folder.

    On Linux a socket in a folder that only this person can enter; not in the data folder, since
    that may be on a stick, whose file system has no sockets. On Windows the name of a pipe.
    Raises `OSError` when there is no such folder.
    """
    place = os.path.normcase(os.path.realpath(paths.data_dir))
    if sys.platform == "win32":
        return f"dflash-desktop-{_digest(place, _user())}"
    address = str(_private_folder(environment) / f"dflash-desktop-{_digest(place, '')}.sock")
    if len(os.fsencode(address)) > _MAX_SOCKET_PATH_BYTES:
        raise OSError(f"the path of the socket is too long: {address}")
    return address


def _digest(place: str, user: str) -> str:
    return hashlib.sha256(f"{user}\0{place}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""


def _private_folder(environment: Mapping[str, str]) -> Path:
    """The session's own folder, else one below /tmp, where anybody may have put it before us."""
    given = environment.get("XDG_RUNTIME_DIR", "")
    if given and _is_private(Path(given)):
        return Path(given)
    folder = Path("/tmp") / f"dflash-desktop-{os.getuid()}"  # noqa: S108 - checked below
    folder.mkdir(mode=_PRIVATE, exist_ok=True)
    if not _is_private(folder):
        raise PermissionError(f"{folder} is not this person's own")
    return folder


def _is_private(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return False
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return is_own and not status.st_mode & _OTHERS
