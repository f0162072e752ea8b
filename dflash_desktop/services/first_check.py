"""The self-test of a program that was just installed or updated: once, in the background."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from dflash_desktop import __version__
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.self_check import all_passed
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.self_test import run_self_test

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.domain.self_check import SelfCheck
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.worker_launch import WorkerLauncher

_log = logging.getLogger(__name__)


class _Checked(msgspec.Struct, frozen=True):
    """Which installation was whole; any other one is looked at anew."""

    version: str
    program: str
    changed_ns: int


async def check_new_installation(*, paths: AppPaths, launcher: WorkerLauncher) -> Problem | None:
    """What is missing, or None when all is well or this very installation passed before."""
    now = _this_installation()
    if now is None or _remembered(paths.checked_file) == now:
        return None
    checks = await run_self_test(paths=paths, launcher=launcher, with_window=False)
    if not all_passed(checks):
        problem = _damaged(check for check in checks if not check.passed)
        _log.warning("the self-test failed\n%s", problem.detail)
        return problem
    with suppress(OSError):
        write_atomically(paths.checked_file, msgspec.json.encode(now))
    return None


def _this_installation() -> _Checked | None:
    program = Path(sys.executable)
    try:
        return _Checked(__version__, str(program), program.stat().st_mtime_ns)
    except OSError:
        return None


def _remembered(file: Path) -> _Checked | None:
    try:
        return msgspec.json.decode(file.read_bytes(), type=_Checked)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _damaged(failed: Iterable[SelfCheck]) -> Problem:
    return Problem(
        code="installation_damaged",
        headline="Parts of this installation are missing or do not work here.",
        advice=(
            "Details say which. Most often installing the program again helps; a virus scanner "
            "may have taken a file."
        ),
        detail="\n".join(f"{check.code}: {check.detail}" for check in failed),
        remedies=(Remedy.OPEN_LOG,),
    )
