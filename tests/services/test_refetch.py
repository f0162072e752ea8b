"""Repairing a model with the real fetch process, against the fake hub."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.library import ModelCondition, ModelFile, WorkProgress
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.hub_problems import hub_problem
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.refetch import ModelRefetch
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import HubAccess
from tests.fakes.fake_hub import COMMIT, FakeHub, serve, small_repo
from tests.fakes.ir_models import write_target
from tests.fakes.library_world import app_paths, arrive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.paths import AppPaths

REPO_ID = "team/tiny-model"
BIN = "openvino_model.bin"


class Reach:
    """The way to the fake hub."""

    max_bytes_per_second = None
    use_xet = False

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint

    async def access(self) -> HubAccess:
        return HubAccess(endpoint=self._endpoint)

    def cache_dirs(self) -> tuple[Path, ...]:
        return ()


@pytest.fixture
def hub() -> Iterator[FakeHub]:
    with serve(FakeHub([small_repo(REPO_ID)])) as running:
        yield running


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths(tmp_path)


@pytest.fixture
def library(paths: AppPaths) -> ModelLibrary:
    return ModelLibrary(paths=paths)


@pytest.fixture
async def model(library: ModelLibrary, paths: AppPaths, hub: FakeHub) -> InstalledModel:
    files = {file.path: file.content for file in hub.repos[0].files}
    arrived = arrive(paths.incoming_dir / "x", files)
    return await library.install(
        arrived.folder, repo_id=REPO_ID, commit=COMMIT, endpoint=hub.url, files=arrived.files
    )


def refetch(paths: AppPaths, library: ModelLibrary, endpoint: str) -> ModelRefetch:
    return ModelRefetch(
        paths=paths,
        launcher=WorkerLauncher(log_dir=paths.log_dir),
        library=library,
        hub=Reach(endpoint),
        explain=hub_problem,
    )


async def test_only_what_is_bad_is_fetched_and_then_every_byte_is_right(
    paths: AppPaths, library: ModelLibrary, model: InstalledModel, hub: FakeHub
) -> None:
    whole = {model.path / f.path: (model.path / f.path).read_bytes() for f in model.manifest.files}
    data = bytearray((model.path / BIN).read_bytes())
    data[1000] ^= 1
    (model.path / BIN).write_bytes(data)
    (model.path / "config.json").unlink()
    (model.path / "mine.txt").write_text("mine")
    untouched = (model.path / "openvino_model.xml").stat()
    seen: list[WorkProgress] = []

    report = await library.verify(REPO_ID)
    repaired = await refetch(paths, library, hub.url).repair(report, seen.append)

    assert set(repaired.paths) == {BIN, "config.json"}
    assert repaired.report.is_whole
    assert library.known(REPO_ID).condition is ModelCondition.VERIFIED
    assert (await library.verify(REPO_ID)).is_whole
    assert all(
        path.read_bytes() == data for path, data in whole.items() if ".dflash" not in path.parts
    )
    assert (model.path / "mine.txt").read_text() == "mine"
    assert (model.path / "openvino_model.xml").stat().st_ino == untouched.st_ino
    assert seen[-1].done_bytes == seen[-1].total_bytes
    assert not hub.bodies("openvino_model.xml")
    assert hub.sent_bytes(BIN) == len(data)
    assert not (paths.incoming_dir / "repairs").exists()


async def test_a_file_that_was_changed_by_a_repair_of_metadata_becomes_the_hubs_again(
    paths: AppPaths, library: ModelLibrary, model: InstalledModel, hub: FakeHub
) -> None:
    """The manifest then knows the changed file, which no hub has."""
    from dflash_desktop.services.model_manifest import read_record, record_dir, write_record

    record = read_record(record_dir(model.path))
    assert record is not None
    changed = ModelFile("config.json", 3, hashlib.sha256(b"{ }").hexdigest())
    files = tuple(changed if f.path == changed.path else f for f in record.manifest.files)
    write_record(
        record_dir(model.path), replace(record, manifest=replace(record.manifest, files=files))
    )
    (model.path / "config.json").write_bytes(b"{x}")
    await library.refresh()
    report = await library.verify(REPO_ID)
    assert not report.is_whole
    await refetch(paths, library, hub.url).repair(report)
    assert (await library.verify(REPO_ID)).is_whole
    assert library.known(REPO_ID).manifest.files == model.manifest.files


async def test_a_link_is_replaced_by_the_file_and_what_it_led_to_stays(
    paths: AppPaths, library: ModelLibrary, model: InstalledModel, hub: FakeHub, tmp_path: Path
) -> None:
    precious = tmp_path / "precious.json"
    precious.write_text("precious")
    (model.path / "config.json").unlink()
    (model.path / "config.json").symlink_to(precious)
    report = await library.verify(REPO_ID)
    await refetch(paths, library, hub.url).repair(report)
    assert not (model.path / "config.json").is_symlink()
    assert precious.read_text() == "precious"


async def test_without_a_network_the_model_stays_as_it_is_and_the_reason_is_said(
    paths: AppPaths, library: ModelLibrary, model: InstalledModel
) -> None:
    (model.path / BIN).write_bytes(b"cut")
    report = await library.verify(REPO_ID)
    with pytest.raises(AppError):
        await refetch(paths, library, "http://127.0.0.1:9").repair(report)
    assert (model.path / BIN).read_bytes() == b"cut"
    assert library.known(REPO_ID).condition is ModelCondition.DAMAGED


async def test_what_cannot_be_repaired_is_said_before_anything_is_fetched(
    paths: AppPaths, library: ModelLibrary, model: InstalledModel, hub: FakeHub, tmp_path: Path
) -> None:
    added = write_target(tmp_path / "mine")
    await library.add_folder(added.folder)
    await library.verify("mine")
    added.cut("openvino_model.bin")
    (model.path / BIN).write_bytes(b"cut")
    mine, ours = await library.verify("mine"), await library.verify(REPO_ID)
    seen = len(hub.seen)

    with pytest.raises(AppError) as raised:
        await refetch(paths, library, hub.url).repair(mine)
    assert raised.value.problem.code == "not_repairable"

    loaded = ModelLibrary(paths=paths, in_use=lambda: (model.path,))
    with pytest.raises(AppError) as raised:
        await refetch(paths, loaded, hub.url).repair(ours)
    assert raised.value.problem.code == "model_in_use"

    lock = InstallLock(paths.repair_lock_file)
    assert lock.acquire()
    with pytest.raises(AppError) as raised:
        await refetch(paths, library, hub.url).repair(ours)
    lock.release()
    assert raised.value.problem.code == "repair_busy"
    assert len(hub.seen) == seen
