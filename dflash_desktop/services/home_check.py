"""Can anything be kept here: looked at once when the window opens."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import Problem, Severity
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.paths import AppPaths

_PROBE_BYTES: Final = 4096
_LITTLE_BYTES: Final = 50_000_000


def why_not_writable(folder: Path) -> str:
    """Why nothing can be written to a folder, in the system's words, or "" if it can. Blocking."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
    except OSError as error:
        return f"{folder}: {error.strerror or error}."
    return ""


def home_problem(paths: AppPaths) -> Problem | None:
    """What a person must know before they write something that cannot be kept. Blocking."""
    folders = (paths.config_dir, paths.data_dir, paths.cache_dir, paths.log_dir)
    faults = [fault for fault in map(why_not_writable, folders) if fault]
    if faults:
        return Problem(
            code="home_not_writable",
            headline="Nothing can be saved in this program's folders.",
            advice=(
                "You can go on: settings and conversations last until the program closes. Check "
                "the rights and the free space of the folders in the details, or set "
                "DFLASH_HOME to another folder."
            ),
            severity=Severity.WARNING,
            detail="\n".join(faults),
        )
    free_bytes = shutil.disk_usage(paths.data_dir).free
    if free_bytes < _LITTLE_BYTES:
        return Problem(
            code="disk_nearly_full",
            headline=f"The disk is nearly full: {format_bytes(free_bytes)} are free.",
            advice="Free some space soon, or conversations cannot be saved.",
            severity=Severity.WARNING,
            detail=str(paths.data_dir),
        )
    return None
