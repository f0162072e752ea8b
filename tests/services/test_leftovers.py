from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.library import Leftover, LeftoverKind
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.transfer import RepoRequest, TransferRequest
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.transfer_store import StoredTransfer, TransferStore
from tests.fakes.ir_models import write_target
from tests.fakes.library_world import COMMIT, app_paths, arrive, many_models
from tests.services.test_model_removal import snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.paths import AppPaths


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    paths = app_paths(tmp_path / "home")
    many_models(paths, 2)
    return paths


@pytest.fixture
def upkeep(paths: AppPaths) -> LibraryUpkeep:
    return LibraryUpkeep(paths=paths, library=ModelLibrary(paths=paths))


async def test_a_library_in_order_has_none(paths: AppPaths, upkeep: LibraryUpkeep) -> None:
    arrive(paths.models_dir / "starter", {"openvino_model.xml": b""})
    (paths.incoming_dir / "of another version").mkdir(parents=True)
    assert await upkeep.leftovers() == ()


async def test_folders_of_open_transfers_are_none_and_forgotten_ones_are(
    paths: AppPaths, upkeep: LibraryUpkeep
) -> None:
    known = StoredTransfer(TransferRequest("a", "A", (RepoRequest("o/n"),)))
    TransferStore(paths.downloads_file).save((known,))
    transfers = paths.incoming_dir / "transfers"
    arrive(transfers / known.folder_name, {"half": b"12345"})
    arrive(transfers / "forgotten", {"deep/half": b"1234567"})

    (found,) = await upkeep.leftovers()
    assert found == Leftover(transfers / "forgotten", LeftoverKind.TRANSFER, 7)
    await upkeep.remove_leftover(found)
    assert await upkeep.leftovers() == ()
    arrive(transfers / "c0ffee", {"o--n": b"1", "team--my--model": b"2", "more": b""})
    (named,) = await upkeep.leftovers()
    assert named.title == "o/n, team/my--model"
    await upkeep.remove_leftover(named)
    assert (transfers / known.folder_name / "half").exists()
    with pytest.raises(AppError):
        await upkeep.remove_leftover(found)

    paths.downloads_file.write_text("{")  # now nobody can tell which are open
    arrive(transfers / "forgotten", {"half": b""})
    assert await upkeep.leftovers() == ()


@pytest.mark.parametrize("name", ["starter", "repairs", "gguf-x8a_"])
async def test_what_is_being_worked_on_is_none(
    paths: AppPaths, upkeep: LibraryUpkeep, name: str
) -> None:
    arrive(paths.incoming_dir / name, {"half": b"12"})
    files = {"starter": paths.starter_lock_file, "repairs": paths.repair_lock_file}
    lock = InstallLock(files.get(name, paths.import_lock_file))
    assert lock.acquire()
    assert await upkeep.leftovers() == ()
    lock.release()
    (found,) = await upkeep.leftovers()
    await upkeep.remove_leftover(found)
    assert not (paths.incoming_dir / name).exists()


async def test_removals_that_were_cut_off_and_replaced_folders_are_found(
    paths: AppPaths, upkeep: LibraryUpkeep
) -> None:
    (paths.models_dir / "model-0").rename(paths.models_dir / ".removing-123456")
    library = ModelLibrary(paths=paths, in_use=lambda: (paths.models_dir / "model-1",))
    arrived = arrive(paths.incoming_dir / "x")
    new = await library.install(
        arrived.folder, repo_id="owner/model-1", commit=COMMIT, endpoint="", files=arrived.files
    )
    kinds = {one.path.name: one.kind for one in await upkeep.leftovers()}
    assert kinds == {
        ".removing-123456": LeftoverKind.REMOVED,
        "model-1": LeftoverKind.REPLACED,
    }
    for one in await upkeep.leftovers():
        await upkeep.remove_leftover(one)
    assert [path for path in paths.models_dir.iterdir()] == [new.path]  # noqa: C416


