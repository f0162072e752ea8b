"""What may go wrong with a download: tried again by itself, or told in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.services.machine_watch import MachineChange
from tests.fakes.download_world import (
    DownloadWorld,
    fetch_job,
    running,
    until,
    until_state,
    wish,
)
from tests.fakes.fetch_script import (
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
    from pathlib import Path


@pytest.fixture
def fetch(tmp_path: Path) -> ScriptedFetch:
    return ScriptedFetch(tmp_path / "fetch")


@pytest.fixture
def world(tmp_path: Path, fetch: ScriptedFetch) -> DownloadWorld:
    return DownloadWorld(tmp_path, fetch)


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


async def test_what_waits_for_its_next_attempt_tries_at_once_when_a_person_says_so(
    world: DownloadWorld, fetch: ScriptedFetch
) -> None:
    world.limits = replace(world.limits, wait_factor=1000.0)
    fetch.then((Plan(),), (Arrive(100), Fail("offline")), (Deliver(),))
    async with running(world) as downloads:
        downloads.add(wish())
        stalled = await until_state(downloads, TransferState.STALLED)
        downloads.resume(stalled.id)
        await until_state(downloads, TransferState.DONE)
    assert fetch.starts == 3


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
