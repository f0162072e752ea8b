"""Downloads with everything around them made up, except processes, files and time."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.transfer import RepoRequest, TransferRequest, TransferState, request_id
from dflash_desktop.paths import AppPaths
from dflash_desktop.services.downloads import Downloads
from dflash_desktop.services.machine_watch import MachineChange, MachineWatch
from dflash_desktop.services.transfer_attempt import TransferLimits
from dflash_desktop.services.transfer_world import TransferWorld
from dflash_desktop.workers.fetch_messages import FetchRepos, HubAccess

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from dflash_desktop.domain.library import ModelFile
    from dflash_desktop.domain.transfer import RepoPlan, Transfer
    from dflash_desktop.services.fetch_process import FetchFailedError
    from dflash_desktop.services.keep_awake import KeepAwake
    from dflash_desktop.services.worker_launch import WorkerLauncher
    from tests.fakes.fetch_script import ScriptedFetch

QUICK = TransferLimits(
    tick_seconds=0.02,
    stall_seconds=0.4,
    frozen_seconds=0.0,
    quiet_seconds=0.1,
    wait_factor=0.005,
)
PATIENCE_SECONDS = 20.0


class PlainReach:
    """A hub without a token."""

    def __init__(self, access: HubAccess | None = None) -> None:
        self._access = access or HubAccess()
        self.max_bytes_per_second: int | None = None
        self.use_xet = False

    async def access(self) -> HubAccess:
        return self._access

    def cache_dirs(self) -> tuple[Path, ...]:
        return ()


class ShelfInstalling:
    """A library that is a folder; `refuses` makes the next installation fail."""

    def __init__(self, shelf: Path) -> None:
        self.shelf = shelf
        self.installed: list[str] = []
        self.brought_back: list[str] = []
        self.refuses: list[Problem] = []

    def known(self, plan: RepoPlan) -> RepoPlan:
        return plan

    async def bring_back(self, incoming: Path, plan: RepoPlan) -> None:
        self.brought_back.append(plan.repo_id)

    async def install(
        self, incoming: Path, plan: RepoPlan, files: tuple[ModelFile, ...], *, endpoint: str
    ) -> None:
        name = plan.repo_id.replace("/", "--")
        if self.refuses and self.refuses[0].detail == plan.repo_id:
            raise AppError(self.refuses.pop(0))
        if (incoming / name).exists():
            self.shelf.mkdir(parents=True, exist_ok=True)
            shutil.move(incoming / name, self.shelf / name)
        self.installed.append(plan.repo_id)


class HandWatch(MachineWatch):
    """A machine that changes when the test says so."""

    def __init__(self) -> None:
        super().__init__(addresses=frozenset)
        self.change: MachineChange | None = None

    def look(self) -> MachineChange | None:
        change, self.change = self.change, None
        return change


def explain(error: FetchFailedError) -> Problem:
    """Words that name the code."""
    return Problem(code=error.code, headline=f"It failed: {error.code}.", advice="Try again.")


def wish(*repos: str, title: str = "Tiny", patterns: tuple[str, ...] = ()) -> TransferRequest:
    """A request for these repositories."""
    requests = tuple(RepoRequest(repo, patterns=patterns) for repo in repos or ("team/tiny",))
    return TransferRequest(request_id(requests), title, requests)


class DownloadWorld:
    """Makes one `Downloads` after the other on the same disk, as restarts do."""

    def __init__(self, folder: Path, launcher: WorkerLauncher) -> None:
        self.paths = AppPaths(
            folder / "config", folder / "data", folder / "cache", folder / "logs"
        )
        self.installing = ShelfInstalling(folder / "shelf")
        self.reach = PlainReach()
        self.watch = HandWatch()
        self.launcher = launcher
        self.limits = QUICK

    def downloads(self, *, keep_awake: KeepAwake | None = None) -> Downloads:
        """As at a start of the program."""
        world = TransferWorld(
            launcher=self.launcher,
            hub=self.reach,
            installing=self.installing,
            explain=explain,
            make_watch=lambda: self.watch,
            limits=self.limits,
        )
        return Downloads(paths=self.paths, world=world, keep_awake=keep_awake)


async def until(
    downloads: Downloads,
    is_so: Callable[[Transfer], bool],
    *,
    transfer_id: str = "",
    patience_seconds: float = PATIENCE_SECONDS,
) -> Transfer:
    """The transfer (the first unless named) once it is as wanted; fails after a while."""
    news = asyncio.Event()
    unsubscribe = downloads.subscribe(news.set)
    try:
        async with asyncio.timeout(patience_seconds):
            while True:
                news.clear()
                for transfer in downloads.transfers():
                    if transfer_id in ("", transfer.id):
                        if is_so(transfer):
                            return transfer
                        break
                await news.wait()
    except TimeoutError:
        raise AssertionError(f"never came true; at the end: {downloads.transfers()}") from None
    finally:
        unsubscribe()


async def until_state(
    downloads: Downloads, state: TransferState, *, transfer_id: str = ""
) -> Transfer:
    """The transfer once it is in this state."""
    return await until(downloads, lambda t: t.state is state, transfer_id=transfer_id)


@asynccontextmanager
async def running(world: DownloadWorld) -> AsyncIterator[Downloads]:
    """Downloads of this world that run their queue, closed at the end."""
    downloads = world.downloads()
    downloads.begin()
    try:
        yield downloads
    finally:
        await downloads.close()


def fetch_job(fetch: ScriptedFetch, number: int) -> FetchRepos:
    """What a process was told to fetch."""
    job = fetch.job(number)
    assert isinstance(job, FetchRepos)
    return job
