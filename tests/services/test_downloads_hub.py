"""Downloads with the real fetch process, a hub on this machine, and the real library."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest

from dflash_desktop.domain.library import ModelCondition
from dflash_desktop.domain.transfer import RepoRequest, TransferRequest, TransferState, request_id
from dflash_desktop.paths import AppPaths
from dflash_desktop.services.downloads import Downloads, open_downloads
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.transfer_attempt import TransferLimits
from dflash_desktop.services.transfer_store import StoredTransfer, TransferStore
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import HubAccess
from tests.fakes.download_world import PlainReach, until, until_state
from tests.fakes.fake_hub import GOOD_TOKEN, FakeHub, HubFile, HubRepo, Refusal, serve, small_repo
from tests.fakes.small_disk import needs_small_disk, small_disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUICK = TransferLimits(tick_seconds=0.1, stall_seconds=1.5, quiet_seconds=0.5, wait_factor=0.05)
BIN = "openvino_model.bin"


class HubWorld:
    """One installation and a hub that it uses."""

    def __init__(self, folder: Path, hub: FakeHub) -> None:
        self.paths = AppPaths(
            folder / "config", folder / "data", folder / "cache", folder / "logs"
        )
        self.hub = hub
        self.library = ModelLibrary(paths=self.paths)
        self.reach = PlainReach(HubAccess(endpoint=hub.url))
        self.limits = QUICK

    def downloads(self) -> Downloads:
        """As at a start of the program."""
        return open_downloads(
            paths=self.paths,
            launcher=WorkerLauncher(log_dir=self.paths.log_dir),
            models=self.library,
            hub=self.reach,
            limits=self.limits,
        )

    def assert_installed(self, repo: HubRepo) -> None:
        """Every byte of the repository is in the library, and nothing is left on the way."""
        asyncio.get_running_loop()
        model = self.library.find(repo.repo_id)
        assert model is not None
        assert model.condition is ModelCondition.VERIFIED
        for file in repo.files:
            assert (model.path / file.path).read_bytes() == file.content, file.path
        assert not list((self.paths.incoming_dir / "transfers").iterdir())


def wish(*repos: HubRepo, patterns: tuple[str, ...] = ()) -> TransferRequest:
    requests = tuple(RepoRequest(repo.repo_id, patterns=patterns) for repo in repos)
    return TransferRequest(request_id(requests), "A model", requests)


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def sizes_below(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in files_below(folder)}


@pytest.fixture(autouse=True)
def _hub_may_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[HubWorld]:
    hub = FakeHub([small_repo("team/target"), small_repo("team/draft", weights_bytes=1_000_000)])
    with serve(hub):
        yield HubWorld(tmp_path, hub)


async def test_target_and_draft_arrive_as_one_transfer(world: HubWorld) -> None:
    target, draft = world.hub.repos
    downloads = world.downloads()
    downloads.add(wish(target, draft))
    done = await until_state(downloads, TransferState.DONE)
    await downloads.close()
    assert (
        done.done_bytes
        == done.total_bytes
        == sum(len(file.content) for repo in (target, draft) for file in repo.files)
    )
    assert all(file.is_verified for file in done.files)
    world.assert_installed(target)
    world.assert_installed(draft)


async def test_other_files_of_an_installed_model_come_to_the_first(world: HubWorld) -> None:
    target = world.hub.repos[0]
    downloads = world.downloads()
    for patterns in (("*.xml",), ("*.bin", "*.json", "assets/*")):
        request = wish(target, patterns=patterns)
        downloads.add(request)
        await until_state(downloads, TransferState.DONE, transfer_id=request.id)
    await downloads.close()
    world.assert_installed(target)
    assert len(world.hub.bodies("openvino_model.xml")) == 1


async def test_a_new_version_fetches_only_what_changed(world: HubWorld) -> None:
    target = world.hub.repos[0]
    downloads = world.downloads()
    downloads.add(wish(target))
    await until_state(downloads, TransferState.DONE)
    target.commit = "b" * 40
    target.files[0] = HubFile("config.json", b'{"model_type": "newer"}')
    plan = await downloads.plan(wish(target))
    assert plan.missing_bytes <= plan.total_bytes - len(target.file(BIN).content)  # it is known
    downloads.add(wish(target))
    await until_state(downloads, TransferState.DONE)
    await downloads.close()
    world.assert_installed(target)
    assert world.hub.sent_bytes(BIN) == len(target.file(BIN).content)


async def test_pausing_stops_the_growth_within_a_second_and_resume_fetches_the_rest_only(
    world: HubWorld,
) -> None:
    target = world.hub.repos[0]
    target.file(BIN).bytes_per_second = 2_000_000
    downloads = world.downloads()
    downloads.add(wish(target))
    await until(downloads, lambda t: t.done_bytes > 500_000)
    downloads.pause(wish(target).id)
    await asyncio.sleep(1.0)
    at_rest = sizes_below(world.paths.incoming_dir)
    await asyncio.sleep(0.5)
    assert sizes_below(world.paths.incoming_dir) == at_rest
    assert sum(at_rest.values()) > 500_000  # nothing that arrived is lost
    target.file(BIN).bytes_per_second = None
    downloads.resume(wish(target).id)
    await until_state(downloads, TransferState.DONE)
    await downloads.close()
    world.assert_installed(target)
    starts = [body.range_start or 0 for body in world.hub.bodies(BIN)]
    assert min(starts) == 0
    assert max(starts) >= 500_000


async def test_a_hub_that_falls_silent_is_tried_again_from_where_it_was(world: HubWorld) -> None:
    target = world.hub.repos[0]
    target.file(BIN).stall_at, target.file(BIN).times = 1_200_000, 1
    downloads = world.downloads()
    downloads.add(wish(target))
    await until_state(downloads, TransferState.STALLED)
    done = await until_state(downloads, TransferState.DONE)
    await downloads.close()
    assert done.attempt >= 2
    world.assert_installed(target)


async def test_a_gated_model_says_what_to_do_and_goes_on_with_a_token(world: HubWorld) -> None:
    target = world.hub.repos[0]
    target.gated = "auto"
    downloads = world.downloads()
    downloads.add(wish(target))
    failed = await until_state(downloads, TransferState.FAILED)
    assert failed.problem is not None
    assert failed.problem.code == "gated_no_token"
    world.reach._access = HubAccess(endpoint=world.hub.url, token=GOOD_TOKEN)
    downloads.resume(failed.id)
    await until_state(downloads, TransferState.DONE)
    await downloads.close()
    world.assert_installed(target)


async def test_the_token_is_nowhere_that_anybody_could_read_it(
    world: HubWorld, tmp_path: Path
) -> None:
    token = "hf_" + "S3cr3t" * 5
    target = world.hub.repos[0]
    target.gated, target.accepted_tokens = "auto", [token]
    world.hub.valid_tokens.append(token)
    target.file(BIN).bytes_per_second = 3_000_000
    world.reach._access = HubAccess(endpoint=world.hub.url, token=token)
    downloads = world.downloads()
    downloads.add(wish(target))
    await until(downloads, lambda t: t.done_bytes > 100_000)
    started = psutil.Process().children(recursive=True)
    children = [child for child in started if child.status() != psutil.STATUS_ZOMBIE]
    assert any("dflash_desktop.workers.fetch" in child.cmdline() for child in children)
    for child in children:
        assert token not in " ".join((*child.cmdline(), *child.environ().values()))
    await until_state(downloads, TransferState.DONE)
    target.accepted_tokens.clear()
    target.commit = "b" * 40
    downloads.add(wish(target))
    failed = await until_state(downloads, TransferState.FAILED)
    await downloads.close()
    assert token not in repr(failed)
    assert token not in repr(world.reach._access)
    written = files_below(tmp_path)
    assert any(path.name == "fetch.log" for path in written)
    assert any(path.name == "downloads.json" for path in written)
    for path in written:
        assert token.encode() not in path.read_bytes(), path


async def test_a_limit_holds(world: HubWorld) -> None:
    target = world.hub.repos[0]
    world.reach.max_bytes_per_second = 1_500_000
    downloads = world.downloads()
    downloads.add(wish(target))
    await until_state(downloads, TransferState.RUNNING)
    started = asyncio.get_running_loop().time()
    await until_state(downloads, TransferState.DONE)
    await downloads.close()
    assert asyncio.get_running_loop().time() - started > 1.5  # 3 MB


@needs_small_disk
async def test_a_disk_that_fills_up_pauses_and_goes_on_after_room_was_made(
    world: HubWorld, tmp_path: Path
) -> None:
    target = world.hub.repos[0]
    size = 6_000_000
    target.files.append(HubFile("more.bin", random_bytes=size, bytes_per_second=3_000_000))
    with small_disk(tmp_path / "disk", "28M") as disk:
        world.paths = replace(world.paths, data_dir=disk)
        world.library = ModelLibrary(paths=world.paths)
        downloads = world.downloads()
        downloads.add(wish(target))
        await until(downloads, lambda t: t.done_bytes > 300_000)
        here = sum(sizes_below(disk).values())
        # Others write, too: it is full when 60 % of all are here.
        room = int(0.6 * (size + 3_000_000)) - here
        (disk / "ballast").write_bytes(bytes(shutil.disk_usage(disk).free - room))
        paused = await until_state(downloads, TransferState.PAUSED)
        assert paused.problem is not None
        assert paused.problem.code == "disk_full"
        assert "make room" in paused.problem.advice
        assert 0.5 < paused.done_bytes / (size + 3_000_000) < 0.7
        assert world.library.models() == ()
        (disk / "ballast").unlink()
        downloads.resume(paused.id)
        await until_state(downloads, TransferState.DONE)
        await downloads.close()
        world.assert_installed(target)
        starts = [body.range_start or 0 for body in world.hub.bodies("more.bin")]
        assert max(starts) > 0.3 * size


async def test_a_vanished_folder_is_fetched_again(world: HubWorld) -> None:
    target = world.hub.repos[0]
    target.file(BIN).bytes_per_second = 2_000_000
    downloads = world.downloads()
    downloads.add(wish(target))
    await until(downloads, lambda t: t.done_bytes > 500_000)
    downloads.pause(wish(target).id)
    await downloads.close()
    kept = json.loads((world.paths.data_dir / "downloads.json").read_bytes())
    files = [
        {"path": f.path, "size_bytes": len(f.content), "sha256": f.sha256} for f in target.files
    ]
    kept["transfers"][0]["fetched"] = [files]  # as if it had ended just before it was installed
    (world.paths.data_dir / "downloads.json").write_text(json.dumps(kept))
    target.file(BIN).bytes_per_second = None
    downloads = world.downloads()
    downloads.begin()
    downloads.resume(wish(target).id)
    failed = await until_state(downloads, TransferState.FAILED)
    assert failed.problem is not None
    assert failed.problem.code == "model_incomplete"
    downloads.resume(wish(target).id)
    await until_state(downloads, TransferState.DONE)
    await downloads.close()
    world.assert_installed(target)


async def test_what_was_moved_into_the_library_just_before_the_end_is_not_fetched_again(
    world: HubWorld,
) -> None:
    target = world.hub.repos[0]
    downloads = world.downloads()
    plan = await downloads.plan(wish(target))
    downloads.add(wish(target))
    await until_state(downloads, TransferState.DONE)
    await downloads.close()
    model = world.library.find(target.repo_id)
    assert model is not None
    kept = StoredTransfer(wish(target), plans=plan.repos, fetched=(model.manifest.files,))
    TransferStore(world.paths.downloads_file).save((kept,))  # as it was a moment before
    asked = len(world.hub.seen)
    downloads = world.downloads()
    downloads.begin()
    await until_state(downloads, TransferState.DONE)
    await downloads.close()
    assert len(world.hub.seen) == asked
    world.assert_installed(target)


async def test_too_many_requests_are_waited_for(world: HubWorld) -> None:
    target = world.hub.repos[0]
    target.file(BIN).refusal = Refusal(429, retry_after=2, times=1)
    notices: set[str] = set()
    downloads = world.downloads()
    downloads.subscribe(lambda: notices.update(t.notice for t in downloads.transfers()))
    downloads.add(wish(target))
    await until_state(downloads, TransferState.DONE)
    await downloads.close()
    assert any("asks for a pause" in notice for notice in notices), notices
    world.assert_installed(target)
