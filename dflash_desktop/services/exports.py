"""Exports: one runs at a time, and every finished stage survives the end of the program."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.export_plan import ExportVerdict
from dflash_desktop.domain.export_run import AT_REST, ExportRun, ExportState
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import export_problems as problems
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.export_entry import ExportEntry, loaded, stages_of
from dflash_desktop.services.export_journal import ExportJournal, StoredExport, new_export_id
from dflash_desktop.services.export_keeping import ExportKeeping
from dflash_desktop.services.export_stages import StageTelling
from dflash_desktop.services.install_lock import InstallLock

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from dflash_desktop.domain.export_plan import ExportPlan
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.export_stages import Stages
    from dflash_desktop.services.keep_awake import KeepAwake

_log = logging.getLogger(__name__)


class Exports:
    """All exports of this person. Use it on the loop's thread; nothing here blocks for long.

    Only one process runs exports; what another one runs is shown here once it has ended.
    """

    def __init__(
        self, *, paths: AppPaths, stages: Stages, keep_awake: KeepAwake | None = None
    ) -> None:
        self._paths = paths
        self._stages = stages
        self._keep_awake = keep_awake
        self._journal = ExportJournal(paths.exports_dir)
        self._lock = InstallLock(paths.exports_lock_file)
        self._listeners: list[Callable[[], None]] = []
        self._queue: asyncio.Task[None] | None = None
        self._running: tuple[ExportEntry, asyncio.Task[None]] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._keeping = ExportKeeping(self._journal)
        self._entries: list[ExportEntry] = []
        if not self._lock.is_held_by_anyone():
            self._load()

    # --- what can be seen ---------------------------------------------------------------------

    def runs(self) -> tuple[ExportRun, ...]:
        """All of them, the oldest first; finished ones stay until they are removed."""
        return tuple(entry.shown for entry in self._entries)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # --- what can be done ---------------------------------------------------------------------

    async def tidy(self) -> None:
        """End what an earlier run left, also standing still in a pause; call it at the start."""
        if not self._lock.is_mine and not self._acquire():
            return
        try:
            for entry in tuple(self._entries):
                if entry.shown.state in {ExportState.FAILED, ExportState.PAUSED}:
                    await self._stages.end_strays(entry.stored)
        finally:
            self._let_go()

    def start(self, plan: ExportPlan) -> ExportRun:
        """Run it now, or after what runs. Raises `AppError`: it cannot work, or not now."""
        if plan.verdict is ExportVerdict.CANNOT:
            raise AppError(problems.cannot_work(plan))
        self._own()
        stored = StoredExport(new_export_id(), plan)
        shown = ExportRun(
            id=stored.id,
            plan=plan,
            state=ExportState.WAITING,
            stages=stages_of(stored),
            log_file=stored.log_file(self._paths),
        )
        entry = ExportEntry(stored, shown, self._tell)
        self._entries.append(entry)
        self._spawn(self._keeping.keep(entry))  # it may wait for hours, and the program be killed
        self._work()
        self._tell()
        return entry.shown

    def pause(self, run_id: str) -> None:
        """Let its processes stand still, or end the stage where there are none to hold."""
        entry = self._entry(run_id)
        if self._is_running(entry) and entry.shown.state is ExportState.RUNNING:
            if self._stages.freeze():
                entry.freeze(is_frozen=True)
                self._spawn(self._keeping.keep(entry))
            else:
                self._end(entry, ExportState.PAUSED)
        elif entry.shown.state is ExportState.WAITING:
            entry.settle(ExportState.PAUSED)
            self._spawn(self._keeping.keep(entry))

    def resume(self, run_id: str) -> None:
        """Go on at the last finished stage, also after a failure. Raises `AppError`."""
        entry = self._entry(run_id)
        if entry.is_frozen:
            self._stages.thaw()
            entry.freeze(is_frozen=False)
            self._spawn(self._keeping.keep(entry))
        elif entry.shown.state in (ExportState.PAUSED, ExportState.FAILED):
            self._own()
            entry.settle(ExportState.WAITING)
            self._work()

    def cancel(self, run_id: str) -> None:
        """End every process of it and delete what it made; what is in the library stays."""
        entry = self._entry(run_id)
        if entry.shown.state in (ExportState.CANCELLED, ExportState.DONE, ExportState.STOPPING):
            return
        if not self._is_running(entry):
            self._own()
        self._end(entry, ExportState.CANCELLED)

    def remove(self, run_id: str) -> None:
        """Show it no more; one that is not done is cancelled."""
        self.cancel(run_id)
        self._entries.remove(self._entry(run_id))
        self._tell()

    async def close(self) -> None:
        """End everything; what was under way can go on at the next start."""
        if self._running is not None:
            entry = self._running[0]
            # One that is through is shown before its task has ended.
            if entry.ends_as is None and entry.shown.state not in AT_REST:
                self._end(entry, ExportState.PAUSED)
        for entry in self._entries:
            if entry.shown.state is ExportState.WAITING:
                entry.settle(ExportState.PAUSED)
                self._spawn(self._keeping.keep(entry))
        while self._tasks:
            await asyncio.wait(self._tasks)
        self._let_go()

    # --- the queue ----------------------------------------------------------------------------

    def _work(self) -> None:
        if self._queue is None or self._queue.done():
            self._queue = self._spawn(self._run_queue())

    async def _run_queue(self) -> None:
        try:
            while (entry := self._next()) is not None:
                if self._keep_awake is not None:
                    self._keep_awake.hold()
                task = asyncio.create_task(self._export(entry), name="export")
                self._running = (entry, task)
                # Only waited for: a person who pauses it cancels it, and the queue goes on.
                await asyncio.wait([task])
                self._running = None
        finally:
            if self._keep_awake is not None:
                self._keep_awake.release()

    def _next(self) -> ExportEntry | None:
        waiting = (e for e in self._entries if e.shown.state is ExportState.WAITING)
        return next(waiting, None)

    async def _export(self, entry: ExportEntry) -> None:
        """All stages that are not done. Raises nothing but its cancellation."""
        try:
            await self._stages.end_strays(entry.stored)
            await asyncio.to_thread(entry.forget_what_is_gone, self._stages.is_still_done)
            for step in entry.stored.plan.steps:
                if step.name in entry.stored.done:
                    continue
                entry.begin_stage(step)
                # Kept before it begins: a process that dies in it must find it again.
                await self._keeping.keep(entry)
                stored = await self._stages.run(entry.stored, step, self._telling(entry))
                entry.end_stage(step, replace(stored, peak_bytes=entry.stored.peak_bytes))
            await self._finish(entry)
        except AppError as error:
            await self._fail(entry, error.problem)
        except OSError as error:
            problem = write_problem(error, what="The export", kept="Finished stages are kept.")
            await self._fail(entry, problem)
        except Exception as error:  # noqa: BLE001 - the queue must outlive our own mistakes
            _log.exception("an export ended by a mistake of the program")
            await self._fail(entry, problems.internal(repr(error)))

    def _telling(self, entry: ExportEntry) -> StageTelling:
        async def keep(stored: StoredExport) -> None:
            entry.stored = replace(stored, peak_bytes=entry.stored.peak_bytes)
            await self._keeping.keep(entry)

        return StageTelling(entry.progress, entry.log, entry.memory, entry.notice, keep)

    async def _finish(self, entry: ExportEntry) -> None:
        await self._stages.discard(entry.stored)
        await self._keeping.forget(entry)
        entry.settle(ExportState.DONE)

    async def _fail(self, entry: ExportEntry, problem: Problem) -> None:
        entry.settle(ExportState.FAILED, problem)
        await self._keeping.keep(entry)

    def _end(self, entry: ExportEntry, state: ExportState) -> None:
        """Stop it if it runs, and let it come to rest as `state` once its processes are gone."""
        is_ending = entry.ends_as is not None
        entry.ends_as = state
        entry.shown = replace(entry.shown, state=ExportState.STOPPING, notice="")
        self._tell()
        if not is_ending:
            task = self._running[1] if self._running and self._is_running(entry) else None
            self._spawn(self._come_to_rest(entry, task))

    async def _come_to_rest(self, entry: ExportEntry, task: asyncio.Task[None] | None) -> None:
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        is_cancelled = entry.ends_as is ExportState.CANCELLED
        if entry.shown.state is not ExportState.DONE:  # it was through before
            if is_cancelled:
                await self._stages.discard(entry.stored)
                await self._keeping.forget(entry)
            entry.settle(ExportState.CANCELLED if is_cancelled else ExportState.PAUSED)
            await self._keeping.keep(entry)
        entry.ends_as = None

    # --- small steps --------------------------------------------------------------------------

    def _spawn(self, coroutine: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Run it as a task of ours; the lock is let go when none is left."""
        task = asyncio.create_task(coroutine, name="exports")
        self._tasks.add(task)
        task.add_done_callback(self._end_of_task)
        return task

    def _end_of_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._let_go()

    def _entry(self, run_id: str) -> ExportEntry:
        entry = next((one for one in self._entries if one.id == run_id), None)
        if entry is None:
            raise AppError(problems.no_such_export())
        return entry

    def _is_running(self, entry: ExportEntry) -> bool:
        return self._running is not None and self._running[0] is entry

    def _own(self) -> None:
        """Raises `AppError` while another process runs exports."""
        if not self._lock.is_mine and not self._acquire():
            raise AppError(problems.busy_elsewhere())

    def _acquire(self) -> bool:
        try:
            is_ours = self._lock.acquire()
        except OSError as error:
            _log.warning("exports cannot be locked: %s", error)
            return True  # better two that export than none
        if is_ours:
            self._load()
        return is_ours

    def _load(self) -> None:
        """Take in what other processes left since."""
        known = {entry.id for entry in self._entries}
        for stored in self._journal.load():
            if stored.id not in known:
                log_file = stored.log_file(self._paths)
                self._entries.append(loaded(stored, tell=self._tell, log_file=log_file))

    def _let_go(self) -> None:
        if not self._tasks:
            self._lock.release()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()
