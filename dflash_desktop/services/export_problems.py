"""What can go wrong with an export, in words: what happened, why, what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import Problem, Remedy, Severity

if TYPE_CHECKING:
    from dflash_desktop.domain.export_plan import ExportPlan


def interrupted() -> Problem:
    """The program ended while it ran."""
    return Problem(
        code="export_interrupted",
        headline="This export was cut off when the program ended.",
        advice="Let it go on: finished stages are kept, and only the open one begins anew.",
        severity=Severity.INFO,
        remedies=(Remedy.RETRY,),
    )


def cannot_work(plan: ExportPlan) -> Problem:
    """The plan's verdict forbids it."""
    return Problem(
        code="export_cannot_work",
        headline=plan.reasons[0] if plan.reasons else "This export cannot work here.",
        advice=(
            f"Better: {plan.alternatives[0].title}."
            if plan.alternatives
            else "Choose a smaller model or another machine."
        ),
        detail="\n".join(plan.reasons),
    )


def busy_elsewhere() -> Problem:
    """Another process of this program exports."""
    return Problem(
        code="export_busy",
        headline="Another window or command of this program is exporting.",
        advice="One export runs at a time, since each needs most of the memory. Wait for it to "
        "end, or stop it there.",
        remedies=(Remedy.RETRY,),
    )


def no_such_export() -> Problem:
    """The id means nothing (any more)."""
    return Problem(
        code="no_such_export",
        headline="This export is no longer there.",
        advice="Another window or command has ended it.",
    )


def not_started(detail: str) -> Problem:
    """The program of a step is not there, or may not run."""
    return Problem(
        code="step_not_started",
        headline="The exporter could not be started.",
        advice="Repair the export environment, then let the export go on.",
        detail=detail,
        remedies=(Remedy.RETRY, Remedy.OPEN_LOG),
    )


def guard_ended(detail: str) -> Problem:
    """Somebody ended the guard, so the step was ended too."""
    return Problem(
        code="guard_ended",
        headline="The memory guard was ended from outside, so the export was stopped.",
        advice="Nothing of it runs any more. Let it go on: finished stages are kept.",
        detail=detail,
        remedies=(Remedy.RETRY, Remedy.OPEN_LOG),
    )


def internal(detail: str) -> Problem:
    """A mistake of the program."""
    return Problem(
        code="internal_error",
        headline="The program made a mistake of its own, and the export had to stop.",
        advice="Let it go on: finished stages are kept. If it happens again, report it with the "
        "log.",
        detail=detail,
        remedies=(Remedy.RETRY, Remedy.OPEN_LOG),
    )
