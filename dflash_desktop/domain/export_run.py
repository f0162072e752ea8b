"""An export while it runs and when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final

from dflash_desktop.domain.export_plan import ExportPlan
from dflash_desktop.domain.problems import Problem


class ExportState(StrEnum):
    """Where an export is in its life."""

    WAITING = "waiting"  # another one runs
    RUNNING = "running"
    PAUSED = "paused"
    STOPPING = "stopping"
    FAILED = "failed"  # can go on at its last finished stage
    CANCELLED = "cancelled"
    DONE = "done"


WORKING: Final = frozenset({ExportState.RUNNING, ExportState.WAITING, ExportState.STOPPING})
"""The end of the program would stop it; what is paused stays as it is."""

AT_REST: Final = frozenset({ExportState.DONE, ExportState.FAILED, ExportState.CANCELLED})
"""Nothing of it runs any more, or will by itself."""


class StageState(StrEnum):
    """Where a stage is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ExportStage:
    """One step of the plan while it runs."""

    name: str
    title: str
    state: StageState
    share: float | None = None  # 0 to 1; None: not known
    detail: str = ""  # what it is at, in words
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ExportMemory:
    """One look at the memory; `at_seconds` counts from the run's start."""

    at_seconds: float
    tree_bytes: int  # of the export with all its children
    available_bytes: int  # of the system
    limit_bytes: int  # the tree is stopped above it
    floor_bytes: int  # the tree is stopped when less is available


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """One model that an export made."""

    role: str
    model_id: str
    path: Path
    contract_verdict: str  # "good", "warnings" or "blocked"


@dataclass(frozen=True, slots=True)
class ExportResult:
    """What came out."""

    models: tuple[ExportedModel, ...]
    pair_verdict: str = ""  # of the measured check; empty: not measured
    speed_up: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportRun:
    """An export at one moment; a new value for every change."""

    id: str
    plan: ExportPlan
    state: ExportState
    stages: tuple[ExportStage, ...]
    memory: tuple[ExportMemory, ...] = ()  # the last samples, oldest first
    peak_bytes: int = 0
    log_lines: tuple[str, ...] = ()  # the last ones, readable
    log_count: int = 0  # how many there were in all: tells a reader which of them are new
    log_file: Path | None = None
    notice: str = ""  # one sentence: what the guard does, why it waits
    problem: Problem | None = None
    result: ExportResult | None = None
    seconds: float = 0.0
