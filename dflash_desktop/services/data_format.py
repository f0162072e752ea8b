"""Was what is kept here written by a newer program? Then this one must not touch it.

Single files say their version, too, and one that is newer is put aside. But what an older program
does not know it would drop from a file that it can read, so it does not begin at all.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop import __version__
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.atomic_file import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.paths import AppPaths

_log = logging.getLogger(__name__)

DATA_FORMAT: Final = 1
"""To be raised with every change after which an older program would lose something."""

_LIMIT_BYTES: Final = 4096


class _Mark(msgspec.Struct, frozen=True):
    format: int
    program: str = ""


def require_known_data(paths: AppPaths) -> None:
    """Raises `AppError` (code "data_newer") when a newer program's data is here. Blocking."""
    mark = _mark(paths.data_format_file)
    if mark is not None and mark.format > DATA_FORMAT:
        raise AppError(_newer(mark, paths.data_dir))


def leave_mark(paths: AppPaths) -> None:
    """Say for programs to come what is here, unless the disk refuses. Blocking."""
    file = paths.data_format_file
    mark = _mark(file)
    if mark is not None and mark.format >= DATA_FORMAT:
        return
    try:
        write_atomically(file, msgspec.json.encode(_Mark(DATA_FORMAT, __version__)))
    except OSError:
        _log.info("the data here has no mark", exc_info=True)


def _mark(file: Path) -> _Mark | None:
    try:
        with file.open("rb") as stream:
            return msgspec.json.decode(stream.read(_LIMIT_BYTES), type=_Mark)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _newer(mark: _Mark, data_dir: Path) -> Problem:
    wrote = f"version {mark.program[:40]}" if mark.program.isprintable() else "a newer version"
    return Problem(
        code="data_newer",
        headline=f"Your models and conversations were last used by {wrote} of DFlash Desktop.",
        advice=(
            f"This is version {__version__}, which does not know all of it and therefore changes "
            "nothing. Install the newer version again, or set DFLASH_HOME to another folder to "
            "begin anew with this one."
        ),
        detail=f"{data_dir}: format {mark.format}, this program knows {DATA_FORMAT}",
    )
