"""Downloads with real processes that follow a script: what goes on by itself, and what is said."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.services.folder_removal import remove_folder
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.machine_watch import MachineChange
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.transfer_store import TransferStore
from dflash_desktop.workers.fetch_messages import FetchRepos
from tests.fakes.download_world import DownloadWorld, until, until_state, wish
from tests.fakes.fetch_script import (
    COMMIT,
    Arrive,
    Deliver,
    Die,
    Fail,
    Plan,
    ScriptedFetch,
    Stall,
    Wait,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.services.downloads import Downloads


@pytest.fixture
def fetch(tmp_path: Path) -> ScriptedFetch:
    return ScriptedFetch(tmp_path / "fetch")


@pytest.fixture
def world(tmp_path: Path, fetch: ScriptedFetch) -> DownloadWorld:
    return DownloadWorld(tmp_path, fetch)


@asynccontextmanager
async def running(world: DownloadWorld) -> AsyncIterator[Downloads]:
    downloads = world.downloads()
    downloads.begin()
    try:
        yield downloads
    finally:
        await downloads.close()


def fetch_job(fetch: ScriptedFetch, number: int) -> FetchRepos:
    job = fetch.job(number)
    assert isinstance(job, FetchRepos)
    return job


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


async def test_a_silent_hub_gets_a_new_attempt_and_then_one_without_xet(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    world.reach.use_xet = True
    fetch.then((Plan(),), (Arrive(100), Stall()), (Arrive(100), Stall()), (Deliver(),))
    notices: set[str] = set()
    async with running(world) as downloads:
        downloads.subscribe(lambda: notices.update(t.notice for t in downloads.transfers()))
        downloads.add(wish())
        await until_state(downloads, TransferState.STALLED)
        await until_state(downloads, TransferState.DONE)
    assert [fetch_job(fetch, n).use_xet for n in (2, 3, 4)] == [True, True, False]
    assert any("without Xet" in notice for notice in notices)
    assert any(notice.startswith("Nothing has arrived for") for notice in notices)


async def test_a_person_who_did_not_ask_for_xet_gets_plain_http_and_waits_between_stalls(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(100), Stall()), (Arrive(100), Stall()), (Deliver(),))
    notices: set[str] = set()
    async with running(world) as downloads:
        downloads.subscribe(lambda: notices.update(t.notice for t in downloads.transfers()))
        downloads.add(wish())
        await until_state(downloads, TransferState.DONE)
    assert [fetch_job(fetch, n).use_xet for n in (2, 3, 4)] == [False] * 3
    assert not any("Xet" in notice for notice in notices)
    assert any("Next attempt in" in notice for notice in notices)


@pytest.mark.parametrize("fault", [Fail("connection_lost"), Fail("server_error"), Die()])
async def test_what_may_pass_is_tried_again_after_a_wait_that_is_told(
    world: DownloadWorld, fetch: ScriptedFetch, fault: Fail | Die
) -> None:
    fetch.then((Plan(),), (fault,), (Arrive(10), Deliver()))
    notices: set[str] = set()
    async with running(world) as downloads:
        downloads.subscribe(lambda: notices.update(t.notice for t in downloads.transfers()))
        downloads.add(wish())
        done = await until_state(downloads, TransferState.DONE)
    assert done.attempt == 2
    assert any("Next attempt in" in notice for notice in notices)


async def test_the_hub_says_how_long_to_wait(world: DownloadWorld, fetch: ScriptedFetch) -> None:
    world.limits = replace(world.limits, wait_factor=0.02)  # else 0.04 s
    fetch.then((Plan(),), (Fail("rate_limited", {"retry_after_seconds": 100}),), (Deliver(),))
    notices: set[str] = set()
    async with running(world) as downloads:
        downloads.subscribe(lambda: notices.update(t.notice for t in downloads.transfers()))
        downloads.add(wish())
        await until_state(downloads, TransferState.DONE)
    assert any(notice.endswith("Next attempt in 2 s.") for notice in notices), notices


async def test_it_gives_up_in_words_and_goes_on_when_a_person_says_so(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    world.limits = replace(world.limits, give_up_after=2)
    fetch.then((Plan(),), (Fail("hub_unreachable"),), (Fail("hub_unreachable"),), (Deliver(),))
    async with running(world) as downloads:
        downloads.add(wish())
        failed = await until_state(downloads, TransferState.FAILED)
        assert failed.problem is not None
        assert failed.problem.code == "hub_unreachable"
        downloads.resume(wish().id)
        done = await until_state(downloads, TransferState.DONE)
    assert done.problem is None


async def test_without_a_network_a_window_waits_for_as_long_as_it_takes(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    world.limits = replace(world.limits, give_up_after=2)
    fetch.then((Plan(),), *[(Fail("offline"),)] * 4, (Deliver(),))
    async with running(world) as downloads:
        downloads.add(wish())
        done = await until_state(downloads, TransferState.DONE)
    assert done.attempt == 5


async def test_a_hub_that_never_answers_to_a_plan_is_not_waited_for_without_end(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    world.limits = replace(world.limits, plan_seconds=0.5)
    fetch.then((Stall(),))
    with pytest.raises(AppError, match="timeout"):
        await world.downloads().plan(wish())


async def test_what_was_here_before_does_not_look_like_a_fast_network(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Arrive(300), Stall()), (Arrive(1), Arrive(300), Deliver()))
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 300)
    rates: set[float | None] = set()
    async with running(world) as downloads:
        downloads.subscribe(
            lambda: rates.update(t.bytes_per_second for t in downloads.transfers())
        )
        await until_state(downloads, TransferState.DONE)
    assert rates == {None}


async def test_what_will_not_pass_fails_at_once_and_the_next_one_runs(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Fail("gated_no_token"),), (Plan(),), (Deliver(),))
    first, second = wish("a/gated"), wish("b/open")
    async with running(world) as downloads:
        downloads.add(first)
        downloads.add(second)
        await until_state(downloads, TransferState.DONE, transfer_id=second.id)
        failed = await until_state(downloads, TransferState.FAILED, transfer_id=first.id)
    assert failed.problem is not None
    assert fetch.starts == 3
    failed_again = world.downloads().transfers()[0]  # a restart does not forget why
    assert failed_again.state is TransferState.FAILED
    assert failed_again.problem == failed.problem


async def test_a_version_that_the_hub_no_longer_has_is_planned_anew(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(),), (Fail("revision_gone"),), (Plan(commit="b" * 40),), (Deliver(),))
    notices: set[str] = set()
    async with running(world) as downloads:
        downloads.subscribe(lambda: notices.update(t.notice for t in downloads.transfers()))
        downloads.add(wish())
        await until_state(downloads, TransferState.DONE)
    assert fetch_job(fetch, 4).plans[0].commit == "b" * 40
    assert any("no longer has the version" in notice for notice in notices)


async def test_a_full_disk_pauses_and_resume_goes_on(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    full = Fail("disk_full", {"needed_bytes": 400, "free_bytes": 100})
    fetch.then((Plan(),), (Arrive(600), full), (Arrive(600), Deliver()))
    async with running(world) as downloads:
        downloads.add(wish())
        paused = await until_state(downloads, TransferState.PAUSED)
        assert paused.problem is not None
        assert paused.problem.code == "disk_full"
        assert "make room for 300 bytes more" in paused.problem.advice
        downloads.resume(wish().id)
        await until_state(downloads, TransferState.DONE)


async def test_what_cannot_fit_is_refused_before_the_first_byte(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    fetch.then((Plan(size_bytes=10**15),))
    async with running(world) as downloads:
        downloads.add(wish())
        paused = await until_state(downloads, TransferState.PAUSED)
    assert paused.problem is not None
    assert "1.00 PB" in paused.problem.advice or "1000 TB" in paused.problem.advice
    assert fetch.starts == 1


async def test_a_machine_that_slept_tries_at_once(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    world.limits = replace(world.limits, stall_seconds=60, wait_factor=1000)
    fetch.then((Plan(),), (Arrive(1), Stall()), (Fail("offline"),), (Deliver(),))
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 1)
        world.watch.change = MachineChange.WOKE  # while it runs: the connection is dead
        await until(downloads, lambda t: "Next attempt" in t.notice)
        world.watch.change = MachineChange.NETWORK  # while it waits
        await until_state(downloads, TransferState.DONE)


async def test_a_new_network_does_not_disturb_what_still_arrives(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    world.limits = replace(world.limits, quiet_seconds=30)
    fetch.then((Plan(),), (Arrive(1), Wait(0.3), Deliver()))
    async with running(world) as downloads:
        downloads.add(wish())
        await until(downloads, lambda t: t.done_bytes == 1)
        world.watch.change = MachineChange.NETWORK
        await until_state(downloads, TransferState.DONE)
    assert fetch.starts == 2


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
