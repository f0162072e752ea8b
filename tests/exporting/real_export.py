"""Runs the steps of a plan as the program does, with a real export environment."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.domain.export_environment import EnvironmentState, EnvironmentStatus
from dflash_desktop.domain.export_plan import ExportPlan, StepKind
from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)
from dflash_desktop.paths import source_dir
from dflash_desktop.services.export_planning import ExportPlanning
from dflash_desktop.services.export_steps import model_dir, step_argv
from dflash_desktop.services.hub_checkpoint import HubCheckpoints
from dflash_desktop.services.worker_launch import worker_environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_READY = tuple(
    EnvironmentStatus(f"transformers-{release}", "", EnvironmentState.READY, "", 0, 0)
    for release in ("5.5", "5.2", "4.57")
)
_LIMIT_SECONDS = 170.0


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How the last step that was run ended."""

    exit_code: int
    log: tuple[str, ...]
    reports: tuple[dict[str, object], ...]

    @property
    def failure(self) -> dict[str, str]:
        """What the step said of its own failure."""
        found = [report["failed"] for report in self.reports if "failed" in report]
        return dict(found[0]) if found and isinstance(found[0], dict) else {}


def planning(folder: Path) -> ExportPlanning:
    """Of folders and files; there is no hub."""
    return ExportPlanning(
        hub=_NoHub.__new__(_NoHub),
        environments=lambda: _READY,
        pairs=tuple,
        work_dir=lambda: folder,
    )


class _NoHub(HubCheckpoints):
    """Nothing of it is called."""


def item(
    role: ExportRole,
    path: Path,
    weights: WeightFormat,
    *,
    group_size: int | None = None,
    all_layers: bool = False,
    reference: Path | None = None,
) -> ExportItem:
    kind = SourceKind.FOLDER if path.is_dir() else SourceKind.GGUF
    return ExportItem(
        role,
        ExportSource(kind, path=path),
        weights,
        group_size=group_size,
        all_layers=all_layers,
        reference=reference,
    )


async def planned(folder: Path, *items: ExportItem) -> ExportPlan:
    return await planning(folder).plan(ExportRequest("a test", items, threads=1))


def run_steps(plan: ExportPlan, python: Path, work_dir: Path) -> StepEnd:
    """All steps that are child processes, up to the first that fails."""
    end = StepEnd(0, (), ())
    for step in plan.steps:
        if step.kind is StepKind.CONVERT and end.exit_code == 0:
            end = _ended(step_argv(plan, step, python=python, work_dir=work_dir))
    return end


def made(plan: ExportPlan, python: Path, work_dir: Path, role: ExportRole) -> Path:
    """The folder of the exported model; the log is shown when a step failed."""
    end = run_steps(plan, python, work_dir)
    assert end.exit_code == 0, "\n".join(end.log[-30:])
    return model_dir(role, work_dir)


def run_program(python: Path, *words: str) -> StepEnd:
    """The export program with these arguments."""
    program = source_dir() / "dflash_desktop" / "workers" / "export_program.py"
    return _ended([str(python), "-P", "-X", "utf8", str(program), *words])


def in_environment(python: Path, script: Path, *arguments: str | Path) -> None:
    """One of the scripts beside this file."""
    command = [str(python), "-P", str(script), *map(str, arguments)]
    end = subprocess.run(
        command, env=worker_environment(), capture_output=True, text=True, check=False
    )
    assert end.returncode == 0, end.stderr[-3000:]


def _ended(argv: Sequence[str]) -> StepEnd:
    process = subprocess.run(
        argv,
        env=worker_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=_LIMIT_SECONDS,
    )
    lines = process.stdout.splitlines()  # it parts at the separator of records, too
    told = [line for line in lines if line.startswith("{")]
    return StepEnd(process.returncode, tuple(lines), tuple(map(json.loads, told)))
