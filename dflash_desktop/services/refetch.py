"""Mend a damaged model: fetch the files that are bad, and only these, and put each in place."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.library import (
    ModelFile,
    VerificationReport,
    WorkProgress,
)
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.transfer import RepoRequest, incoming_folder_name
from dflash_desktop.services import library_problems as problems
from dflash_desktop.services.fetch_process import FetchFailedError, fetch_events
from dflash_desktop.services.file_tree import is_link
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.leftovers import REPAIRS
from dflash_desktop.services.library_lock import library_changing
from dflash_desktop.services.model_manifest import (
    ModelRecord,
    read_record,
    record_dir,
    utc_now,
    write_record,
)
from dflash_desktop.services.model_removal import refuse_if_in_use
from dflash_desktop.services.model_verification import bad_paths
from dflash_desktop.workers.fetch_messages import (
    FetchRepos,
    FilesProgress,
    PlanRepos,
    ReposFetched,
    ReposPlanned,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.domain.transfer import RepoPlan
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.transfer_world import HubReach
    from dflash_desktop.services.worker_launch import WorkerLauncher
    from dflash_desktop.workers.fetch_messages import HubAccess


@dataclass(frozen=True, slots=True)
class Repaired:
    """What was brought anew, and how the model is now."""

    paths: tuple[str, ...]
    report: VerificationReport


class ModelRefetch:
    """Repairs downloaded models, one at a time on this machine.

    `explain` puts a failure of the fetch process into words.
    """

    def __init__(
        self,
        *,
        paths: AppPaths,
        launcher: WorkerLauncher,
        library: ModelLibrary,
        hub: HubReach,
        explain: Callable[[FetchFailedError], Problem],
    ) -> None:
        self._paths = paths
        self._launcher = launcher
        self._library = library
        self._hub = hub
        self._explain = explain

    async def verify_and_repair(
        self,
        model_id: str,
        *,
        on_verify: Callable[[WorkProgress], None] = lambda _: None,
        on_fetch: Callable[[WorkProgress], None] = lambda _: None,
    ) -> Repaired:
        """Find out what is bad and fetch it. Raises `AppError` as its two parts do."""
        report = await self._library.verify(model_id, on_verify)
        return Repaired((), report) if report.is_whole else await self.repair(report, on_fetch)

    async def repair(
        self,
        report: VerificationReport,
        on_progress: Callable[[WorkProgress], None] = lambda _: None,
    ) -> Repaired:
        """Fetch what this report of `ModelLibrary.verify` found bad, from the same commit.

        What arrives is continued after an interruption. Files are replaced one by one, each
        atomically. Raises `AppError`: "model_unknown", "not_repairable" for a model of no
        repository, "repair_busy", "model_in_use", or what the hub or the disk refused.
        """
        model = self._library.known(report.model_id)
        wanted = bad_paths(report)
        if not model.is_ours or not model.manifest.repo_id:
            raise AppError(_not_repairable(model))
        refuse_if_in_use(model, await asyncio.to_thread(self._library.folders_in_use))
        if not wanted:
            return Repaired((), report)
        lock = InstallLock(self._paths.repair_lock_file)
        if not lock.acquire():
            raise AppError(_busy())
        try:
            incoming = self._paths.incoming_dir / REPAIRS
            files = await self._fetch(model, wanted, incoming, on_progress)
            arrived = incoming / incoming_folder_name(model.manifest.repo_id)
            with problems.written(f"“{model.title}”"):
                await asyncio.to_thread(self._replace, model, arrived, files)
                await asyncio.to_thread(shutil.rmtree, incoming)
        finally:
            lock.release()
        left = tuple(one for one in report.differences if one.path not in wanted)
        mended = replace(
            report,
            checked_files=len(model.manifest.files),  # the rest while they arrived
            checked_bytes=model.manifest.size_bytes,
            differences=left,
            at=utc_now(),
        )
        await self._library.keep_report(model, mended)
        return Repaired(wanted, mended)

    async def _fetch(
        self,
        model: InstalledModel,
        wanted: tuple[str, ...],
        incoming: Path,
        on_progress: Callable[[WorkProgress], None],
    ) -> dict[str, ModelFile]:
        """The files as they arrived, all verified by the hub's own values."""
        await asyncio.to_thread(incoming.mkdir, parents=True, exist_ok=True)
        access = await self._hub.access()
        try:
            plan = await self._plan(model, incoming, access)
            # Not from the hub's cache: a damaged file may be one with its copy there.
            job = FetchRepos(
                job=1,
                plans=(plan,),
                access=access,
                incoming_dir=incoming,
                max_bytes_per_second=self._hub.max_bytes_per_second,
                only_paths=wanted,
            )
            files = await self._bring(job, on_progress)
        except FetchFailedError as error:
            raise AppError(self._explain(error)) from error
        missing = set(wanted) - files.keys()
        if missing:
            raise AppError(_gone(model, min(missing)))
        return files

    async def _plan(self, model: InstalledModel, incoming: Path, access: HubAccess) -> RepoPlan:
        """What the hub says of the very commit; it knows better than a record that was changed."""
        wish = RepoRequest(model.manifest.repo_id, model.manifest.commit)
        job = PlanRepos(job=1, repos=(wish,), access=access, incoming_dir=incoming)
        async with aclosing(fetch_events(self._launcher.fetch(), job)) as events:
            async for event in events:
                if isinstance(event, ReposPlanned):
                    return event.plan.repos[0]
        raise FetchFailedError("worker_error", "no plan came")

    async def _bring(
        self, job: FetchRepos, on_progress: Callable[[WorkProgress], None]
    ) -> dict[str, ModelFile]:
        sizes = {f.path: f.size_bytes for f in job.plans[0].files if f.path in job.only_paths}
        done: dict[str, int] = {}
        async with aclosing(fetch_events(self._launcher.fetch(), job)) as events:
            async for event in events:
                if isinstance(event, FilesProgress):
                    done.update({state.path: state.done_bytes for state in event.files})
                    on_progress(WorkProgress(sum(done.values()), sum(sizes.values())))
                if isinstance(event, ReposFetched):
                    return {file.path: file for file in event.files[0]}
        raise FetchFailedError("worker_error", "the files did not come")

    def _replace(self, model: InstalledModel, arrived: Path, files: dict[str, ModelFile]) -> None:
        """Put each file in place, and where it is not what the manifest says, correct that.

        That is so after a repair of metadata (`services/repair.py`), which the file is before
        again. Raises `OSError` and `AppError`.
        """
        with library_changing(self._paths):
            record = read_record(record_dir(model.path))
            if record is None:
                raise AppError(problems.unknown(model.id))
            for path in files:
                _put(arrived / path, model.path, path)
            if any(files.get(file.path, file) != file for file in record.manifest.files):
                write_record(record_dir(model.path), _corrected(record, files))


