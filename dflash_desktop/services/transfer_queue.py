"""The transfers in their order, kept on disk by the one process that owns the queue."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.transfer import Transfer, TransferState
from dflash_desktop.services import transfer_problems as problems
from dflash_desktop.services.transfer_store import StoredTransfer

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.install_lock import InstallLock
    from dflash_desktop.services.transfer_store import TransferStore

_log = logging.getLogger(__name__)

ELSEWHERE: Final = "Another window or command of this program is downloading; this one waits."


@dataclass(slots=True, eq=False)
class QueuedTransfer:
    """One transfer: what is kept of it, and how it was last shown."""

    stored: StoredTransfer
    shown: Transfer

    @property
    def id(self) -> str:
        """The request's."""
        return self.stored.request.id


class TransferQueue:
    """Shows the queue to everybody; changes and saves it only while the lock is ours."""

    def __init__(self, *, store: TransferStore, lock: InstallLock) -> None:
        self._store = store
        self._lock = lock
        self._listeners: list[Callable[[], None]] = []
        self._added: set[str] = set()
        self._must_save = False
        self._saving_one = asyncio.Lock()
        self._saving: asyncio.Task[None] | None = None
        self.is_ours = False
        self.entries = [loaded(stored) for stored in store.load()]

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def own(self) -> bool:
        """Take the queue if no other process has it; what that one left is then ours, too.

        The system lets go of the lock of a process that ended, however it ended.
        """
        if self.is_ours:
            return True
        try:
            self.is_ours = self._lock.acquire()
        except OSError as error:
            _log.warning("the queue of downloads cannot be locked: %s", error)
            self.is_ours = True  # better two that download than none
        notice = "" if self.is_ours else ELSEWHERE
        added = [entry for entry in self.entries if entry.id in self._added]
        for entry in added:
            entry.shown = replace(entry.shown, notice=notice)
        # What is done is in no file, and a person has not put it away yet.
        done = [e for e in self.entries if not e.shown.is_open and e.id not in self._added]
        known = self._added | {entry.id for entry in done}
        others = [one for one in self._store.load() if one.request.id not in known]
        self.entries = [*done, *(loaded(one, notice) for one in others), *added]
        if self.is_ours and added:
            self._must_save = True
            self._added.clear()
        self.tell()
        return self.is_ours

    def let_go(self) -> bool:
        """Leave the queue to whoever wants to run it next; False while there is more to save."""
        if self._must_save or self._saving_one.locked():
            return False
        self._lock.release()
        self.is_ours = False
        return True

    def find(self, transfer_id: str) -> QueuedTransfer | None:
        """The transfer with this id."""
        return next((entry for entry in self.entries if entry.id == transfer_id), None)

    def ours(self, transfer_id: str) -> QueuedTransfer:
        """The transfer to change. Raises `AppError` for one that another process runs, or did."""
        is_ours = self.own()
        entry = self.find(transfer_id)
        if entry is None:
            raise AppError(problems.no_such_transfer())
        if not is_ours and transfer_id not in self._added:
            raise AppError(problems.busy_elsewhere())
        return entry

    def append(self, stored: StoredTransfer) -> None:
        """Put a new one at the end."""
        if not self.is_ours:
            self._added.add(stored.request.id)
        self.entries.append(loaded(stored, "" if self.is_ours else ELSEWHERE))

    def settle(
        self, entry: QueuedTransfer, state: TransferState, problem: Problem | None = None
    ) -> None:
        """It does not run now; what is shown and what is kept say the same."""
        entry.shown = replace(
            entry.shown,
            state=state,
            bytes_per_second=None,
            seconds_left=None,
            attempt=1 if state is TransferState.WAITING else entry.shown.attempt,
            notice="",
            problem=problem,
        )
        entry.stored = replace(
            entry.stored,
            is_paused=state is TransferState.PAUSED,
            problem=problem,
            done_bytes=entry.shown.done_bytes,
        )
        self.changed()

    def changed(self) -> None:
        """Something must be kept and told."""
        self._must_save = True
        if self._saving is None or self._saving.done():
            self._saving = asyncio.create_task(self.save(), name="save downloads")
        self.tell()

    def tell(self) -> None:
        """Call every listener."""
        for listener in tuple(self._listeners):
            listener()

    async def save(self) -> None:
        """Write what has changed if the queue is ours; a disk that refuses is told in the log."""
        async with self._saving_one:
            while self._must_save and self.is_ours:
                self._must_save = False
                kept = tuple(entry.stored for entry in self.entries if entry.shown.is_open)
                try:
                    await asyncio.to_thread(self._store.save, kept)
                except OSError as error:
                    _log.info("the queue of downloads could not be saved: %s", error)

    async def release(self) -> None:
        """Save, and let another process have it."""
        await self.save()
        if self._saving is not None:
            await asyncio.wait([self._saving])
        self._lock.release()
        self.is_ours = False


def loaded(stored: StoredTransfer, notice: str = "") -> QueuedTransfer:
    """As it is shown before it runs."""
    if stored.is_paused:
        state = TransferState.PAUSED
    else:
        state = TransferState.WAITING if stored.problem is None else TransferState.FAILED
    shown = Transfer(
        request=stored.request,
        state=state,
        done_bytes=stored.done_bytes,
        total_bytes=sum(plan.size_bytes for plan in stored.plans) if stored.plans else None,
        notice=notice,
        problem=stored.problem,
    )
    return QueuedTransfer(stored, shown)
