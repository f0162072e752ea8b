"""The real fetch process, with the real client, against the fake hub."""

from __future__ import annotations

import asyncio
import sys
import time
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.domain.transfer import RepoPlan, RepoRequest, incoming_folder_name
from dflash_desktop.services.fetch_process import FetchFailedError, fetch_events
from dflash_desktop.services.worker_channel import WorkerChannel
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import (
    FetchRepos,
    FilesProgress,
    HubAccess,
    PlanRepos,
    ReposFetched,
    ReposPlanned,
)
from dflash_desktop.workers.incoming_folder import BOOKKEEPING
from dflash_desktop.workers.protocol import Cancel, Failed, Hello
from tests.fakes.fake_hub import GOOD_TOKEN, FakeHub, HubFile, HubRepo, serve, small_repo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.services.worker_launch import WorkerCommand

REPO_ID = "team/tiny-model"


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    repo = small_repo(REPO_ID)
    repo.is_private = True
    with serve(FakeHub([repo])) as running:
        yield running


@pytest.fixture
def worker(hub: FakeHub, tmp_path: Path) -> WorkerCommand:
    return WorkerLauncher(log_dir=tmp_path / "logs").fetch()


async def plan(worker: WorkerCommand, access: HubAccess, folder: Path) -> tuple[RepoPlan, ...]:
    async with aclosing(
        fetch_events(worker, PlanRepos(1, (RepoRequest(REPO_ID),), access, folder))
    ) as events:
        async for event in events:
            if isinstance(event, ReposPlanned):
                return event.plan.repos
    raise AssertionError("no plan came")


async def fetch(worker: WorkerCommand, job: FetchRepos) -> ReposFetched:
    async with aclosing(fetch_events(worker, job)) as events:
        async for event in events:
            if isinstance(event, ReposFetched):
                return event
    raise AssertionError("no end came")


async def test_a_model_comes_through_the_real_process_and_the_token_stays_in_it(
    hub: FakeHub, worker: WorkerCommand, tmp_path: Path
) -> None:
    access = HubAccess(endpoint=hub.url, token=GOOD_TOKEN)
    plans = await plan(worker, access, tmp_path / "in")
    hub.repos[0].file("openvino_model.bin").bytes_per_second = 6_000_000
    channel = WorkerChannel(worker)
    try:
        channel.send(FetchRepos(1, plans, access, tmp_path / "in"))
        async with aclosing(channel.events()) as events:
            async for event in events:
                if isinstance(event, FilesProgress):
                    assert GOOD_TOKEN not in what_others_see_of(channel.pid)
                if isinstance(event, ReposFetched):
                    break
                assert isinstance(event, Hello | FilesProgress), event
    finally:
        channel.kill_tree()
        await asyncio.wait([channel.exited])
    assert_whole(hub, tmp_path / "in")
    assert not files_with(GOOD_TOKEN, tmp_path)
    # Nothing of the library's own is left behind: no cache, no login, no settings.
    assert not files_with("", Path.home())


async def test_after_a_kill_it_goes_on_behind_the_last_byte_on_the_disk(
    hub: FakeHub, worker: WorkerCommand, tmp_path: Path
) -> None:
    files = [
        HubFile(f"{n}.bin", random_bytes=8_000_000, seed=n, bytes_per_second=20_000_000)
        for n in range(3)
    ]
    hub.repos[0] = HubRepo(REPO_ID, files)
    access = HubAccess(endpoint=hub.url)
    plans = await plan(worker, access, tmp_path)
    folder = tmp_path / incoming_folder_name(REPO_ID)
    kept: set[int] = set()
    for _ in range(3):
        channel = WorkerChannel(worker)
        channel.send(FetchRepos(1, plans, access, tmp_path))
        before = parts_bytes(folder)
        deadline = time.monotonic() + 20
        while parts_bytes(folder) < before + 3_000_000:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
        psutil.Process(channel.pid).kill()
        await channel.exited
        channel.kill_tree()
        kept |= {size for size in part_sizes(folder) if 0 < size < 8_000_000}
    for file in files:
        file.bytes_per_second = None
    await fetch(worker, FetchRepos(1, plans, access, tmp_path))
    for file in files:
        assert (folder / file.path).read_bytes() == file.content
        starts = [seen.range_start or 0 for seen in hub.bodies(file.path)]
        assert starts == sorted(starts)
    continued = {seen.range_start for file in files for seen in hub.bodies(file.path)}
    assert kept <= continued, "nothing that was on the disk is fetched again"


async def test_cancelling_ends_the_growth_within_a_second(
    hub: FakeHub, worker: WorkerCommand, tmp_path: Path
) -> None:
    hub.repos[0].is_private = False
    hub.repos[0].file("openvino_model.bin").bytes_per_second = 500_000
    access = HubAccess(endpoint=hub.url)
    plans = await plan(worker, access, tmp_path)
    folder = tmp_path / incoming_folder_name(REPO_ID)
    channel = WorkerChannel(worker)
    try:
        channel.send(FetchRepos(1, plans, access, tmp_path))
        async with aclosing(channel.events()) as events:
            cancelled_at = 0.0
            async for event in events:
                if isinstance(event, FilesProgress) and not cancelled_at:
                    if parts_bytes(folder) < 100_000:
                        continue
                    channel.send(Cancel(1))
                    cancelled_at = time.monotonic()
                if isinstance(event, Failed):
                    assert event.code == "cancelled"
                    break
        assert time.monotonic() - cancelled_at < 1
        here = parts_bytes(folder)
        await asyncio.sleep(0.3)
        assert parts_bytes(folder) == here
    finally:
        channel.kill_tree()
        await asyncio.wait([channel.exited])


async def test_a_fault_comes_with_its_words(
    hub: FakeHub, worker: WorkerCommand, tmp_path: Path
) -> None:
    with pytest.raises(FetchFailedError) as caught:
        await plan(worker, HubAccess(endpoint=hub.url), tmp_path)
    assert caught.value.code == "not_found"
    assert caught.value.words == {
        "repo": REPO_ID,
        "host": "127.0.0.1",
        "page": f"{hub.url}/{REPO_ID}",
    }


async def test_the_process_leaves_a_login_of_the_hubs_own_tools_alone(
    hub: FakeHub, worker: WorkerCommand, tmp_path: Path
) -> None:
    login = Path.home() / ".cache" / "huggingface" / "token"
    login.parent.mkdir(parents=True)
    login.write_text(GOOD_TOKEN)
    with pytest.raises(FetchFailedError):
        await plan(worker, HubAccess(endpoint=hub.url), tmp_path)
    assert {seen.authorization for seen in hub.seen} == {""}


def parts_bytes(folder: Path) -> int:
    """What has been collected of files that are on their way."""
    return sum(part_sizes(folder))


def part_sizes(folder: Path) -> list[int]:
    """The sizes of files that are on their way."""
    return [part.stat().st_size for part in (folder / BOOKKEEPING).glob("*.part")]


def what_others_see_of(pid: int) -> str:
    """A process's command line and, where that is easy, what it was started with."""
    seen = " ".join(psutil.Process(pid).cmdline())
    if sys.platform == "linux":
        seen += Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
    return seen


def files_with(text: str, folder: Path) -> list[Path]:
    """All files below a folder that contain a text."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if text.encode() in path.read_bytes()]


def assert_whole(hub: FakeHub, incoming: Path) -> None:
    """The files of the hub, byte for byte."""
    for file in hub.repos[0].files:
        path = incoming / incoming_folder_name(REPO_ID) / file.path
        assert path.read_bytes() == file.content
