"""What is said before the window closes while an export runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.export_run import WORKING
from dflash_desktop.domain.problems import Problem, Remedy, Severity

if TYPE_CHECKING:
    from dflash_desktop.domain.export_run import ExportRun

EXPORT_RUNS: Final = Problem(
    code="export_runs",
    headline="An export is running.",
    advice=(
        "Closing the program stops it. It can go on at the next start, at the last step that was "
        "finished. To close all the same, close the window once more."
    ),
    severity=Severity.WARNING,
    remedies=(Remedy.SHOW_EXPORT, Remedy.CLOSE_PROGRAM),
)


class Runs(Protocol):
    """What is asked of the exports."""

    def runs(self) -> tuple[ExportRun, ...]:
        """All of them."""


def is_exporting(exports: Runs) -> bool:
    """Whether closing would stop something; what is paused stays as it is."""
    return any(run.state in WORKING for run in exports.runs())
