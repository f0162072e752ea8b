"""Moving the library, between two disks where this machine has two."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import time
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.library import LeftoverKind, WorkProgress
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.settings import AddedPair
from dflash_desktop.services import library_move
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.settings_store import SettingsStore
from tests.fakes.deadly_calls import run_script
from tests.fakes.library_world import COMMIT, FILES, app_paths, arrive, many_models
from tests.services.test_model_removal import snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.paths import AppPaths

COUNT = 5


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    paths = app_paths(tmp_path / "home")
    many_models(paths, COUNT)
    arrive(paths.models_dir / "starter", FILES)
    arrive(paths.incoming_dir / "transfers" / "half", {"part.incomplete": b"half"})
    arrive(paths.conversations_dir, {"talk.json": b"{}"})
    return paths


@pytest.fixture
def upkeep(paths: AppPaths) -> LibraryUpkeep:
    return LibraryUpkeep(paths=paths, library=ModelLibrary(paths=paths))


@contextmanager
def no_hard_links() -> Iterator[None]:
    """As between two disks."""

    def refuse(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "link", refuse)
        yield


def library(paths: AppPaths) -> dict[str, object]:
    """All that a library holds, wherever it is now."""
    return {part: snapshot(paths.library_dir / part) for part in ("models", "incoming")}


@pytest.mark.parametrize("is_other_disk", [False, True], ids=["same disk", "other disk"])
async def test_everything_is_in_the_new_place_and_nothing_in_the_old(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path, is_other_disk: bool
) -> None:
    before = library(paths)
    seen: list[WorkProgress] = []
    chosen = tmp_path / "other disk é"
    if is_other_disk:
        with no_hard_links():
            place = await upkeep.move(chosen, seen.append)
    else:
        place = await upkeep.move(chosen, seen.append)

    assert place == chosen == paths.library_dir
    assert library(paths) == before
    assert seen[-1].done_bytes == seen[-1].total_bytes > 0
    assert not (paths.data_dir / "models").exists()
    assert not (paths.data_dir / "incoming").exists()
    assert (paths.conversations_dir / "talk.json").exists()
    assert await upkeep.leftovers() == () or all(
        one.kind is not LeftoverKind.MOVED for one in await upkeep.leftovers()
    )
    fresh = ModelLibrary(paths=app_paths(tmp_path / "home"))  # as after a restart
    assert len(fresh.models()) == COUNT
    assert all(place in model.path.parents for model in fresh.models())

    await upkeep.move(paths.data_dir)
    assert paths.library_dir == paths.data_dir
    assert library(paths) == before
    assert not place.exists() or not any(place.iterdir())


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second file system")  # noqa: S108
async def test_between_two_real_file_systems(paths: AppPaths, upkeep: LibraryUpkeep) -> None:
    before = library(paths)
    chosen = Path("/dev/shm") / f"dflash-test-{os.getpid()}"  # noqa: S108
    if paths.data_dir.stat().st_dev == chosen.parent.stat().st_dev:
        pytest.skip("both are one file system")
    try:
        await upkeep.move(chosen)
        assert library(paths) == before
    finally:
        shutil.rmtree(chosen, ignore_errors=True)


async def test_pairs_of_folders_in_the_library_go_on_in_the_new_place(
    paths: AppPaths, tmp_path: Path
) -> None:
    settings = SettingsStore(tmp_path / "settings.json")
    elsewhere = tmp_path / "elsewhere"
    settings.change(
        added_pairs=(
            AddedPair("1", "Both", paths.models_dir / "model-0", paths.models_dir / "model-1"),
            AddedPair("2", "Not ours", elsewhere, None),
        )
    )
    upkeep = LibraryUpkeep(paths=paths, library=ModelLibrary(paths=paths), settings=settings)
    await upkeep.move(tmp_path / "new")
    both, not_ours = settings.value.added_pairs
    assert (both.target_dir, both.draft_dir) == (
        paths.models_dir / "model-0",
        paths.models_dir / "model-1",
    )
    assert both.target_dir.is_dir()
    assert (not_ours.target_dir, not_ours.draft_dir) == (elsewhere, None)


async def test_an_empty_library_moves_too(tmp_path: Path) -> None:
    paths = app_paths(tmp_path / "home")
    library = ModelLibrary(paths=paths)
    await LibraryUpkeep(paths=paths, library=library).move(tmp_path / "new")
    assert library.absence() is None
    arrived = arrive(paths.incoming_dir / "in")
    model = await library.install(
        arrived.folder, repo_id="o/n", commit=COMMIT, endpoint="", files=arrived.files
    )
    assert model.path.is_relative_to(tmp_path / "new")


async def test_a_place_with_other_things_gets_a_folder_of_ours(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path
) -> None:
    chosen = tmp_path / "disk"
    arrive(chosen, {"photos/a.jpg": b"x"})
    assert await upkeep.move(chosen) == chosen / "DFlash"
    assert (chosen / "photos" / "a.jpg").exists()


@pytest.mark.parametrize("call", ["fsync", "link", "copied bytes"])
async def test_any_failure_leaves_the_library_where_it_was_and_nothing_elsewhere(
    paths: AppPaths,
    upkeep: LibraryUpkeep,
    tmp_path: Path,
    call: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = snapshot(paths.data_dir)
    originals = {"fsync": os.fsync, "link": os.link}
    count = 0

    def failing(*arguments: object) -> None:
        nonlocal count
        count += 1
        if count == 20:
            raise OSError(28, "No space left on device")
        originals[call](*arguments)  # type: ignore[operator]

    if call == "copied bytes":
        monkeypatch.setattr(library_move, "hash_file", lambda *_: "another hash")
    else:
        monkeypatch.setattr(os, call, failing)
    disks = nullcontext() if call == "link" else no_hard_links()
    with disks, pytest.raises(AppError) as raised:
        await upkeep.move(tmp_path / "new" / "place")
    expected = "move_failed" if call == "copied bytes" else "disk_full"
    assert raised.value.problem.code == expected
    after = snapshot(paths.data_dir)
    after.pop("library.lock")
    assert after == before
    assert not (tmp_path / "new").exists()


async def test_cancelling_rolls_back(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path
) -> None:
    with (paths.models_dir / "model-0" / "large").open("wb") as file:
        file.truncate(600 << 20)
    before = snapshot(paths.models_dir / "model-1")
    began = asyncio.Event()
    with no_hard_links():
        job = asyncio.create_task(
            upkeep.move(tmp_path / "new", lambda p: began.set() if p.done_bytes else None)
        )
        await began.wait()
        job.cancel()
        with pytest.raises(asyncio.CancelledError):
            await job
    assert paths.library_dir == paths.data_dir
    assert snapshot(paths.models_dir / "model-1") == before
    assert not (tmp_path / "new").exists()
    assert not paths.library_journal_file.exists()


KILLED = """
    import asyncio, os, sys
    from pathlib import Path
    from dflash_desktop.services import library_move
    from dflash_desktop.services.library_upkeep import LibraryUpkeep
    from dflash_desktop.services.model_library import ModelLibrary
    from tests.fakes.deadly_calls import DeadlyCalls
    from tests.fakes.library_world import app_paths

    def refuse(*_):
        raise OSError(18, "Invalid cross-device link")

    library_move.os.link = refuse
    calls = DeadlyCalls(die_at=int(sys.argv[3]))
    calls.watch(os, "fsync")
    calls.watch(Path, "unlink", "rmdir", "replace", "mkdir")
    paths = app_paths(Path(sys.argv[1]))
    upkeep = LibraryUpkeep(paths=paths, library=ModelLibrary(paths=paths))
    asyncio.run(upkeep.move(Path(sys.argv[2])))
    print(calls.count)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills by a POSIX signal")
