"""The life of one transfer: plan, fetch with as many attempts as it takes, install."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.retry_policy import STALLED, FaultKind, fault_kind, wait_seconds
from dflash_desktop.domain.transfer import Transfer, TransferState
from dflash_desktop.domain.transfer_progress import TransferProgress
from dflash_desktop.services import transfer_problems as problems
from dflash_desktop.services.fetch_process import FetchFailedError
from dflash_desktop.services.transfer_attempt import (
    NEW_NETWORK,
    WOKE,
    AttemptNews,
    TransferAttempt,
)
from dflash_desktop.services.transfer_room import prepare_folder
from dflash_desktop.workers.fetch_messages import FetchRepos

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.transfer_store import StoredTransfer
    from dflash_desktop.services.transfer_world import TransferWorld

_log = logging.getLogger(__name__)

_STALLS_WITH_XET: Final = 2
"""The attempt after the second stall is plain HTTP."""


class TransferRun:
    """Runs one transfer until it is installed; cancelling its task ends every process of it.

    `show` is called with every change, `keep` with what must survive the program.
    """

    def __init__(
        self,
        stored: StoredTransfer,
        *,
        folder: Path,
        world: TransferWorld,
        show: Callable[[Transfer], None],
        keep: Callable[[StoredTransfer], None],
    ) -> None:
        self._stored = stored
        self._folder = folder
        self._world = world
        self._show = show
        self._keep = keep
        self._watch = world.make_watch()
        self._progress = TransferProgress(stored.missing_plans)
        self._attempt = 1
        self._failures = 0
        self._stalls = 0
        self._has_planned_anew = False
        self._notice = ""

    async def run(self) -> None:
        """Returns when all is installed.

        Raises `AppError` when a person must do something; its code is "disk_full" when the
        transfer can simply go on after there is room.
        """
        while True:
            try:
                if not self._stored.plans:
                    await self._plan()
                if self._stored.missing_plans and not self._stored.fetched:
                    await self._fetch()
                await self._install()
            except FetchFailedError as error:
                await self._after(error)
            else:
                return

    async def _plan(self) -> None:
        self._publish(TransferState.PLANNING)
        plan = await self._world.plan(self._stored.request, self._folder)
        self._remember(replace(self._stored, plans=plan.repos))
        self._progress = TransferProgress(plan.repos)

    async def _fetch(self) -> None:
        plans = self._stored.missing_plans
        for plan in plans:
            await self._world.installing.bring_back(self._folder, plan)
        is_begun = await asyncio.to_thread(prepare_folder, self._folder, plans)
        self._publish(TransferState.RUNNING)
        hub = self._world.hub
        job = FetchRepos(
            job=1,
            plans=plans,
            access=await hub.access(),
            incoming_dir=self._folder,
            cache_dirs=hub.cache_dirs(),
            use_xet=self._may_use_xet,
            max_bytes_per_second=hub.max_bytes_per_second,
            stall_seconds=self._world.limits.stall_seconds,
        )
        attempt = TransferAttempt(
            worker=self._world.launcher.fetch(),
            job=job,
            progress=self._progress,
            limits=self._world.limits,
            watch=self._watch,
            is_resumed=is_begun or self._stored.done_bytes > 0 or self._progress.done_bytes > 0,
        )
        began_bytes = self._progress.done_bytes
        async with aclosing(attempt.news()) as all_news:
            async for news in all_news:
                if self._progress.done_bytes > began_bytes:
                    self._failures, self._notice = 0, ""
                self._publish(news.state, news)
        self._progress.note_all()
        self._remember(replace(self._stored, fetched=attempt.files))

    async def _install(self) -> None:
        """One repository after the other; what is in place is kept in mind at once."""
        self._notice = "Putting it into the library."
        self._publish(TransferState.CHECKING)
        endpoint = (await self._world.hub.access()).endpoint
        while self._stored.missing_plans:
            plan, files = self._stored.missing_plans[0], self._stored.fetched[0]
            try:
                await self._world.installing.install(self._folder, plan, files, endpoint=endpoint)
            except AppError:
                # Perhaps something changed the files since: then every byte is looked at again.
                self._remember(replace(self._stored, fetched=()))
                raise
            self._remember(
                replace(
                    self._stored,
                    installed=(*self._stored.installed, plan.repo_id),
                    fetched=self._stored.fetched[1:],
                )
            )

    # --- after a failure ---------------------------------------------------------------------

    async def _after(self, error: FetchFailedError) -> None:
        """Wait for the next attempt, or raise `AppError` if only a person can help."""
        _log.info("attempt %d of a download ended: %s", self._attempt, error.code)
        self._attempt += 1
        if error.code in (WOKE, NEW_NETWORK):
            self._failures, self._notice = 0, ""
            return
        match fault_kind(error.code):
            case FaultKind.DISK_FULL:
                raise AppError(self._disk_full(error)) from error
            case FaultKind.COMMIT_GONE if self._stored.plans and not self._has_planned_anew:
                self._has_planned_anew = True
                self._notice = "The hub no longer has the version that was planned: planning anew."
                self._remember(replace(self._stored, plans=(), fetched=()))
            case FaultKind.TRANSIENT:
                await self._wait_after(error)
            case _:
                raise AppError(self._world.explain(error)) from error

    async def _wait_after(self, error: FetchFailedError) -> None:
        is_stall = error.code == STALLED
        if is_stall:
            # A new connection, and then another way of transfer, cure most of them at once.
            used_xet = self._may_use_xet
            self._stalls += 1
            is_other_way = used_xet and not self._may_use_xet
            if self._stalls == 1 or is_other_way:
                way = " in the plain way, without Xet" if is_other_way else ""
                self._notice = f"Nothing arrived any more: a new attempt{way}."
                return
        limits = self._world.limits
        problem = (
            problems.stalled(limits.stall_seconds) if is_stall else self._world.explain(error)
        )
        self._failures += 1
        is_patient = error.code == "offline" and limits.waits_for_network
        if self._failures >= limits.give_up_after and not is_patient:
            raise AppError(problem) from error
        asked = error.facts.get("retry_after_seconds")
        seconds = wait_seconds(
            self._failures,
            jitter=random.random(),  # noqa: S311 - spreads load, guards nothing
            asked_seconds=None if asked is None else float(asked),
        )
        await self._wait(seconds * limits.wait_factor, problem.headline)

    async def _wait(self, seconds: float, reason: str) -> None:
        """Let time pass; a machine that wakes up or gets a network ends the wait."""
        self._watch.look()
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._notice = f"{reason} Next attempt in {max(1, round(left))} s."
            self._publish(TransferState.STALLED)
            await asyncio.sleep(min(left, self._world.limits.tick_seconds))
            if self._watch.look() is not None:
                break
        self._notice = ""

    def _disk_full(self, error: FetchFailedError) -> Problem:
        return problems.disk_full(
            self._folder,
            needed_bytes=error.facts.get("needed_bytes"),
            free_bytes=error.facts.get("free_bytes"),
            detail=str(error),
        )

    @property
    def _may_use_xet(self) -> bool:
        return self._world.hub.use_xet and self._stalls < _STALLS_WITH_XET

    # --- telling -----------------------------------------------------------------------------

    def _remember(self, stored: StoredTransfer) -> None:
        self._stored = stored
        self._keep(self._stored)

    def _publish(self, state: TransferState, news: AttemptNews | None = None) -> None:
        progress = self._progress
        # Until a process has looked, what an earlier one had is the better guess.
        done_bytes = progress.done_bytes or min(self._stored.done_bytes, progress.total_bytes)
        rate = news.bytes_per_second if news else None
        missing = progress.total_bytes - done_bytes
        self._show(
            Transfer(
                request=self._stored.request,
                state=state,
                done_bytes=done_bytes,
                total_bytes=progress.total_bytes if self._stored.plans else None,
                bytes_per_second=rate,
                seconds_left=missing / rate if rate else None,
                files=progress.files,
                attempt=self._attempt,
                notice=(news.notice if news else "") or self._notice,
            )
        )
