"""Plans an export: what runs, what is fetched, what it takes, whether it can work here."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.domain.checkpoint import recipe_for
from dflash_desktop.domain.export_environment import EnvironmentState, choose_environment
from dflash_desktop.domain.export_estimate import estimate_export
from dflash_desktop.domain.export_plan import ExportPlan, ExportVerdict
from dflash_desktop.domain.export_recipes import fitting_group_size
from dflash_desktop.domain.export_request import ExportRole, SourceKind, WeightFormat
from dflash_desktop.domain.export_verdict import ExportNeed, ExportRoom, alternatives, judge
from dflash_desktop.domain.hardware import HardwareReport
from dflash_desktop.domain.memory_pool import memory_pool
from dflash_desktop.domain.planned_item import (
    PlannedItem,
    commands_elsewhere,
    export_steps,
    require_pair,
)
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.shell_words import command_line, shells_of
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.checkpoint_inspection import inspect_checkpoint, inspect_gguf_draft
from dflash_desktop.services.hub_checkpoint import HubCheckpoints
from dflash_desktop.services.hub_problems import hub_problem
from dflash_desktop.services.system_probe import system_memory
from dflash_desktop.workers.disk_room import existing_folder, free_disk_bytes
from dflash_desktop.workers.system_load import system_load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.catalogue import CataloguePair
    from dflash_desktop.domain.checkpoint import Checkpoint
    from dflash_desktop.domain.export_environment import EnvironmentStatus, ExportEnvironment
    from dflash_desktop.domain.export_request import ExportItem, ExportRequest
    from dflash_desktop.domain.transfer import RepoPlan
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.export_environments import ExportEnvironments
    from dflash_desktop.services.transfer_world import HubReach
    from dflash_desktop.services.worker_launch import WorkerLauncher


class ExportPlanning:
    """Looks only: of a hub small files are fetched, and nothing is written that stays."""

    def __init__(
        self,
        *,
        hub: HubCheckpoints,
        environments: Callable[[], tuple[EnvironmentStatus, ...]],
        pairs: Callable[[], tuple[CataloguePair, ...]],
        work_dir: Callable[[], Path],
        reserve_bytes: Callable[[], int | None] = lambda: None,
        room: Callable[[Path, int | None], ExportRoom] | None = None,
    ) -> None:
        """`work_dir` is where exports are made, `pairs` tells what others have made.

        `reserve_bytes` is what the person wants kept free; None: what is usual.
        """
        self._hub = hub
        self._environments = environments
        self._pairs = pairs
        self._work_dir = work_dir
        self._reserve_bytes = reserve_bytes
        self._room = room or room_here

    async def plan(self, request: ExportRequest, *, output_dir: Path | None = None) -> ExportPlan:
        """The plan, with a verdict also where it cannot work here; seconds if a hub is asked.

        Raises `AppError` for what can be exported nowhere: no checkpoint, no draft, a kind that
        the tools do not know, a draft for another target.
        """
        if not request.items:
            raise AppError(_nothing_chosen())
        items = [await self._look(item) for item in request.items]
        require_pair(items)
        environment = _environment(items, allow_development=request.allow_development)
        status = await asyncio.to_thread(self._status_of, environment)
        place = output_dir or self._work_dir()
        room = await asyncio.to_thread(self._room, place, self._reserve_bytes())
        return self._put_together(request, items, (environment.id, status), room, output_dir)

    async def _look(self, item: ExportItem) -> PlannedItem:
        source = item.source
        fetch: RepoPlan | None = None
        if source.kind is SourceKind.HUB:
            found = await self._hub.look(source, incoming_dir=self._work_dir())
            checkpoint, fetch = found.checkpoint, found.plan
        elif source.path is None:
            raise AppError(_nothing_chosen())
        else:
            is_gguf = source.kind is SourceKind.GGUF
            look = inspect_gguf_draft if is_gguf else inspect_checkpoint
            checkpoint = await asyncio.to_thread(look, source.path)
        recipe = recipe_for(checkpoint, item.role)
        group_size = _group_size(item, checkpoint)
        estimate = estimate_export(
            checkpoint,
            recipe,
            item.weight_format,
            group_size=group_size,
            all_layers=item.all_layers,
        )
        return PlannedItem(item, checkpoint, recipe, group_size, estimate, fetch)

    def _status_of(self, environment: ExportEnvironment) -> EnvironmentStatus | None:
        return next((one for one in self._environments() if one.id == environment.id), None)

    def _put_together(
        self,
        request: ExportRequest,
        items: list[PlannedItem],
        tools: tuple[str, EnvironmentStatus | None],
        room: ExportRoom,
        output_dir: Path | None,
    ) -> ExportPlan:
        environment_id, status = tools
        needs_tools = status is None or status.state is not EnvironmentState.READY
        largest = max((one.estimate for one in items), key=lambda one: one.peak_bytes)
        fetches = tuple(fetch for one in items if (fetch := one.fetched()) is not None)
        kept_bytes = sum(one.estimate.output_bytes for one in items)
        kept_bytes += status.needed_bytes if status is not None and needs_tools else 0
        between_bytes = max(one.estimate.temporary_bytes for one in items)
        between_bytes += sum(fetch.missing_bytes for fetch in fetches)
        need = ExportNeed(
            peak_bytes=largest.peak_bytes,
            disk_bytes=kept_bytes + between_bytes,
            largest_file_bytes=max(map(_largest_file, items)),
        )
        verdict, reasons = judge(need, room)
        steps = export_steps(items, needs_tools=needs_tools, output_dir=output_dir)
        shell = shells_of(sys.platform)[0]
        commands = tuple(command_line(words, shell) for words in commands_elsewhere(steps))
        ways_out = alternatives(
            request,
            pairs=self._pairs(),
            commands=commands,
            smaller_helps=verdict is not ExportVerdict.FITS,
        )
        return ExportPlan(
            request=request,
            environment_id=environment_id,
            steps=steps,
            peak_bytes=largest.peak_bytes,
            peak_formula=largest.formula,
            disk_bytes=kept_bytes,
            temporary_bytes=between_bytes,
            free_disk_bytes=room.disk_free_bytes,
            available_bytes=room.available_bytes,
            verdict=verdict,
            reasons=reasons,
            warnings=tuple(words for one in items for words in one.warnings()),
            alternatives=ways_out,
            output_dir=output_dir,
            memory_total_bytes=room.memory_total_bytes,
            fetches=fetches,
        )


def room_here(place: Path, reserve_bytes: int | None) -> ExportRoom:
    """This machine at this moment; `place` need not exist yet. Blocking; raises `OSError`."""
    memory = system_memory()
    report = HardwareReport(memory=memory)
    pool = memory_pool(report, reserve_bytes=reserve_bytes, device="CPU")
    return ExportRoom(
        memory_total_bytes=memory.total_bytes or 0,
        memory_free_bytes=memory.available_bytes or 0,
        swap_free_bytes=int(psutil.swap_memory().free),
        reserve_bytes=pool.reserve_bytes,
        disk_free_bytes=free_disk_bytes(place),
        file_system=_file_system(existing_folder(place).resolve()),
        commit_left_bytes=system_load().commit_free_bytes if sys.platform == "win32" else None,
    )


def _file_system(folder: Path) -> str:
    """Of the disk that holds the folder; empty where the system does not tell."""
    mounts = {part.mountpoint: part.fstype for part in psutil.disk_partitions(all=True)}
    for place in (folder, *folder.parents):
        if (found := mounts.get(str(place))) is not None:
            return found
    return ""


def _environment(items: list[PlannedItem], *, allow_development: bool) -> ExportEnvironment:
    """The target's, if there is one: every environment exports DFlash drafts.

    Raises `AppError` for a kind that none exports.
    """
    chosen = {
        one.role: choose_environment(
            one.checkpoint.model_type,
            kind=one.checkpoint.draft_kind() if one.role is ExportRole.DRAFT else None,
            allow_development=allow_development,
        )
        for one in items
    }
    special = [environment for environment in chosen.values() if environment.is_development]
    return special[0] if special else chosen.get(ExportRole.TARGET, next(iter(chosen.values())))


def _group_size(item: ExportItem, checkpoint: Checkpoint) -> int | None:
    if item.weight_format is not WeightFormat.INT4:
        return None
    if item.group_size is not None:
        return item.group_size
    # What was packed in GGUF lies on a grid of 16 values in each 16 weights: other groups round
    # it a second time.
    first = fitting_group_size(checkpoint.row_widths, 16) if checkpoint.is_gguf else None
    return first or fitting_group_size(checkpoint.row_widths)


def _largest_file(one: PlannedItem) -> int:
    """Of all that is written: the packed weights, the checkpoint's files, what lies between."""
    sizes = [one.estimate.output_bytes, one.estimate.temporary_bytes]
    if one.fetch is not None:
        sizes += [file.size_bytes for file in one.fetch.files]
    return max(sizes)


def _nothing_chosen() -> Problem:
    return Problem(
        code="export_nothing_chosen",
        headline="Nothing is chosen to be exported.",
        advice="Choose a target, its draft, or both: by a repository's name, a folder or a file.",
        remedies=(Remedy.CHOOSE_MODEL,),
    )


def open_export_planning(
    *,
    paths: AppPaths,
    launcher: WorkerLauncher,
    hub: HubReach,
    environments: ExportEnvironments,
    reserve_bytes: Callable[[], int | None],
) -> ExportPlanning:
    """The planning of this installation; it starts nothing before it is asked."""
    return ExportPlanning(
        hub=HubCheckpoints(
            launcher=launcher, hub=hub, explain=hub_problem, cache_dir=paths.cache_dir
        ),
        environments=environments.status,
        pairs=lambda: load_catalogue(own_file=paths.own_pairs_file).pairs,
        work_dir=lambda: paths.incoming_dir,
        reserve_bytes=reserve_bytes,
    )
