"""One attempt at fetching the files of a transfer, ended when it has become useless."""

from __future__ import annotations

import time
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.retry_policy import GIVE_UP_AFTER_FAILURES, STALLED
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.domain.transfer_rate import TransferRate
from dflash_desktop.services.fetch_process import FetchFailedError, Tick, fetch_events
from dflash_desktop.services.machine_watch import MachineChange
from dflash_desktop.workers.fetch_messages import FilesProgress, ReposFetched
from dflash_desktop.workers.protocol import Hello

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from dflash_desktop.domain.library import ModelFile
    from dflash_desktop.domain.transfer_progress import TransferProgress
    from dflash_desktop.services.machine_watch import MachineWatch
    from dflash_desktop.services.worker_launch import WorkerCommand
    from dflash_desktop.workers.fetch_messages import FetchRepos, FileState

WOKE: Final = "woke"
NEW_NETWORK: Final = "new_network"
"""Codes of attempts that are ended because the next one has better chances."""

_SETTLING_SECONDS: Final = 1.5
"""In so long a process has told of all that was here before."""

_READING_BYTES: Final = 1_000_000
"""Reading this much since the last tick, a worker is checking what is already here."""


@dataclass(frozen=True, slots=True)
class TransferLimits:
    """How patient a transfer is."""

    tick_seconds: float = 1.0
    start_seconds: float = 60.0  # until a process says its first word: a cold disk takes long
    stall_seconds: float = 60.0
    plan_seconds: float = 180.0  # for all answers of a hub to a plan
    frozen_seconds: float = 15.0  # beyond it the process has failed to notice, and is ended
    quiet_seconds: float = 5.0  # then it is said, and a new network is worth a new attempt
    wait_factor: float = 1.0  # of all waiting between attempts; tests take less
    give_up_after: int = GIVE_UP_AFTER_FAILURES
    waits_for_network: bool = True  # without a network for as long as it takes


DEFAULT_LIMITS: Final = TransferLimits()


@dataclass(frozen=True, slots=True)
class AttemptNews:
    """How an attempt stands."""

    state: TransferState
    bytes_per_second: float | None
    notice: str = ""


class TransferAttempt:
    """Runs one fetch process; `progress` is brought up to date, `files` are there at the end."""

    def __init__(
        self,
        *,
        worker: WorkerCommand,
        job: FetchRepos,
        progress: TransferProgress,
        limits: TransferLimits,
        watch: MachineWatch,
        is_resumed: bool,
    ) -> None:
        """`is_resumed` says that much may be here, which must not look like a fast network."""
        self._worker = worker
        self._job = job
        self._progress = progress
        self._limits = limits
        self._watch = watch
        self._rate = TransferRate()
        self._heard_at = time.monotonic()
        self._has_begun = False
        self._rate_from = time.monotonic() + (_SETTLING_SECONDS if is_resumed else 0.0)
        self._read_bytes = 0
        self.files: tuple[tuple[ModelFile, ...], ...] = ()

    async def news(self) -> AsyncGenerator[AttemptNews, None]:
        """Yield how it stands until every file is verified; closing this ends the process.

        Raises `FetchFailedError`, also with the codes `STALLED`, `WOKE` and `NEW_NETWORK`.
        """
        self._watch.look()  # what happened before this attempt is no reason for the next one
        events = fetch_events(self._worker, self._job, tick_seconds=self._limits.tick_seconds)
        async with aclosing(events):
            async for event in events:
                match event:
                    case Hello():
                        self._begin()
                    case FilesProgress(files=files):
                        yield self._note(files)
                    case ReposFetched(files=files_of_repos):
                        self.files = files_of_repos
                        return
                    case Tick(read_bytes=read_bytes):
                        yield self._tick(read_bytes)
                    case _:
                        pass
                self._break_off_if_useless()

    @property
    def _quiet_seconds(self) -> float:
        return time.monotonic() - self._heard_at

    def _begin(self) -> None:
        started_after = time.monotonic() - self._heard_at
        self._has_begun = True
        self._heard_at += started_after
        self._rate_from += started_after

    def _note(self, files: tuple[FileState, ...]) -> AttemptNews:
        for file in files:
            self._progress.note(
                file.repo, file.path, file.done_bytes, is_verified=file.is_verified
            )
        if files:
            self._heard_at = time.monotonic()
        return AttemptNews(self._state(), self._measured_rate())

    def _tick(self, read_bytes: int) -> AttemptNews:
        """Nothing arrived: fewer bytes a second, and words when it lasts."""
        if read_bytes - self._read_bytes >= _READING_BYTES:
            self._heard_at = time.monotonic()
        self._read_bytes = read_bytes
        rate, quiet = self._measured_rate(), self._quiet_seconds
        is_early = not self._has_begun or quiet < self._limits.quiet_seconds
        if is_early or self._progress.is_all_here:
            return AttemptNews(self._state(), rate)
        notice = (
            f"Nothing has arrived for {quiet:.0f} s. A new attempt follows after "
            f"{self._limits.stall_seconds:g} s."
        )
        return AttemptNews(TransferState.STALLED, rate, notice)

    def _state(self) -> TransferState:
        is_here = self._progress.is_all_here
        return TransferState.CHECKING if is_here else TransferState.RUNNING

    def _measured_rate(self) -> float | None:
        if time.monotonic() < self._rate_from:
            return None
        return self._rate.add(self._progress.done_bytes, time.monotonic())

    def _break_off_if_useless(self) -> None:
        change = self._watch.look()
        quiet = self._quiet_seconds
        if change is MachineChange.WOKE:
            raise FetchFailedError(WOKE, "the machine slept")
        if change is MachineChange.NETWORK and quiet >= self._limits.quiet_seconds:
            raise FetchFailedError(NEW_NETWORK, "the network has changed")
        limits = self._limits
        longest = limits.stall_seconds if self._has_begun else limits.start_seconds
        if quiet >= longest + limits.frozen_seconds:
            raise FetchFailedError(STALLED, "nothing arrived")
