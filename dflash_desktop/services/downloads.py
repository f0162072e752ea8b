"""Downloads: one transfer runs at a time, and all survive the end of the program."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.transfer import Transfer, TransferState
from dflash_desktop.services import transfer_problems as problems
from dflash_desktop.services.fetch_process import FetchFailedError
from dflash_desktop.services.folder_removal import FolderRemovals
from dflash_desktop.services.hub_problems import hub_problem
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.keep_awake import KeepAwake
from dflash_desktop.services.library_install import LibraryInstalling
from dflash_desktop.services.machine_watch import MachineWatch
from dflash_desktop.services.transfer_attempt import DEFAULT_LIMITS, TransferLimits
from dflash_desktop.services.transfer_queue import TransferQueue
from dflash_desktop.services.transfer_room import kept_plan
from dflash_desktop.services.transfer_store import StoredTransfer, TransferStore
from dflash_desktop.services.transfer_turn import take_turn
from dflash_desktop.services.transfer_world import HubReach, TransferWorld

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from dflash_desktop.domain.transfer import TransferPlan, TransferRequest
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.transfer_queue import QueuedTransfer
    from dflash_desktop.services.worker_launch import WorkerLauncher

_OWNER_LOOK_SECONDS: Final = 2.0
_KEPT_PLANS: Final = 8
_AT_REST: Final = frozenset({TransferState.PAUSED, TransferState.FAILED, TransferState.DONE})
_CAN_GO_ON: Final = frozenset({TransferState.PAUSED, TransferState.FAILED, TransferState.STALLED})


class Downloads:
    """All transfers of this person. Use it on the loop's thread; nothing here blocks.

    Only one process runs the queue (`begin`). While another one does, transfers that are added
    here wait until that one ends.
    """

    def __init__(
        self, *, paths: AppPaths, world: TransferWorld, keep_awake: KeepAwake | None = None
    ) -> None:
        self._world = world
        self._keep_awake = keep_awake
        self._paths = paths
        self._queue = TransferQueue(
            store=TransferStore(paths.downloads_file),
            lock=InstallLock(paths.downloads_lock_file),
        )
        self._plans: dict[TransferRequest, TransferPlan] = {}
        self._only: str | None = None
        self._wake = asyncio.Event()
        self._owning: asyncio.Task[None] | None = None
        self._running: tuple[str, asyncio.Task[None]] | None = None
        self._removals = FolderRemovals()
        self._is_held = False

    # --- what can be seen ---------------------------------------------------------------------

    def transfers(self) -> tuple[Transfer, ...]:
        """All of them in the order of the queue; finished ones stay until they are removed."""
        return tuple(entry.shown for entry in self._queue.entries)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""
        return self._queue.subscribe(listener)

    @property
    def is_ours(self) -> bool:
        """Whether this process runs the queue now; nobody does while there is nothing to run."""
        return self._queue.is_ours

    # --- what can be done ---------------------------------------------------------------------

    def begin(self, *, only: str | None = None) -> None:
        """Run the queue from now on; `only` leaves all others but this transfer waiting."""
        self._only = only
        self._queue.own()
        if self._owning is None:
            self._owning = asyncio.create_task(self._run_queue(), name="downloads")
        self._wake.set()

    async def plan(self, request: TransferRequest) -> TransferPlan:
        """What the request would bring. Raises `AppError`.

        Adding the same request afterwards takes the very commits that were planned here. Of one
        that is under way, it is what was planned before.
        """
        known = self._queue.find(request.id)
        if known is not None and known.stored.request == request and known.stored.missing_plans:
            return await asyncio.to_thread(
                kept_plan, self._folder(known.stored), known.stored.missing_plans
            )
        try:
            plan = await self._world.plan(request, self._folder(StoredTransfer(request)))
        except FetchFailedError as error:
            raise AppError(self._world.explain(error)) from error
        self._plans.pop(request, None)
        self._plans[request] = plan
        while len(self._plans) > _KEPT_PLANS:
            del self._plans[next(iter(self._plans))]
        return plan

    def add(self, request: TransferRequest, *, is_first: bool = False) -> None:
        """Start or queue a transfer; one that is here and waits for a person goes on.

        A request of the same id for other files takes the place of the first. Raises `AppError`
        when that is in the hands of another process.
        """
        self.begin(only=self._only)
        plan = self._plans.pop(request, None)
        known = self._queue.find(request.id)
        if known is not None and known.shown.is_open and known.stored.request == request:
            self.resume(request.id)
        else:
            if known is not None:
                self.remove(request.id, keep_files=True)
            self._queue.append(StoredTransfer(request, plans=plan.repos if plan else ()))
        if is_first:
            self.move(request.id, 0)
        self._changed()

    def pause(self, transfer_id: str) -> None:
        """Stop it and keep what arrived. Raises `AppError`, as all that follow."""
        entry = self._queue.ours(transfer_id)
        if entry.shown.is_open and entry.shown.state is not TransferState.FAILED:
            self._stop(transfer_id)
            self._queue.settle(entry, TransferState.PAUSED)

    def resume(self, transfer_id: str) -> None:
        """Let it go on, also after it failed or a full disk paused it; try a stalled one now."""
        entry = self._queue.ours(transfer_id)
        if entry.shown.state is TransferState.STALLED:
            self._stop(transfer_id)  # with its attempt, or its wait for the next one
        if entry.shown.state in _CAN_GO_ON:
            self._queue.settle(entry, TransferState.WAITING)
            self._wake.set()

    def remove(self, transfer_id: str, *, keep_files: bool) -> None:
        """Stop it and take it out of the queue; without `keep_files` what arrived is deleted."""
        entry = self._queue.ours(transfer_id)
        stopped = self._stop(transfer_id)
        self._queue.entries.remove(entry)
        if not keep_files:
            self._removals.start(self._folder(entry.stored), after=stopped)
        self._changed()

    def move(self, transfer_id: str, position: int) -> None:
        """Give it another place in the queue, from 0; what runs goes on running."""
        entry = self._queue.ours(transfer_id)
        self._queue.entries.remove(entry)
        self._queue.entries.insert(max(position, 0), entry)
        self._changed()

    async def close(self) -> None:
        """Stop everything; what was under way goes on at the next start."""
        if self._owning is not None:
            self._owning.cancel()
            await asyncio.wait([self._owning])
        await self._removals.finish()
        await self._queue.release()

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """While this is open nothing runs, here or elsewhere, and the library can move.

        Raises `AppError` when another process runs the queue.
        """
        if not self._queue.own():
            raise AppError(problems.busy_elsewhere())
        self._is_held = True
        try:
            await self._interrupt()
            await self._removals.finish()
            yield
        finally:
            self._is_held = False
            self._wake.set()

    # --- the queue ----------------------------------------------------------------------------

    async def _run_queue(self) -> None:
        try:
            while True:
                self._wake.clear()
                if not self._queue.own():
                    await self._news_within(_OWNER_LOOK_SECONDS)
                    continue
                # Kept before it begins: a process that dies in it must find it again.
                await self._queue.save()
                entry = self._next()
                if entry is not None:
                    await self._run(entry)
                elif not self._wake.is_set():
                    self._let_sleep()
                    # With nothing to do, another window or command may download.
                    if self._is_held or self._queue.let_go():
                        await self._wake.wait()
        finally:
            await self._interrupt()
            self._let_sleep()

    def _next(self) -> QueuedTransfer | None:
        """The first that waits for nothing but its turn."""
        if self._is_held:
            return None
        for entry in self._queue.entries:
            is_wanted = self._only in (None, entry.id)
            if is_wanted and entry.shown.state is TransferState.WAITING:
                return entry
        return None

    async def _news_within(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()

    async def _run(self, entry: QueuedTransfer) -> None:
        if self._keep_awake is not None:
            self._keep_awake.hold()
        await self._removals.finish()  # of the same folder, perhaps
        if entry not in self._queue.entries or entry.shown.state is not TransferState.WAITING:
            return  # a person thought otherwise meanwhile
        task = asyncio.create_task(
            take_turn(
                entry,
                folder=self._folder(entry.stored),
                queue=self._queue,
                world=self._world,
                paths=self._paths,
            ),
            name="download",
        )
        self._running = (entry.id, task)
        # Only waited for: a person who pauses it cancels it, and the queue goes on.
        await asyncio.wait([task])
        self._running = None

    # --- small steps --------------------------------------------------------------------------

    def _folder(self, stored: StoredTransfer) -> Path:
        return self._paths.incoming_dir / "transfers" / stored.folder_name

    def _stop(self, transfer_id: str) -> asyncio.Task[None] | None:
        """End it if it runs; the task is done when its processes are gone."""
        if self._running is None or self._running[0] != transfer_id:
            return None
        self._running[1].cancel()
        return self._running[1]

    async def _interrupt(self) -> None:
        """End what runs; it waits for its next turn, unless it came to rest before."""
        if self._running is None:
            return
        transfer_id, task = self._running
        task.cancel()
        await asyncio.wait([task])
        entry = self._queue.find(transfer_id)
        if entry is not None and entry.shown.state not in _AT_REST:
            self._queue.settle(entry, TransferState.WAITING)

    def _changed(self) -> None:
        self._queue.changed()
        self._wake.set()

    def _let_sleep(self) -> None:
        if self._keep_awake is not None:
            self._keep_awake.release()


def open_downloads(
    *,
    paths: AppPaths,
    launcher: WorkerLauncher,
    models: ModelLibrary,
    hub: HubReach,
    limits: TransferLimits = DEFAULT_LIMITS,
) -> Downloads:
    """The downloads of this installation; nothing runs before `begin` or `add`."""
    world = TransferWorld(
        launcher=launcher,
        hub=hub,
        installing=LibraryInstalling(library=models),
        explain=hub_problem,
        make_watch=MachineWatch,
        limits=limits,
    )
    return Downloads(paths=paths, world=world, keep_awake=KeepAwake())
