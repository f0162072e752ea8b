"""One model of an export with all that was found out about it, and the steps that make it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.domain.checkpoint import Checkpoint
from dflash_desktop.domain.export_estimate import ExportEstimate
from dflash_desktop.domain.export_names import item_name, prepared_name, source_name
from dflash_desktop.domain.export_plan import ExportFetch, ExportStep, StepKind
from dflash_desktop.domain.export_recipes import Recipe, convert_command, prepare_command
from dflash_desktop.domain.export_request import ExportItem, ExportRole, SourceKind
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.transfer import RepoPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_INSTALL = ("pip", "install", "dflash-desktop[export]")


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """`group_size` None: of int4, none divides every row; `fetch` None: it is on this disk."""

    item: ExportItem
    checkpoint: Checkpoint
    recipe: Recipe
    group_size: int | None
    estimate: ExportEstimate
    fetch: RepoPlan | None = None

    @property
    def role(self) -> ExportRole:
        """Which half of the pair it becomes."""
        return self.item.role

    def fetched(self) -> ExportFetch | None:
        """What comes from the hub."""
        plan = self.fetch
        if plan is None:
            return None
        return ExportFetch(
            repo_id=plan.repo_id,
            commit=plan.commit,
            file_count=len(plan.files),
            size_bytes=plan.size_bytes,
            missing_bytes=plan.size_bytes - plan.present_bytes,
            licence=plan.licence,
        )

    def warnings(self) -> Iterator[str]:
        """What a person should know, and what stops nothing."""
        name, wanted = self.checkpoint.name, self.item.group_size
        if self.recipe is Recipe.OWN_CODE_DRAFT and self.checkpoint.own_code:
            files = ", ".join(self.checkpoint.own_code[:4])
            yield (
                f"“{name}” brings program code ({files}). None of it is run: a copy without it "
                "is exported through the exporter's own class for DFlash drafts."
            )
        elif self.checkpoint.own_code:
            files = ", ".join(self.checkpoint.own_code[:4])
            yield f"“{name}” brings program code ({files}). None of it is run."
        uneven = [w for w in self.checkpoint.row_widths if wanted and w % wanted]
        if uneven:
            yield (
                f"Groups of {wanted} do not divide rows of {uneven[0]}: where they do not, the "
                "exporter takes smaller ones."
            )
        if not self.checkpoint.is_exact:
            yield (
                f"The number of parameters of “{name}” is reckoned from the size of its files, "
                "which have not been fetched yet."
            )


def export_steps(
    items: Sequence[PlannedItem], *, needs_tools: bool, output_dir: Path | None = None
) -> tuple[ExportStep, ...]:
    """All steps in their order; the names of those of one model end with its role.

    What is made goes into `output_dir`; None: into the library.
    """
    place = "the library" if output_dir is None else f"“{output_dir.name or output_dir}”"
    finish = ExportStep("finish", StepKind.FINISH, f"Put it into {place}")
    return (*_steps(items, needs_tools=needs_tools), finish)


def commands_elsewhere(steps: Sequence[ExportStep]) -> tuple[tuple[str, ...], ...]:
    """What makes the same on another machine, from nothing."""
    return (_INSTALL, *(step.command for step in steps if step.command))


def _steps(items: Sequence[PlannedItem], *, needs_tools: bool) -> Iterator[ExportStep]:
    if needs_tools:
        yield ExportStep("environment", StepKind.ENVIRONMENT, "Install the export tools")
    for one in items:
        if one.fetch is not None:
            yield ExportStep(
                f"fetch-{one.role}",
                StepKind.FETCH,
                f"Download the {one.role}'s checkpoint",
                _fetch_command(one.fetch, source_name(one.item.source)),
            )
    for one in items:
        yield from _making(one)
    for one in items:
        yield ExportStep(f"check-{one.role}", StepKind.CHECK, f"Check the exported {one.role}")
    if len({one.role for one in items}) == len(ExportRole):
        title = "Measure the pair with and without its draft"
        yield ExportStep("measure", StepKind.MEASURE, title)


def _making(one: PlannedItem) -> Iterator[ExportStep]:
    item = one.item
    # On this disk a GGUF draft is a file: its name keeps the ending there, and here in words.
    is_file = item.source.kind is SourceKind.GGUF
    model = f"{source_name(item.source)}.gguf" if is_file else source_name(item.source)
    prepare = prepare_command(one.recipe, source=model, output=prepared_name(item))
    if prepare:
        title = "Unpack the draft" if is_file else "Copy the draft without its code"
        yield ExportStep(f"prepare-{one.role}", StepKind.CONVERT, title, prepare)
        model = prepared_name(item)
    command = convert_command(
        one.recipe,
        model=model,
        output=item_name(item),
        weight_format=item.weight_format,
        group_size=one.group_size or item.group_size,
        all_layers=item.all_layers,
    )
    title = f"Export the {one.role} to {item.weight_format}"
    peak = one.estimate.peak_bytes
    yield ExportStep(f"convert-{one.role}", StepKind.CONVERT, title, command, peak)


def _fetch_command(plan: RepoPlan, folder: str) -> tuple[str, ...]:
    files = tuple(file.path for file in plan.files)
    at = ("--revision", plan.commit, "--local-dir", folder)
    return ("hf", "download", plan.repo_id, *files, *at)


def require_pair(items: Sequence[PlannedItem]) -> None:
    """Refuse a draft that cannot belong to the target that is exported with it.

    Raises `AppError` ("export_no_pair"), before anything large is fetched.
    """
    by_role = {one.role: one.checkpoint for one in items}
    target, draft = by_role.get(ExportRole.TARGET), by_role.get(ExportRole.DRAFT)
    if target is None or draft is None:
        return
    highest = max(draft.target_layer_ids, default=-1)
    if target.layer_count and highest >= target.layer_count:
        reason = (
            f"The draft reads layer {highest}, counted from 0, and the target has "
            f"{target.layer_count} layers."
        )
        raise AppError(_no_pair(reason))
    if target.hidden_size and draft.hidden_size and target.hidden_size != draft.hidden_size:
        reason = (
            f"The target is {target.hidden_size} numbers wide, and the draft reads "
            f"{draft.hidden_size}."
        )
        raise AppError(_no_pair(reason))


def _no_pair(reason: str) -> Problem:
    return Problem(
        code="export_no_pair",
        headline="This draft was made for another target.",
        advice=f"{reason} Choose the target that the draft's authors name.",
    )
