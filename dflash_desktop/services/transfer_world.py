"""What every transfer works with: processes, the way to the hub, the library, patience."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.problems import Problem
from dflash_desktop.services.fetch_process import FetchFailedError, fetch_events
from dflash_desktop.services.machine_watch import MachineWatch
from dflash_desktop.services.transfer_attempt import DEFAULT_LIMITS, TransferLimits
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import PlanRepos, ReposPlanned

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.library import ModelFile
    from dflash_desktop.domain.transfer import RepoPlan, TransferPlan, TransferRequest
    from dflash_desktop.workers.fetch_messages import HubAccess


class HubReach(Protocol):
    """What a transfer asks about the way to the hub."""

    async def access(self) -> HubAccess:
        """Address, token and proxy as they are set now."""

    def cache_dirs(self) -> tuple[Path, ...]:
        """The hub's own caches that may be read."""

    @property
    def use_xet(self) -> bool:
        """Whether the hub's newer storage may be used, which cannot continue a file."""

    @property
    def max_bytes_per_second(self) -> int | None:
        """How fast a download may be."""


class Installing(Protocol):
    """Where verified files go, and where some of them may already be."""

    def known(self, plan: RepoPlan) -> RepoPlan:
        """The plan, with what is installed already counted as present."""

    async def bring_back(self, incoming: Path, plan: RepoPlan) -> None:
        """Lay what is already installed of it into the incoming folder, to be verified there.

        Raises `OSError`.
        """

    async def install(
        self, incoming: Path, plan: RepoPlan, files: tuple[ModelFile, ...], *, endpoint: str
    ) -> None:
        """Put one repository in place; one that already is there is left alone.

        Raises `AppError`.
        """


@dataclass(frozen=True, slots=True)
class TransferWorld:
    """What every transfer works with; `explain` puts a failure into words."""

    launcher: WorkerLauncher
    hub: HubReach
    installing: Installing
    explain: Callable[[FetchFailedError], Problem]
    make_watch: Callable[[], MachineWatch]
    limits: TransferLimits = DEFAULT_LIMITS

    async def plan(self, request: TransferRequest, folder: Path) -> TransferPlan:
        """Ask the hub what a request would bring. Raises `FetchFailedError`."""
        job = PlanRepos(
            job=1,
            repos=request.repos,
            access=await self.hub.access(),
            incoming_dir=folder,
            cache_dirs=self.hub.cache_dirs(),
        )
        try:
            async with (
                asyncio.timeout(self.limits.plan_seconds),
                aclosing(fetch_events(self.launcher.fetch(), job)) as events,
            ):
                async for event in events:
                    if isinstance(event, ReposPlanned):
                        return self._with_installed(event.plan)
        except TimeoutError as error:  # a name server, for instance, that never answers
            raise FetchFailedError("timeout", "no plan came in time") from error
        raise FetchFailedError("worker_error", "no plan came")

    def _with_installed(self, plan: TransferPlan) -> TransferPlan:
        known = replace(plan, repos=tuple(self.installing.known(repo) for repo in plan.repos))
        found_bytes = plan.missing_bytes - known.missing_bytes
        return replace(known, needed_disk_bytes=max(0, plan.needed_disk_bytes - found_bytes))
