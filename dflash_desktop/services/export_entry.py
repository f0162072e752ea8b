"""One export of the queue: what is kept of it, and how it is shown while its stages run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_run import ExportRun, ExportStage, ExportState, StageState
from dflash_desktop.domain.memory_history import with_point
from dflash_desktop.services import export_problems as problems
from dflash_desktop.services.export_journal import StoredExport

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.export_plan import ExportStep
    from dflash_desktop.domain.export_run import ExportMemory
    from dflash_desktop.domain.problems import Problem

KEPT_LINES: Final = 500


@dataclass(slots=True, eq=False)
class ExportEntry:
    """Changes on the loop's thread; `tell` is called after each change."""

    stored: StoredExport
    shown: ExportRun
    tell: Callable[[], None]
    ends_as: ExportState | None = None  # while it is being stopped
    is_forgotten: bool = False  # nothing of it may be written any more
    _stage_began: float = field(default=0.0)
    _frozen_at: float | None = field(default=None)

    @property
    def id(self) -> str:
        """The export's."""
        return self.stored.id

    def settle(self, state: ExportState, problem: Problem | None = None) -> None:
        """It does not run now, or begins to; what is shown and what is kept say the same."""
        self.stored = replace(self.stored, is_paused=state is ExportState.PAUSED, problem=problem)
        self.shown = replace(
            self.shown,
            state=state,
            notice="",
            problem=problem,
            result=self.stored.result,
            stages=self._stages(failed=state is ExportState.FAILED),
            seconds=sum(self.stored.seconds),
        )
        self.tell()

    def begin_stage(self, step: ExportStep) -> None:
        """This stage runs from now on."""
        self._stage_began, self._frozen_at = time.monotonic(), None
        stages = [
            replace(one, state=StageState.RUNNING, share=None, detail="", seconds=0.0)
            if one.name == step.name
            else one
            for one in self._stages()
        ]
        self.shown = replace(self.shown, state=ExportState.RUNNING, stages=tuple(stages))
        self.tell()

    def end_stage(self, step: ExportStep, stored: StoredExport) -> None:
        """This stage is finished, whatever happens later."""
        seconds = self.stage_seconds()
        self.stored = replace(
            stored, done=(*stored.done, step.name), seconds=(*stored.seconds, seconds)
        )
        self.shown = replace(
            self.shown, stages=self._stages(), notice="", seconds=sum(self.stored.seconds)
        )
        self.tell()

    def forget_what_is_gone(
        self, is_still_done: Callable[[StoredExport, ExportStep], bool]
    ) -> None:
        """Stages are done again from the first whose work somebody removed. Blocking."""
        stored = self.stored
        for index, step in enumerate(stored.plan.steps):
            if step.name not in stored.done:
                return
            if not is_still_done(stored, step):
                kept = tuple(one.name for one in stored.plan.steps[:index])
                self.stored = replace(stored, done=kept, seconds=stored.seconds[:index])
                return

    def progress(self, share: float | None, detail: str) -> None:
        """How far the running stage is."""
        seconds = self.stage_seconds()
        stages = tuple(
            replace(one, share=share, detail=detail, seconds=seconds)
            if one.state is StageState.RUNNING
            else one
            for one in self.shown.stages
        )
        total = sum(self.stored.seconds) + seconds
        self.shown = replace(self.shown, stages=stages, seconds=total)
        self.tell()

    def log(self, lines: tuple[str, ...]) -> None:
        """More lines of the log."""
        self.shown = replace(
            self.shown,
            log_lines=(*self.shown.log_lines, *lines)[-KEPT_LINES:],
            log_count=self.shown.log_count + len(lines),
        )
        self.tell()

    def memory(self, point: ExportMemory) -> None:
        """One look at the memory; `at_seconds` counts from the stage's start."""
        point = replace(point, at_seconds=point.at_seconds + sum(self.stored.seconds))
        peak = max(self.shown.peak_bytes, point.tree_bytes)
        self.stored = replace(self.stored, peak_bytes=peak)
        self.shown = replace(
            self.shown,
            memory=with_point(self.shown.memory, point),
            peak_bytes=peak,
            seconds=sum(self.stored.seconds) + self.stage_seconds(),
        )
        self.tell()

    def notice(self, sentence: str) -> None:
        """One sentence beside the stages."""
        self.shown = replace(self.shown, notice=sentence)
        self.tell()

    def freeze(self, *, is_frozen: bool) -> None:
        """Its processes stand still, or go on; the clock does as they do."""
        now = time.monotonic()
        if is_frozen:
            self._frozen_at = now
        elif self._frozen_at is not None:
            self._stage_began += now - self._frozen_at
            self._frozen_at = None
        state = ExportState.PAUSED if is_frozen else ExportState.RUNNING
        self.stored = replace(self.stored, is_paused=is_frozen)
        self.shown = replace(self.shown, state=state, notice="")
        self.tell()

    @property
    def is_frozen(self) -> bool:
        """Whether its processes are there and stand still."""
        return self._frozen_at is not None

    def stage_seconds(self) -> float:
        """How long the running stage has worked."""
        return (self._frozen_at or time.monotonic()) - self._stage_began

    def _stages(self, *, failed: bool = False) -> tuple[ExportStage, ...]:
        return stages_of(self.stored, failed=failed)


def loaded(stored: StoredExport, *, tell: Callable[[], None], log_file: Path) -> ExportEntry:
    """As it is shown before it runs; one that neither failed nor was paused was cut off."""
    problem = stored.problem
    if stored.is_paused:
        state = ExportState.PAUSED
    else:
        state, problem = ExportState.FAILED, problem or problems.interrupted()
    shown = ExportRun(
        id=stored.id,
        plan=stored.plan,
        state=state,
        stages=stages_of(stored, failed=state is ExportState.FAILED),
        peak_bytes=stored.peak_bytes,
        log_file=log_file,
        problem=problem,
        result=stored.result,
        seconds=sum(stored.seconds),
    )
    return ExportEntry(stored, shown, tell)


def stages_of(stored: StoredExport, *, failed: bool = False) -> tuple[ExportStage, ...]:
    """The plan's steps; the first that is not done is the one that failed."""
    times = dict(zip(stored.done, stored.seconds, strict=False))
    stages = []
    for step in stored.plan.steps:
        if step.name in times:
            stages.append(
                ExportStage(step.name, step.title, StageState.DONE, 1.0, "", times[step.name])
            )
        else:
            state = StageState.FAILED if failed else StageState.WAITING
            failed = False
            stages.append(ExportStage(step.name, step.title, state))
    return tuple(stages)