def test_after_a_kill_at_any_step_the_library_is_whole_in_one_place(tmp_path: Path) -> None:
    """At 12 moments spread over all calls that change the disk; then the leftovers go."""

    def world(name: str) -> tuple[AppPaths, Path, dict[str, object]]:
        paths = app_paths(tmp_path / name / "home")
        many_models(paths, 2)
        return paths, tmp_path / name / "place", library(paths)

    paths, place, _ = world("counted")
    total = int(run_script(KILLED, paths.data_dir.parent, place, 0).stdout)
    assert total > 60
    places = set()
    for number in range(12):
        paths, place, before = world(str(number))
        die_at = 1 + number * (total - 1) // 11
        ended = run_script(KILLED, paths.data_dir.parent, place, die_at)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert library(paths) == before
        places.add(paths.library_dir == place)
        assert len(ModelLibrary(paths=paths).models()) == 2
        asyncio.run(_clean(paths))
        assert library(paths) == before
        stale = place if paths.library_dir == paths.data_dir else paths.data_dir
        assert not (stale / "models").exists()
        assert not place.exists() or paths.library_dir == place
    assert places == {True, False}  # some died before and some after the change


async def _clean(paths: AppPaths) -> None:
    upkeep = LibraryUpkeep(paths=paths, library=ModelLibrary(paths=paths))
    for leftover in await upkeep.leftovers():
        assert leftover.kind is LeftoverKind.MOVED
        await upkeep.remove_leftover(leftover)
    assert await upkeep.leftovers() == ()


