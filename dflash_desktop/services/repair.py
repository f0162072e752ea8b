"""Mends a model's metadata in place: reversible, and never touching the weights.

The file as it was stays beside the new one, and a small record says which is which. Everything
here is blocking: call it in a thread.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.ir_reader import IrError
from dflash_desktop.domain.pair_contract import Finding, Subject, Weight, check_contract
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.repair_plan import (
    CONFIG_FILE,
    TOKENIZER_CODES,
    NotRepaired,
    Repair,
    plan_repair,
)
from dflash_desktop.domain.rt_info_edit import RtInfoEditError
from dflash_desktop.services.atomic_file import write_atomically, write_problem
from dflash_desktop.services.model_inspection import (
    inspect_draft,
    inspect_model,
    inspect_tokenizer_again,
    installed_runtime,
    read_config,
)
from dflash_desktop.services.repair_record import RepairRecord, repaired_files
from dflash_desktop.services.repaired_models import note_changed_files
from dflash_desktop.services.rt_info_file import entries_in, write_rt_info

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from dflash_desktop.domain.model_facts import ModelFacts


@dataclass(frozen=True, slots=True)
class RepairOutcome:
    """What was written, what stays and why, and what the contract says before and after."""

    changed: tuple[Repair, ...]
    not_repaired: tuple[NotRepaired, ...]
    findings_before: tuple[Finding, ...]
    findings_after: tuple[Finding, ...]


class ModelRepair:
    """Repairs folders, and tells the library's records about it. Blocking."""

    def __init__(self, *, added_dir: Path) -> None:
        self._added_dir = added_dir

    def repair(
        self,
        target_dir: Path,
        draft_dir: Path | None,
        *,
        checkpoint_dir: Path | None = None,
        tokenizer_dir: Path | None = None,
    ) -> RepairOutcome:
        """Write what `plan_repair` finds; `checkpoint_dir` holds the draft's own config.json.

        `tokenizer_dir` holds tokenizer models that were made anew, if they are wanted. Either all
        of it is written or nothing. Raises `AppError`.
        """
        folders = {Subject.TARGET: target_dir, Subject.DRAFT: draft_dir or target_dir}
        models = {Subject.TARGET: inspect_model(target_dir)}
        if (draft := inspect_draft(target_dir, draft_dir)) is not None:
            models[Subject.DRAFT] = draft
        before = _findings(models)
        checkpoint = None if checkpoint_dir is None else inspect_model(checkpoint_dir).config
        plan = plan_repair(
            models[Subject.TARGET],
            models.get(Subject.DRAFT),
            before,
            checkpoint=checkpoint,
            has_export_tools=tokenizer_dir is not None,
        )
        done: list[Path] = []
        try:
            for repair in plan.repairs:
                path = folders[repair.subject] / repair.file
                models[repair.subject] = _repaired(
                    models[repair.subject], path, repair, tokenizer_dir
                )
                done.append(path)
            after = _findings(models)
            _refuse_worse(before, after)
            if tokenizer_dir is not None:
                _refuse_useless_tokenizer(after)
            for path in done:
                self._note(path.parent, (path.name,))
        except BaseException:
            for path in done:
                RepairRecord(path.parent).restore(path.name)
                self._note(path.parent, (path.name,))
            raise
        return RepairOutcome(plan.repairs, plan.not_repaired, before, after)

    def undo(self, folder: Path) -> tuple[str, ...]:
        """Put the files back as they were before the first repair; returns their names.

        Raises `AppError` when a file was changed by somebody else since; it then stays.
        """
        record = RepairRecord(folder)
        names: list[str] = []
        try:
            try:
                names += (name for name in record.names() if record.restore(name))
            finally:
                self._note(folder, tuple(names))  # also when a later one is refused
        except OSError as error:
            problem = write_problem(error, what="The original", kept="It is still there.")
            raise AppError(problem) from error
        return tuple(names)

    def _note(self, folder: Path, names: tuple[str, ...]) -> None:
        note_changed_files(folder, names, added_dir=self._added_dir)


def can_undo(folder: Path) -> bool:
    """Whether a repair in this folder can be taken back."""
    return bool(repaired_files(folder))


def _findings(models: Mapping[Subject, ModelFacts]) -> tuple[Finding, ...]:
    target, draft = models[Subject.TARGET], models.get(Subject.DRAFT)
    return check_contract(target, draft, runtime=installed_runtime())


def _refuse_worse(before: tuple[Finding, ...], after: tuple[Finding, ...]) -> None:
    if worse := _blocking(after) - _blocking(before):
        raise AppError(_no_good(", ".join(sorted(worse))))


def _refuse_useless_tokenizer(after: tuple[Finding, ...]) -> None:
    if left := TOKENIZER_CODES & {finding.code for finding in after}:
        raise AppError(_no_good(", ".join(sorted(left))))


def _blocking(findings: tuple[Finding, ...]) -> set[str]:
    return {finding.code for finding in findings if finding.weight is Weight.BLOCK}


def _repaired(
    model: ModelFacts, path: Path, repair: Repair, tokenizer_dir: Path | None
) -> ModelFacts:
    """Write it, and read back what was written. A large graph is not read whole once more."""
    try:
        with RepairRecord(path.parent).keeping(path.name):
            if repair.is_tokenizer and tokenizer_dir is not None:
                write_atomically(path, (tokenizer_dir / path.name).read_bytes())
                shutil.copymode(tokenizer_dir / path.name, path)
                return inspect_tokenizer_again(model, path.parent)
            if repair.file == CONFIG_FILE:
                write_atomically(path, _config(path, repair))
                return replace(model, config=read_config(path))
            if model.graph is None or path.stat().st_size != model.file_sizes[path.name]:
                raise AppError(_changed_meanwhile(path))
            write_rt_info(path, repair.rt_info, marks=model.graph.marks)
            entries = entries_in(path, model.graph.marks)
            if any(entries.get(entry) != value for entry, value in repair.rt_info.items()):
                raise AppError(_no_good(f"{path.name} does not hold what was written"))
    except (IrError, RtInfoEditError, ValueError) as error:
        raise AppError(_not_editable(path, error)) from error
    except OSError as error:
        problem = write_problem(error, what="The repair", kept="The model is as it was.")
        raise AppError(problem) from error
    return replace(model, graph=replace(model.graph, rt_info=entries))


def _config(path: Path, repair: Repair) -> bytes:
    loaded = json.loads(path.read_bytes())
    return f"{json.dumps({**loaded, **repair.config}, indent=2)}\n".encode()


def _not_editable(path: Path, error: Exception) -> Problem:
    return Problem(
        code="repair_not_possible",
        headline=f"{path.name} cannot be edited safely.",
        advice="Nothing was changed. Export the model again with a current exporter.",
        detail=str(error),
    )


def _changed_meanwhile(path: Path) -> Problem:
    return Problem(
        code="repair_not_possible",
        headline=f"{path.name} was changed by somebody else just now.",
        advice="Nothing was changed. Try again.",
    )


def _no_good(detail: str) -> Problem:
    return Problem(
        code="repair_not_possible",
        headline="The repair did not do the model any good.",
        advice="All files were put back as they were. Export the model again.",
        detail=detail,
    )
