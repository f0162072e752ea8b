"""How a run is told: its state in a word, where it is in a line, its stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_run import ExportState, StageState
from dflash_desktop.domain.units import format_bytes, format_seconds
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import TextRole

if TYPE_CHECKING:
    from dflash_desktop.domain.export_run import (
        ExportRun,
        ExportStage,
    )

STATE_LOOKS: Final = {
    ExportState.WAITING: ("waiting", TextRole.MUTED, IconName.CIRCLE),
    ExportState.RUNNING: ("running", TextRole.MUTED, IconName.CIRCLE_DOT),
    ExportState.PAUSED: ("paused", TextRole.MUTED, IconName.PAUSE),
    ExportState.STOPPING: ("stopping", TextRole.MUTED, IconName.CIRCLE_DOT),
    ExportState.FAILED: ("stopped", TextRole.BAD, IconName.CIRCLE_ALERT),
    ExportState.CANCELLED: ("cancelled", TextRole.MUTED, IconName.CIRCLE),
    ExportState.DONE: ("done", TextRole.GOOD, IconName.CIRCLE_CHECK),
}
"""The word beside the title, its role, and an icon."""

STAGE_LOOKS: Final = {
    StageState.WAITING: ("waits", TextRole.MUTED, IconName.CIRCLE),
    StageState.RUNNING: ("runs", TextRole.INTERFACE, IconName.CIRCLE_DOT),
    StageState.DONE: ("done", TextRole.GOOD, IconName.CIRCLE_CHECK),
    StageState.FAILED: ("failed", TextRole.BAD, IconName.CIRCLE_ALERT),
}

ACTIVE: Final = frozenset({ExportState.RUNNING, ExportState.PAUSED, ExportState.STOPPING})
"""It has processes, or will have them again when a person says so."""

OPEN: Final = ACTIVE | {ExportState.WAITING}

OVER: Final = frozenset({ExportState.DONE, ExportState.CANCELLED})
"""Nothing can be done any more; one that was stopped waits for a person."""


def stage_of(run: ExportRun) -> ExportStage | None:
    """The stage that runs, or the one that failed."""
    states = (StageState.RUNNING, StageState.FAILED)
    return next((stage for stage in run.stages if stage.state in states), None)


def place_line(run: ExportRun) -> str:
    """Where it is: "Step 3 of 6: Convert the draft · 42 % · 3 min 5 s"."""
    parts = []
    stage = stage_of(run)
    if stage is not None:
        number = run.stages.index(stage) + 1
        parts.append(f"Step {number} of {len(run.stages)}: {stage.title}")
        if stage.share is not None and run.state in ACTIVE:
            parts.append(f"{int(stage.share * 100)} %")
    if run.seconds >= 1:
        parts.append(whole_seconds(run.seconds))
    return " · ".join(parts)


def whole_seconds(seconds: float) -> str:
    """How long something took, without parts of a second: "8 s", "3 min 5 s"."""
    return f"{round(seconds)} s" if seconds < 60 else format_seconds(round(seconds))


def memory_numbers(run: ExportRun) -> str:
    """The highest that was seen against what was expected."""
    if not run.peak_bytes:
        return ""
    peak, expected = format_bytes(run.peak_bytes), format_bytes(run.plan.peak_bytes)
    so_far = " so far" if run.state in OPEN else ""
    return f"{peak} at the highest{so_far}. {expected} were expected."


def status_words(runs: tuple[ExportRun, ...]) -> str:
    """For the line at the bottom while one looks at something else; nothing if none runs."""
    run = next((one for one in runs if one.state in ACTIVE), None)
    if run is None:
        return ""
    stage = stage_of(run)
    if run.state is ExportState.PAUSED:
        return "Export paused"
    if stage is None or stage.share is None:
        return f"Exporting: {stage.title}" if stage is not None else "Exporting"
    return f"Exporting: {stage.title}, {int(stage.share * 100)} %"


def spoken_run(run: ExportRun) -> str:
    """Everything in one sentence, for screen readers."""
    word, _, _ = STATE_LOOKS[run.state]
    return ", ".join(part for part in (run.plan.request.title, word, place_line(run)) if part)