async def test_what_a_killed_move_left_is_cleared_by_the_next(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path
) -> None:
    place = tmp_path / "place"
    arrive(place / "models" / "half", {"x.bin": b"half"})
    fields = {"version": 1, "from_dir": str(paths.data_dir), "to_dir": str(place)}
    paths.library_journal_file.write_text(json.dumps(fields))
    (leftover,) = [x for x in await upkeep.leftovers() if x.kind is LeftoverKind.MOVED]
    assert (leftover.path, leftover.size_bytes) == (place / "models", 4)
    before = library(paths)
    assert await upkeep.move(place) == place
    assert library(paths) == before


async def test_places_that_cannot_be_are_refused_in_words(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path
) -> None:
    arrive(tmp_path / "taken", {"a.txt": b"", "DFlash/mine.txt": b""})
    arrive(tmp_path / "file", {"x": b""})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    expected = {
        paths.data_dir: "place_is_ours",
        paths.models_dir / "new": "place_is_ours",
        paths.incoming_dir: "place_is_ours",
        tmp_path / "taken": "place_taken",
        tmp_path / "link": "place_refused",
        tmp_path / "file" / "x": "place_refused",
    }
    before = library(paths)
    for chosen, code in expected.items():
        with pytest.raises(AppError) as raised:
            await upkeep.move(chosen)
        assert raised.value.problem.code == code, chosen
    assert library(paths) == before


async def test_links_in_the_library_are_refused(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path
) -> None:
    (paths.models_dir / "link").symlink_to(tmp_path)
    with pytest.raises(AppError) as raised:
        await upkeep.move(tmp_path / "new")
    assert raised.value.problem.code == "library_has_links"


async def test_too_little_room_is_said_before_anything_is_copied(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    monkeypatch.setattr(library_move, "_is_same_disk", lambda *_: False)
    with pytest.raises(AppError) as raised:
        await upkeep.move(tmp_path / "new")
    assert raised.value.problem.code == "disk_full"
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("what", ["model", "starter", "downloads", "install", "import"])
async def test_nothing_moves_while_something_is_in_use(
    paths: AppPaths, tmp_path: Path, what: str
) -> None:
    name = {"model": "model-0", "starter": "starter"}.get(what)
    loaded = () if name is None else (paths.models_dir / name,)
    files = {
        "downloads": paths.downloads_lock_file,
        "install": paths.starter_lock_file,
        "import": paths.import_lock_file,
    }
    lock = InstallLock(files.get(what, tmp_path / "unused.lock"))
    assert lock.acquire()
    library = ModelLibrary(paths=paths, in_use=lambda: loaded)
    upkeep = LibraryUpkeep(paths=paths, library=library)
    with pytest.raises(AppError) as raised:
        await upkeep.move(tmp_path / "new")
    lock.release()
    assert raised.value.problem.code == "library_in_use"
    await LibraryUpkeep(paths=paths, library=ModelLibrary(paths=paths)).move(tmp_path / "new")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"library_dir": 5}', '{"library_dir": "rel"}'])
def test_a_damaged_note_of_the_place_means_the_usual_place(paths: AppPaths, text: str) -> None:
    paths.library_place_file.write_text(text)
    assert paths.library_dir == paths.data_dir


def test_asking_where_the_library_is_costs_nothing(paths: AppPaths) -> None:
    began = time.perf_counter()
    for _ in range(1000):
        _ = paths.models_dir
    assert time.perf_counter() - began < 0.5


async def test_a_library_whose_disk_is_gone_is_said_and_never_made_a_second_time(
    paths: AppPaths, upkeep: LibraryUpkeep, tmp_path: Path
) -> None:
    disk = tmp_path / "mount" / "disk"
    await upkeep.move(disk)
    disk.rename(tmp_path / "unplugged")
    models = ModelLibrary(paths=paths)
    assert models.models() == ()
    absence = models.absence()
    assert absence is not None
    assert absence.code == "library_absent"
    arrived = arrive(tmp_path / "in")
    with pytest.raises(AppError) as raised:
        await models.install(
            arrived.folder, repo_id="o/n", commit=COMMIT, endpoint="", files=arrived.files
        )
    assert raised.value.problem == absence
    with pytest.raises(AppError):
        await upkeep.move(tmp_path / "another")
    assert not disk.exists()
    (tmp_path / "unplugged").rename(disk)
    await models.refresh()
    assert len(models.models()) == COUNT
    assert models.absence() is None
