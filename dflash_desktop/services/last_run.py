"""Whether the last window said goodbye: a file that only a clean end removes."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop import __version__
from dflash_desktop.domain.problems import Problem, Remedy, Severity
from dflash_desktop.log import read_tail
from dflash_desktop.services.atomic_file import write_atomically

if TYPE_CHECKING:
    from pathlib import Path

_log = logging.getLogger(__name__)

_FAULT_LINES: Final = 60


class _Mark(msgspec.Struct, frozen=True):
    version: str
    process_id: int
    started_at: datetime


class LastRun:
    """For the one window of a data folder; none of it ever raises."""

    def __init__(self, *, mark_file: Path, faults_file: Path) -> None:
        self._mark_file = mark_file
        self._faults_file = faults_file

    def begin(self) -> Problem | None:
        """Leave the mark of this run; what to say if the one before did not end well."""
        problem = self._problem()
        mark = _Mark(__version__, os.getpid(), datetime.now(UTC))
        try:
            write_atomically(self._mark_file, msgspec.json.encode(mark))
        except OSError:
            _log.info("this run leaves no mark", exc_info=True)
        return problem

    def end(self) -> None:
        """Take the mark away: this run ended well."""
        with suppress(OSError):
            self._mark_file.unlink(missing_ok=True)

    def _problem(self) -> Problem | None:
        try:
            data = self._mark_file.read_bytes()
        except OSError:
            return None
        try:
            mark = msgspec.json.decode(data, type=_Mark)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return _ended_badly("")  # it was cut off in the middle of the mark
        about = f"Version {mark.version}, started {mark.started_at.isoformat(timespec='seconds')}"
        return _ended_badly("\n".join((about, *self._faults_since(mark.started_at))))

    def _faults_since(self, moment: datetime) -> tuple[str, ...]:
        """What native code said as it fell, if it was that run that said it."""
        try:
            changed_at = datetime.fromtimestamp(self._faults_file.stat().st_mtime, UTC)
        except OSError:
            return ()
        return read_tail(self._faults_file)[-_FAULT_LINES:] if changed_at >= moment else ()


def _ended_badly(detail: str) -> Problem:
    return Problem(
        code="last_run_ended_badly",
        headline="The last time, DFlash Desktop ended without closing.",
        advice=(
            "It crashed, was ended from outside, or the computer lost power. What had been saved "
            "is kept. If it happens again, please report it with the copied details."
        ),
        severity=Severity.INFO,
        detail=detail,
        remedies=(Remedy.REPORT,),
    )