def _put(source: Path, folder: Path, path: str) -> None:
    """Replace one file, never through a link that somebody put into the folder."""
    parent = folder
    for part in path.split("/")[:-1]:
        parent /= part
        if is_link(parent):
            raise OSError(f"{parent} is a link")
        parent.mkdir(exist_ok=True)
    target = folder / path
    if not is_link(target) and target.is_dir():
        raise OSError(f"{target} is a folder")
    source.replace(target)


def _corrected(record: ModelRecord, files: dict[str, ModelFile]) -> ModelRecord:
    listed = tuple(files.get(file.path, file) for file in record.manifest.files)
    return replace(record, manifest=replace(record.manifest, files=listed))


def _not_repairable(model: InstalledModel) -> Problem:
    return Problem(
        code="not_repairable",
        headline=f"“{model.title}” cannot be repaired from here.",
        advice="This program did not download it. Copy the folder anew from where it came from.",
        detail=str(model.path),
    )


def _busy() -> Problem:
    return Problem(
        code="repair_busy",
        headline="Another model is being repaired.",
        advice="Wait until that is done, then try again.",
        remedies=(Remedy.RETRY,),
    )


def _gone(model: InstalledModel, path: str) -> Problem:
    return Problem(
        code="file_gone",
        headline=f"The hub no longer has a file of “{model.title}”.",
        advice="Remove the model and download it again.",
        detail=f"{path} at {model.manifest.commit}",
    )
