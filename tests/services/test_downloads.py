"""Downloads with real processes that follow a script: what goes on by itself, and what is said."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.services.folder_removal import remove_folder
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.transfer_store import TransferStore
from tests.fakes.download_world import (
    DownloadWorld,
    fetch_job,
    running,
    until,
    until_state,
    wish,
)
from tests.fakes.fetch_script import (
    COMMIT,
    Arrive,
    Deliver,
    Plan,
    ScriptedFetch,
    Stall,
    Wait,
)

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.transfer import Transfer


@pytest.fixture
def fetch(tmp_path: Path) -> ScriptedFetch:
    return ScriptedFetch(tmp_path / "fetch")


@pytest.fixture
def world(tmp_path: Path, fetch: ScriptedFetch) -> DownloadWorld:
    return DownloadWorld(tmp_path, fetch)


async def test_a_transfer_is_planned_fetched_and_installed(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(size_bytes=1000),), (Arrive(400), Arrive(1000), Deliver()))
    seen: list[Transfer] = []
    async with running(world) as downloads:
        downloads.subscribe(lambda: seen.extend(downloads.transfers()))
        downloads.add(wish("team/target", "team/draft"))
        done = await until_state(downloads, TransferState.DONE)
    assert world.installing.installed == ["team/target", "team/draft"]
    assert done.total_bytes == done.done_bytes == 2000
    states = list(dict.fromkeys(t.state for t in seen))
    assert states == [
        TransferState.WAITING,
        TransferState.PLANNING,
        TransferState.RUNNING,
        TransferState.CHECKING,
        TransferState.DONE,
    ]
    (file, _) = next(t for t in seen if t.done_bytes == 400).files
    assert (file.path, file.done_bytes, file.total_bytes) == ("weights.bin", 400, 1000)
    assert not any(world.paths.incoming_dir.joinpath("transfers").iterdir())


async def test_one_runs_at_a_time_in_an_order_that_can_be_changed(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Wait(0.3), Deliver()), (Plan(),), (Deliver(),), (Plan(),), (Deliver(),))
    first, second, third = wish("a/1"), wish("b/2"), wish("c/3")
    async with running(world) as downloads:
        for request in (first, second, third):
            downloads.add(request)
        await until_state(downloads, TransferState.RUNNING, transfer_id=first.id)
        downloads.move(third.id, 0)
        assert [t.id for t in downloads.transfers()] == [third.id, first.id, second.id]
        assert downloads.transfers()[0].state is TransferState.WAITING
        await until_state(downloads, TransferState.DONE, transfer_id=second.id)
    assert world.installing.installed == ["a/1", "c/3", "b/2"]


async def test_the_plan_that_was_shown_is_the_one_that_is_fetched(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(commit="b" * 40),), (Deliver(),))
    async with running(world) as downloads:
        plan = await downloads.plan(wish())
        assert plan.total_bytes == 1000
        downloads.add(wish())
        await until_state(downloads, TransferState.DONE)
    assert fetch_job(fetch, 2).plans[0].commit == "b" * 40


async def test_after_a_restart_it_goes_on_by_itself_with_the_same_commit(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(300), Stall()), (Arrive(300), Deliver()))
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 300)
    async with running(world) as downloads:
        assert downloads.transfers()[0].total_bytes == 1000
        await until_state(downloads, TransferState.DONE)
    assert fetch_job(fetch, 3).plans[0].commit == COMMIT
    assert fetch_job(fetch, 2).incoming_dir == fetch_job(fetch, 3).incoming_dir


async def test_a_paused_one_stays_paused_over_a_restart_and_shows_how_far_it_was(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(300), Stall()), (Deliver(),))
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 300)
        downloads.pause(wish().id)
        assert downloads.transfers()[0].state is TransferState.PAUSED
    async with running(world) as downloads:
        (paused,) = downloads.transfers()
        assert (paused.state, paused.done_bytes) == (TransferState.PAUSED, 300)
        await asyncio.sleep(0.1)
        assert fetch.starts == 2
        downloads.resume(wish().id)
        await until_state(downloads, TransferState.DONE)


async def test_removing_ends_the_process_and_deletes_what_arrived_only_if_told(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(1), Stall()), (Plan(),), (Arrive(1), Stall()))
    transfers = world.paths.incoming_dir / "transfers"
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 1)
        (folder,) = transfers.iterdir()
        downloads.remove(wish().id, keep_files=True)
        assert downloads.transfers() == ()
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 1)
        assert list(transfers.iterdir()) == [folder]
        downloads.remove(wish().id, keep_files=False)
    assert list(transfers.iterdir()) == []  # after the process is gone
    assert world.downloads().transfers() == ()


async def test_the_same_wish_again_is_one_transfer_and_other_files_are_another(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(1), Stall()))
    other = wish(patterns=("*.xml",))
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 1)
        downloads.add(wish())
        downloads.add(other)
        assert [t.request for t in downloads.transfers()] == [wish(), other]
        assert fetch.starts == 2


async def test_other_files_under_the_same_id_take_the_place_of_the_first(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(1), Stall()), (Plan(),), (Deliver(),))
    changed = replace(wish(patterns=("*.xml",)), id=wish().id)
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 1)
        downloads.add(changed)
        done = await until_state(downloads, TransferState.DONE)
    assert done.request == changed
    assert len(downloads.transfers()) == 1


async def test_what_was_installed_before_a_failure_is_not_installed_again(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Deliver(),), (Deliver(),))
    world.installing.refuses.append(
        Problem("model_incomplete", "A file is gone.", "", detail="b/2")
    )
    async with running(world) as downloads:
        downloads.add(wish("a/1", "b/2"))
        await until_state(downloads, TransferState.FAILED)
    async with running(world) as downloads:
        downloads.resume(wish("a/1", "b/2").id)
        await until_state(downloads, TransferState.DONE)
    assert world.installing.installed == ["a/1", "b/2"]
    assert [plan.repo_id for plan in fetch_job(fetch, 3).plans] == ["b/2"]


async def test_a_second_process_waits_until_the_first_has_ended(
    world: DownloadWorld, fetch: ScriptedFetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dflash_desktop.services.downloads._OWNER_LOOK_SECONDS", 0.05)
    fetch.then((Plan(),), (Arrive(1), Stall()), (Arrive(2), Deliver()), (Plan(),), (Deliver(),))
    async with running(world) as first:
        first.add(wish("a/1"))
        await until(first, lambda t: t.done_bytes == 1)
        second = world.downloads()
        second.add(wish("b/2"))
        assert not second.is_ours
        assert [t.state for t in second.transfers()] == [TransferState.WAITING] * 2
        assert "Another window" in second.transfers()[1].notice
        with pytest.raises(AppError, match="downloads_busy"):
            second.pause(wish("a/1").id)
    await until_state(second, TransferState.DONE, transfer_id=wish("b/2").id)
    await second.close()
    assert world.installing.installed == ["a/1", "b/2"]


async def test_with_nothing_to_do_it_leaves_the_queue_to_others_and_takes_it_back(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Deliver(),), (Plan(),), (Arrive(5), Stall()), (Plan(),), (Deliver(),))
    async with running(world) as window:
        window.add(wish("a/1"))
        await until_state(window, TransferState.DONE)
        async with running(world) as command:
            command.add(wish("b/2"))
            await until(command, lambda t: t.done_bytes == 5)
            command.pause(wish("b/2").id)
        window.add(wish("c/3"))
        ids = [wish(name).id for name in ("a/1", "b/2", "c/3")]
        assert [t.id for t in window.transfers()] == ids
        assert window.transfers()[1].state is TransferState.PAUSED
        await until_state(window, TransferState.DONE, transfer_id=ids[2])
        assert [t.state for t in window.transfers()] == [
            TransferState.DONE,
            TransferState.PAUSED,
            TransferState.DONE,
        ]


async def test_what_is_wanted_again_at_once_is_not_deleted_with_the_first(
    world: DownloadWorld, fetch: ScriptedFetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go = asyncio.Event()

    async def slowly(folder: Path) -> None:
        await may_go.wait()
        await remove_folder(folder)

    monkeypatch.setattr("dflash_desktop.services.folder_removal.remove_folder", slowly)
    fetch.then((Plan(),), (Arrive(1), Stall()), (Plan(),), (Deliver(),))
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 1)
        downloads.remove(wish().id, keep_files=False)
        downloads.add(wish())
        await asyncio.sleep(0.3)
        assert fetch.starts == 2
        may_go.set()
        await until_state(downloads, TransferState.DONE)
    assert world.installing.shelf.joinpath("team--tiny", "weights.bin").exists()


@pytest.mark.expects_log("the queue of downloads is damaged")
async def test_a_damaged_queue_is_kept_aside(world: DownloadWorld) -> None:
    world.paths.data_dir.mkdir(parents=True)
    (world.paths.data_dir / "downloads.json").write_text('{"version": 2}')
    assert world.downloads().transfers() == ()
    assert (world.paths.data_dir / "downloads.json.damaged").exists()


@pytest.mark.expects_log("the queue of downloads cannot be read")
def test_a_queue_that_could_not_be_read_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "downloads.json"
    file.write_text('{"version": 1, "transfers": []}')

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "another program holds it")

    store = TransferStore(file)
    with monkeypatch.context() as patched:
        patched.setattr(type(file), "read_bytes", refuse)
        assert store.load() == ()
    store.save(())
    store.save(())
    assert file.with_name("downloads.json.damaged").exists()
    assert not file.with_name("downloads.json.damaged-2").exists()


async def test_closing_while_one_runs_ends_in_time(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(1), Stall()))
    downloads = world.downloads()
    downloads.add(wish())
    await until(downloads, lambda t: t.done_bytes == 1)
    async with asyncio.timeout(2):
        await downloads.close()
    kept = json.loads((world.paths.data_dir / "downloads.json").read_bytes())
    assert kept["transfers"][0]["is_paused"] is False


@pytest.mark.skipif(sys.platform == "win32", reason="a program of Linux")
async def test_the_machine_is_kept_awake_only_while_something_runs(
    world: DownloadWorld, fetch: ScriptedFetch, tmp_path: Path
) -> None:
    from dflash_desktop.services.keep_awake import KeepAwake

    inhibitor = tmp_path / "inhibit"
    asked, ended = tmp_path / "asked", tmp_path / "ended"
    inhibitor.write_text(f'#!/bin/sh\necho "$@" > {asked}\ncat\necho > {ended}\n')
    inhibitor.chmod(0o755)
    fetch.then((Plan(),), (Arrive(1), Wait(0.2), Deliver()))
    downloads = world.downloads(keep_awake=KeepAwake(str(inhibitor)))
    downloads.add(wish())
    await until_state(downloads, TransferState.DONE)
    assert "--what=sleep:idle" in asked.read_text()
    await downloads.close()
    assert ended.exists()


async def test_while_they_are_held_nothing_runs_and_then_it_goes_on_in_the_new_place(
    world: DownloadWorld, fetch: ScriptedFetch, tmp_path: Path
) -> None:
    fetch.then((Plan(),), (Arrive(300), Stall()), (Arrive(300), Deliver()))
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 300)
        models = ModelLibrary(paths=world.paths)
        upkeep = LibraryUpkeep(paths=world.paths, library=models)
        with pytest.raises(AppError):
            await upkeep.move(tmp_path / "new")
        async with downloads.held():
            assert downloads.transfers()[0].state is TransferState.WAITING
            await upkeep.move(tmp_path / "new", downloads_are_held=True)
        await until_state(downloads, TransferState.DONE)
    assert fetch_job(fetch, 3).incoming_dir.is_relative_to(tmp_path / "new")


async def test_what_was_paused_right_before_they_are_held_stays_paused(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(300), Stall()))
    async with running(world) as downloads:
        downloads.add(wish())
        shown = await until(downloads, lambda t: t.done_bytes == 300)
        downloads.pause(shown.id)
        async with downloads.held():
            assert downloads.transfers()[0].state is TransferState.PAUSED
        assert downloads.transfers()[0].state is TransferState.PAUSED


async def test_a_download_waits_for_the_disk_of_the_library(
    world: DownloadWorld, fetch: ScriptedFetch, tmp_path: Path
) -> None:
    fetch.then((Plan(),), (Deliver(),))
    disk = tmp_path / "disk"
    world.paths.data_dir.mkdir(parents=True, exist_ok=True)
    world.paths.library_place_file.write_text(json.dumps({"library_dir": str(disk)}))
    async with running(world) as downloads:
        downloads.add(wish())
        failed = await until_state(downloads, TransferState.FAILED)
        assert failed.problem is not None
        assert failed.problem.code == "library_absent"
        assert not disk.exists()
        disk.mkdir()
        downloads.resume(failed.id)
        await until_state(downloads, TransferState.DONE)
