"""Look at a checkpoint that is on the hub, by its list of files and its small ones."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.checkpoint import Checkpoint
from dflash_desktop.domain.checkpoint_files import is_looked_at, wanted_files
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.transfer import RepoPlan, RepoRequest, incoming_folder_name
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.checkpoint_inspection import CONFIG, checkpoint_of, small_files
from dflash_desktop.services.fetch_process import FetchFailedError, fetch_events
from dflash_desktop.workers.checkpoint_code import is_code, own_code
from dflash_desktop.workers.fetch_messages import (
    FetchRepos,
    PlanRepos,
    ReposFetched,
    ReposPlanned,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_request import ExportSource
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.transfer_world import HubReach
    from dflash_desktop.services.worker_launch import WorkerLauncher

_LIMIT_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class HubCheckpoint:
    """What it is, and the plan of fetching what its export needs."""

    checkpoint: Checkpoint
    plan: RepoPlan  # only the files that are needed


class HubCheckpoints:
    """Asks the hub, through fetch processes that end with the answer."""

    def __init__(
        self,
        *,
        launcher: WorkerLauncher,
        hub: HubReach,
        explain: Callable[[FetchFailedError], Problem],
        cache_dir: Path,
    ) -> None:
        self._launcher = launcher
        self._hub = hub
        self._explain = explain
        self._cache_dir = cache_dir

    async def look(self, source: ExportSource, *, incoming_dir: Path) -> HubCheckpoint:
        """Raises `AppError`. `incoming_dir` is where an earlier fetch may have left files."""
        try:
            async with asyncio.timeout(_LIMIT_SECONDS):
                return await self._look(source, incoming_dir)
        except FetchFailedError as error:
            raise AppError(self._explain(error)) from error
        except TimeoutError as error:
            slow = FetchFailedError("timeout", "no answer came in time")
            raise AppError(self._explain(slow)) from error
        except OSError as error:
            problem = write_problem(error, what="The plan's files", kept="Nothing was started.")
            raise AppError(problem) from error

    async def _look(self, source: ExportSource, incoming_dir: Path) -> HubCheckpoint:
        plan = await self._plan(source, incoming_dir)
        sizes = {file.path: file.size_bytes for file in plan.files}
        code = tuple(sorted(path for path in sizes if is_code(path)))
        wanted = frozenset(wanted_files(sizes))
        needed = tuple(file for file in plan.files if file.path in wanted)
        small = tuple(file for file in needed if is_looked_at(file.path, file.size_bytes))
        self._cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="export-plan-", dir=self._cache_dir) as place:
            folder = Path(place) / incoming_folder_name(plan.repo_id)
            folder.mkdir()
            if small:
                await self._fetch(replace(plan, files=small), Path(place))
            config, names = await asyncio.to_thread(small_files, folder)
            code += await asyncio.to_thread(own_code, folder)
        checkpoint = checkpoint_of(
            plan.repo_id.rpartition("/")[2],
            config,
            {
                path: size
                for path, size in sizes.items()
                if path in wanted or path.endswith(".xml")
            },
            code=code,
        )
        return HubCheckpoint(replace(checkpoint, tensor_names=names), replace(plan, files=needed))

    async def _plan(self, source: ExportSource, incoming_dir: Path) -> RepoPlan:
        job = PlanRepos(
            job=1,
            repos=(RepoRequest(source.repo_id, source.revision),),
            access=await self._hub.access(),
            incoming_dir=incoming_dir,
            cache_dirs=self._hub.cache_dirs(),
        )
        async with aclosing(fetch_events(self._launcher.fetch(), job)) as events:
            async for event in events:
                if isinstance(event, ReposPlanned):
                    return event.plan.repos[0]
        raise FetchFailedError("worker_error", "no plan came")

    async def _fetch(self, plan: RepoPlan, place: Path) -> None:
        job = FetchRepos(
            job=1,
            plans=(plan,),
            access=await self._hub.access(),
            incoming_dir=place,
            cache_dirs=self._hub.cache_dirs(),
        )
        async with aclosing(fetch_events(self._launcher.fetch(), job)) as events:
            async for event in events:
                if isinstance(event, ReposFetched):
                    return
        raise FetchFailedError("worker_error", f"{CONFIG} did not come")