async def test_what_may_be_a_persons_own_is_told_apart_and_can_be_added(
    paths: AppPaths, upkeep: LibraryUpkeep
) -> None:
    write_target(paths.models_dir / "by hand")
    arrive(paths.models_dir / "photos", {"a.jpg": b"123"})
    (paths.models_dir / "note.txt").write_text("12")
    found = {one.path.name: one for one in await upkeep.leftovers()}
    assert {one.kind for one in found.values()} == {LeftoverKind.UNKNOWN}
    assert {name for name, one in found.items() if one.looks_like_model} == {"by hand"}
    assert (found["photos"].size_bytes, found["note.txt"].size_bytes) == (3, 2)

    library = ModelLibrary(paths=paths)
    await library.add_folder(paths.models_dir / "by hand")
    assert {one.path.name for one in await upkeep.leftovers()} == {"photos", "note.txt"}
    await library.remove("by hand")
    assert (paths.models_dir / "by hand" / "openvino_model.xml").exists()


async def test_leftovers_with_links_or_in_use_are_refused_and_nothing_changes(
    paths: AppPaths, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    arrive(outside, {"precious.txt": b"precious"})
    arrive(paths.models_dir / "linked", {"a.bin": b"1"})
    (paths.models_dir / "linked" / "out").symlink_to(outside, target_is_directory=True)
    (paths.models_dir / "link").symlink_to(outside, target_is_directory=True)
    used = write_target(paths.models_dir / "used").folder
    library = ModelLibrary(paths=paths, in_use=lambda: (used,))
    upkeep = LibraryUpkeep(paths=paths, library=library)
    invented = Leftover(outside, LeftoverKind.UNKNOWN, 8)
    found = await upkeep.leftovers()
    assert {one.path.name for one in found} == {"linked", "link", "used"}
    before = snapshot(tmp_path)
    for leftover in (*found, invented):
        with pytest.raises(AppError) as raised:
            await upkeep.remove_leftover(leftover)
        assert raised.value.problem.code == "removal_refused"
    after = snapshot(tmp_path)
    assert {**after, "home/data/library.lock": b""} == {**before, "home/data/library.lock": b""}


async def test_what_nobody_knows_is_left_alone_for_a_day(
    paths: AppPaths, upkeep: LibraryUpkeep
) -> None:
    folder = arrive(paths.incoming_dir / "unknown", {"x": b"1"}).folder
    assert await upkeep.leftovers() == ()
    long_ago = time.time() - 2 * 24 * 3600
    os.utime(folder, (long_ago, long_ago))
    assert [one.kind for one in await upkeep.leftovers()] == [LeftoverKind.UNKNOWN]


async def test_the_compile_cache_has_a_size_and_can_be_cleared(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path
) -> None:
    empty = await upkeep.compile_cache()
    assert (empty.file_count, empty.size_bytes) == (0, 0)
    assert (await upkeep.clear_compile_cache()).size_bytes == 0

    outside = arrive(tmp_path / "outside", {"mine": b"mine"}).folder
    arrive(paths.compile_cache_dir, {"a.blob": b"12345", "deep/b.blob": b"12"})
    (paths.compile_cache_dir / "link").symlink_to(outside, target_is_directory=True)
    assert (await upkeep.compile_cache()).size_bytes >= 7
    left = await upkeep.clear_compile_cache()
    assert left.file_count == 1  # the link
    assert (outside / "mine").exists()


async def test_a_compile_cache_that_is_a_link_is_not_cleared(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path
) -> None:
    outside = arrive(tmp_path / "outside", {"mine": b"mine"}).folder
    paths.cache_dir.mkdir(parents=True)
    paths.compile_cache_dir.symlink_to(outside, target_is_directory=True)
    assert (await upkeep.compile_cache()).size_bytes == 0
    with pytest.raises(AppError):
        await upkeep.clear_compile_cache()
    assert (outside / "mine").exists()
