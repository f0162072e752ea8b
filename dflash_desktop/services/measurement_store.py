"""Measurements on disk, each valid only for exactly the pair and machine that it was made with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from dflash_desktop.domain.benchmark import BenchReport
from dflash_desktop.domain.draft_rivals import are_rivals
from dflash_desktop.domain.pair import MeasurementKey
from dflash_desktop.domain.problems import AppError, Problem, Severity
from dflash_desktop.services.atomic_file import (
    file_stamp,
    set_aside,
    write_atomically,
    write_problem,
)
from dflash_desktop.services.file_turn import turn_with
from dflash_desktop.services.safe_json import encode_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFingerprint

FILE_VERSION = 1
MAX_REPORTS = 64
"""Reports of drivers and runtimes that are gone would pile up; the oldest go first."""


class _SwitchedOff(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    key: MeasurementKey
    reason: str


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    reports: tuple[BenchReport, ...] = ()
    switched_off: tuple[_SwitchedOff, ...] = ()


class MeasurementStore:
    """Benchmark reports and switched-off drafts, by `MeasurementKey`.

    A report is found only under its own key, so after a new driver, runtime, file or precision
    there is no baseline until it is measured again. The window and the command line share the
    file: what the other one wrote is seen at the next question. `problem` says what was wrong
    with the file when it was last read.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._listeners: list[Callable[[MeasurementKey], None]] = []
        self._reports: dict[MeasurementKey, BenchReport] = {}
        self._switched_off: dict[MeasurementKey, str] = {}
        self._stamp: tuple[int, int, int] | None = None
        self._must_set_aside = False
        self.problem: Problem | None = None

    def get(self, key: MeasurementKey) -> BenchReport | None:
        """The report that was measured under exactly these conditions."""
        self._refresh()
        return self._reports.get(key)

    def of_pair(self, fingerprint: PairFingerprint) -> tuple[BenchReport, ...]:
        """All reports of this pair, on whatever device and with whatever precision."""
        self._refresh()
        return tuple(r for key, r in self._reports.items() if key.fingerprint == fingerprint)

    def rivals(self, key: MeasurementKey) -> tuple[BenchReport, ...]:
        """Reports of other drafts of the same target under the same conditions."""
        self._refresh()
        return tuple(r for other, r in self._reports.items() if are_rivals(key, other))

    def put(self, report: BenchReport) -> None:
        """Keep a report in place of the earlier one with its key, and judge the draft afresh.

        A draft that was switched off is given back to the choice of the new report. Raises
        `AppError` when the file could not be written; the report then still holds until the
        program ends.
        """
        with turn_with(self._file):
            self._refresh()
            self._reports.pop(report.key, None)
            self._reports[report.key] = report
            for key in tuple(self._reports)[:-MAX_REPORTS]:
                del self._reports[key]
            for of_pictures in (False, True):
                self._switched_off.pop(replace(report.key, of_pictures=of_pictures), None)
            self._changed(report.key, what="The measurement")

    def put_check(self, report: BenchReport) -> None:
        """Keep what a check measured, which is fast: one that was made in full is worth more.

        Raises like `put`.
        """
        if self.get(report.key) is None:
            self.put(report)

    def draft_off(self, key: MeasurementKey) -> str | None:
        """Why the draft is switched off for this pair on this device, or None if it is not."""
        self._refresh()
        return self._switched_off.get(key)

    def set_draft_off(self, key: MeasurementKey, reason: str | None) -> None:
        """Switch the draft off for this reason, or on again with None.

        Raises `AppError` when the file could not be written; the switch then still holds until
        the program ends.
        """
        with turn_with(self._file):
            self._refresh()
            if self._switched_off.get(key) == reason:
                return
            if reason is None:
                del self._switched_off[key]
            else:
                self._switched_off[key] = reason
            self._changed(key, what="The draft's switch")

    def subscribe(self, listener: Callable[[MeasurementKey], None]) -> Callable[[], None]:
        """Call `listener` with the key of each change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _changed(self, key: MeasurementKey, *, what: str) -> None:
        for listener in tuple(self._listeners):
            listener(key)
        content = _File(
            FILE_VERSION,
            tuple(self._reports.values()),
            tuple(_SwitchedOff(key, reason) for key, reason in self._switched_off.items()),
        )
        try:
            if self._must_set_aside:
                set_aside(self._file)
                self._must_set_aside = False
            write_atomically(self._file, encode_json(content))
        except OSError as error:
            problem = write_problem(error, what=what, kept="It holds until you close the program.")
            raise AppError(problem) from error
        self._stamp = file_stamp(self._file)

    def _refresh(self) -> None:
        """Read the file if it is another one than the one read or written last."""
        stamp = file_stamp(self._file)
        if stamp is None or stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            content = _decode(self._file.read_bytes())
        except (msgspec.MsgspecError, OSError) as error:
            self.problem = self._put_damaged_file_aside(error)
            return
        self.problem = None
        self._reports = {report.key: report for report in content.reports}
        self._switched_off = {entry.key: entry.reason for entry in content.switched_off}

    def _put_damaged_file_aside(self, error: Exception) -> Problem:
        advice = "Measure again to see what the draft is worth here."
        try:
            kept = set_aside(self._file)
        except OSError:
            self._must_set_aside = True
        else:
            advice = f"{advice} The old file was kept as {kept.name}."
        return Problem(
            code="measurements_damaged",
            headline="Your stored measurements could not be read.",
            advice=advice,
            severity=Severity.WARNING,
            detail=str(error),
        )


def _decode(data: bytes) -> _File:
    content = msgspec.json.decode(data, type=_File)
    if content.version != FILE_VERSION:
        raise msgspec.ValidationError(
            f"this program does not know measurements of version {content.version}"
        )
    return content
