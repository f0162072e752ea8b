"""What a step of an export runs, and where in its working folder everything lies."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_plan import StepKind
from dflash_desktop.domain.export_recipes import PROGRAM, placed
from dflash_desktop.domain.export_request import ExportRole, SourceKind
from dflash_desktop.paths import source_dir as package_source_dir

if TYPE_CHECKING:
    from dflash_desktop.domain.export_plan import ExportPlan, ExportStep
    from dflash_desktop.domain.export_request import ExportItem

_PROGRAM_FILE: Final = Path("workers") / "export_program.py"


def step_argv(
    plan: ExportPlan, step: ExportStep, *, python: Path, work_dir: Path
) -> tuple[str, ...]:
    """The child process of a step of the kind "convert", in the environment of `python`.

    The program is run as a file, so that the environment needs nothing of this app, and without
    the folders that Python would add by itself (-P): a file that is called like a module of the
    standard library does no harm there. It puts all temporary files into the working folder.
    """
    if step.kind is not StepKind.CONVERT:
        raise ValueError(f"{step.name} is not run by a child process")
    item = item_of(plan, step)
    is_prepared = has_preparation(plan, item)
    if step.command[: len(PROGRAM)] == PROGRAM:
        source, output = source_dir(item, work_dir), checkpoint_dir(item.role, work_dir)
    else:
        source = checkpoint_dir(item.role, work_dir) if is_prepared else source_dir(item, work_dir)
        output = model_dir(item.role, work_dir)
    command = placed(step.command, source=str(source), output=str(output))
    words = command[len(PROGRAM) :] if command[: len(PROGRAM)] == PROGRAM else ("run", *command)
    if item.reference is not None and "--source" in words:
        words = (*words[:-1], "--reference", str(item.reference), words[-1])
    program = package_source_dir() / "dflash_desktop" / _PROGRAM_FILE
    return (
        *(str(python), "-P", "-X", "utf8", str(program)),
        *("--threads", str(plan.request.threads or default_threads())),
        *("--temporary", str(temporary_dir(work_dir))),
        *words,
    )


def default_threads() -> int:
    """All cores but one, so that the window and whatever else runs has one."""
    return max(1, (os.cpu_count() or 2) - 1)


def item_of(plan: ExportPlan, step: ExportStep) -> ExportItem:
    """The model that a step is about; its name ends with the role ("convert-draft")."""
    role = ExportRole(step.name.rpartition("-")[2])
    return next(item for item in plan.request.items if item.role is role)


def has_preparation(plan: ExportPlan, item: ExportItem) -> bool:
    """Whether a step of the plan first makes a clean checkpoint of it."""
    return any(step.name == f"prepare-{item.role}" for step in plan.steps)


def source_dir(item: ExportItem, work_dir: Path) -> Path:
    """What is exported: the person's own folder or file, or where a fetch puts the hub's files."""
    if item.source.kind is not SourceKind.HUB and item.source.path is not None:
        return item.source.path
    return work_dir / f"source-{item.role}"


def checkpoint_dir(role: ExportRole, work_dir: Path) -> Path:
    """The clean checkpoint that a preparation makes."""
    return work_dir / f"checkpoint-{role}"


def model_dir(role: ExportRole, work_dir: Path) -> Path:
    """The exported model, half-made until its step has ended well."""
    return work_dir / str(role)


def temporary_dir(work_dir: Path) -> Path:
    """What the exporter keeps in between: on the disk of the output, whose room was checked."""
    return work_dir / "temporary"
