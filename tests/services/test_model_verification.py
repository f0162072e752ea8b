from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.library import FileDifference, ModelCondition, WorkProgress
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.file_hashing import hash_files
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.model_verification import bad_paths
from tests.fakes.library_world import COMMIT, FILES, app_paths, arrive

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.library import InstalledModel

NAME = "owner/name"
BIN = "openvino_model.bin"


@pytest.fixture
def library(tmp_path: Path) -> ModelLibrary:
    return ModelLibrary(paths=app_paths(tmp_path))


@pytest.fixture
async def model(library: ModelLibrary, tmp_path: Path) -> InstalledModel:
    arrived = arrive(app_paths(tmp_path).incoming_dir / "x")
    return await library.install(
        arrived.folder, repo_id=NAME, commit=COMMIT, endpoint="https://h", files=arrived.files
    )


async def test_a_whole_model_is_verified_and_the_day_is_kept(
    library: ModelLibrary, model: InstalledModel, tmp_path: Path
) -> None:
    seen: list[WorkProgress] = []
    report = await library.verify(NAME, seen.append)
    total = sum(map(len, FILES.values()))

    assert report.is_whole
    assert (report.checked_files, report.checked_bytes) == (len(FILES), total)
    assert seen[-1] == WorkProgress(total, total)
    again = ModelLibrary(paths=app_paths(tmp_path)).known(NAME)
    assert again.condition is ModelCondition.VERIFIED
    assert again.manifest.verified_at == report.at > model.manifest.installed_at


async def test_every_kind_of_difference_is_told_apart_and_remembered(
    library: ModelLibrary, model: InstalledModel, tmp_path: Path
) -> None:
    data = bytearray(FILES[BIN])
    data[300] ^= 1
    (model.path / BIN).write_bytes(data)
    (model.path / "config.json").write_bytes(b"{")
    (model.path / "openvino_model.xml").unlink()
    (model.path / "mine.txt").write_text("mine")

    report = await library.verify(NAME)
    assert report.differences == (
        FileDifference("config.json", "size"),
        FileDifference(BIN, "bytes"),
        FileDifference("openvino_model.xml", "missing"),
        FileDifference("mine.txt", "extra"),
    )
    assert bad_paths(report) == ("config.json", BIN, "openvino_model.xml")
    arrive(model.path, {name: FILES[name] for name in ("config.json", "openvino_model.xml")})
    again = ModelLibrary(paths=app_paths(tmp_path)).known(NAME)
    assert again.condition is ModelCondition.DAMAGED  # its weights still are

    arrive(model.path)
    assert (await library.verify(NAME)).is_whole  # with a file that is there in addition
    assert library.known(NAME).condition is ModelCondition.VERIFIED


@pytest.mark.skipif(sys.platform == "win32", reason="made by POSIX means")
async def test_a_link_is_no_file_of_ours_and_a_pipe_is_never_read(
    library: ModelLibrary, model: InstalledModel, tmp_path: Path
) -> None:
    (model.path / BIN).rename(tmp_path / "weights")
    (model.path / BIN).symlink_to(tmp_path / "weights")
    (model.path / "config.json").unlink()
    os.mkfifo(model.path / "config.json")
    report = await asyncio.wait_for(library.verify(NAME), timeout=10)
    assert [(one.path, one.kind) for one in report.differences] == [
        ("config.json", "missing"),
        (BIN, "missing"),
    ]


async def test_a_file_that_cannot_be_read_is_unreadable_not_wrong(
    library: ModelLibrary, model: InstalledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dflash_desktop.services import file_hashing

    original = file_hashing.hash_file

    def failing(path: Path, counter: file_hashing.WorkCounter) -> str:
        if path.name == BIN:
            raise OSError(5, "Input/output error")
        return original(path, counter)

    monkeypatch.setattr(file_hashing, "hash_file", failing)
    report = await library.verify(NAME)
    assert report.differences == (FileDifference(BIN, "unreadable"),)


async def test_cancelling_ends_the_threads_at_once(tmp_path: Path) -> None:
    size = 400 << 20
    with (tmp_path / "large").open("wb") as file:
        file.truncate(size)
    started = asyncio.Event()
    job = asyncio.create_task(
        hash_files(
            {"large": tmp_path / "large"},
            total_bytes=size,
            on_progress=lambda progress: started.set() if progress.done_bytes else None,
        )
    )
    await started.wait()
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(job, timeout=1)


async def test_many_files_are_hashed_as_hashlib_does(tmp_path: Path) -> None:
    files = {str(n): tmp_path / str(n) for n in range(20)}
    for name, path in files.items():
        path.write_bytes(name.encode() * 100_000)
    found = await hash_files(files, total_bytes=1)
    assert found == {n: hashlib.sha256(n.encode() * 100_000).hexdigest() for n in files}


async def test_a_model_that_is_removed_while_it_is_verified_stays_removed(
    library: ModelLibrary, model: InstalledModel
) -> None:
    removal: list[asyncio.Task[None]] = []

    def remove(_: WorkProgress) -> None:
        removal.append(asyncio.create_task(library.remove(NAME)))

    await library.verify(NAME, remove)
    await asyncio.wait(removal)
    await library.refresh()
    assert library.models() == ()
    assert not model.path.exists()


async def test_an_id_that_nobody_has_is_said(library: ModelLibrary) -> None:
    with pytest.raises(AppError) as raised:
        await library.verify("no/such")
    assert raised.value.problem.code == "model_unknown"
