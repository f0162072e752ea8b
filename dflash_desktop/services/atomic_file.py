"""Files that are either the old text or the new one, never half of it, and never thrown away."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import Problem, Remedy

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_REPLACE_ATTEMPTS = 5 if sys.platform == "win32" else 1
_REPLACE_PAUSE_SECONDS = 0.02


def write_json(path: Path, fields: Mapping[str, object]) -> None:
    """Replace the file by one JSON object, as `write_atomically` does. Raises `OSError`."""
    write_atomically(path, f"{json.dumps(fields, indent=2)}\n".encode())


def write_atomically(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Replace the file's content by `data`, which may come in pieces, making its folder first.

    Raises `OSError`; the old file then stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines((data,) if isinstance(data, bytes) else data)
            stream.flush()
            os.fsync(stream.fileno())
        replace_file(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def set_aside(path: Path) -> Path:
    """Rename a damaged file so that nothing in it is lost; returns where it is now.

    Raises `OSError` when the file cannot be moved.
    """
    for number in range(1, 1000):
        suffix = ".damaged" if number == 1 else f".damaged-{number}"
        target = path.with_name(path.name + suffix)
        if not target.exists():
            path.rename(target)
            return target
    raise FileExistsError(errno.EEXIST, "too many damaged copies", str(path))


def write_problem(error: OSError, *, what: str, kept: str) -> Problem:
    """Why `what` could not be written; `kept` says what has not been lost."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Problem(
            code="disk_full",
            headline=f"{what} could not be saved: the disk is full.",
            advice=f"Free some space and try again. {kept}",
            detail=str(error),
            remedies=(Remedy.RETRY,),
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return Problem(
            code="not_writable",
            headline=f"{what} could not be saved: the folder does not allow it.",
            advice=f"Check the rights of the folder shown in the details. {kept}",
            detail=str(error),
            remedies=(Remedy.RETRY,),
        )
    return Problem(
        code="write_failed",
        headline=f"{what} could not be saved.",
        advice=f"Check the disk and try again. {kept}",
        detail=str(error),
        remedies=(Remedy.RETRY,),
    )


def file_stamp(path: Path) -> tuple[int, int, int] | None:
    """Another one whenever the file was written; None while there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    # Each write makes a new file, so its number tells two writes within one clock tick apart.
    return status.st_mtime_ns, status.st_size, status.st_ino


def replace_file(temporary: Path, path: Path) -> None:
    """Put one file in the place of another, at once. Raises `OSError`."""
    # On Windows a virus scanner or a backup may hold the old file open for a moment.
    for attempt in range(1, _REPLACE_ATTEMPTS + 1):
        try:
            temporary.replace(path)
        except PermissionError:
            if attempt == _REPLACE_ATTEMPTS:
                raise
            time.sleep(_REPLACE_PAUSE_SECONDS)
        else:
            return
