from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.library import LeftoverKind
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from tests.fakes.ir_models import write_target
from tests.fakes.library_world import COMMIT, FILES, app_paths, arrive

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.paths import AppPaths

NAME = "owner/name"
SIZE = sum(map(len, FILES.values()))


@pytest.fixture
def paths(tmp_path: Path) -> AppPaths:
    return app_paths(tmp_path)


@pytest.fixture
def library(paths: AppPaths) -> ModelLibrary:
    return ModelLibrary(paths=paths)


@pytest.fixture
async def model(library: ModelLibrary, paths: AppPaths) -> InstalledModel:
    return await install(library, paths.incoming_dir / "x")


async def install(library: ModelLibrary, folder: Path, commit: str = COMMIT) -> InstalledModel:
    arrived = arrive(folder)
    return await library.install(
        arrived.folder, repo_id=NAME, commit=commit, endpoint="https://h", files=arrived.files
    )


def snapshot(folder: Path) -> dict[str, object]:
    """Every name below a folder with what is in it, links as links."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = path.readlink()
        elif path.is_file():
            found[name] = path.read_bytes()
        else:
            found[name] = None
    return found


async def test_removing_frees_what_was_announced_and_leaves_nothing(
    library: ModelLibrary, model: InstalledModel, paths: AppPaths
) -> None:
    record = sum(f.stat().st_size for f in (model.path / ".dflash").iterdir())
    plan = await library.plan_removal(NAME)
    assert (plan.freed_bytes, plan.shared_bytes, plan.deletes_files) == (SIZE + record, 0, True)
    changes: list[None] = []
    library.subscribe(lambda: changes.append(None))
    await library.remove(NAME)
    assert library.models() == ()
    assert list(paths.models_dir.iterdir()) == []
    assert len(changes) == 1


async def test_a_file_that_is_also_elsewhere_frees_nothing_and_counts_once(
    library: ModelLibrary, model: InstalledModel, tmp_path: Path
) -> None:
    """As with what came from the hub's own cache, and with two names of one file in a model."""
    weights = model.path / "openvino_model.bin"
    os.link(weights, tmp_path / "in the cache")
    same = model.path / "config.json"
    same.unlink()
    os.link(model.path / "openvino_model.xml", same)

    plan = await library.plan_removal(NAME)
    record = sum(f.stat().st_size for f in (model.path / ".dflash").iterdir())
    assert plan.shared_bytes == weights.stat().st_size
    assert plan.freed_bytes == 6 + 4 + record  # the graph once, and the notes
    await library.remove(NAME)
    assert (tmp_path / "in the cache").read_bytes() == FILES["openvino_model.bin"]


async def test_files_of_other_models_are_told_apart_from_those_of_other_programs(
    library: ModelLibrary, model: InstalledModel, paths: AppPaths, tmp_path: Path
) -> None:
    weights, graph = model.path / "openvino_model.bin", model.path / "openvino_model.xml"
    os.link(graph, tmp_path / "in the cache")
    os.link(weights, tmp_path / "in the cache, too")
    for number in (1, 2):  # counted once, however many hold it
        arrived = arrive(paths.incoming_dir / str(number))
        (arrived.folder / weights.name).unlink()
        os.link(weights, arrived.folder / weights.name)
        await library.install(
            arrived.folder,
            repo_id=f"owner/other{number}",
            commit=COMMIT,
            endpoint="https://h",
            files=arrived.files,
        )
    await add_other(library, tmp_path / "shares nothing")

    plan = await library.plan_removal(NAME)
    assert plan.shared_bytes == weights.stat().st_size + graph.stat().st_size
    assert plan.shared_with_models_bytes == weights.stat().st_size
    assert [one.id for one in plan.shared_with] == ["owner/other1", "owner/other2"]
    record = sum(f.stat().st_size for f in (model.path / ".dflash").iterdir())
    assert plan.freed_bytes == SIZE + record - plan.shared_bytes
    await library.remove(NAME)
    assert (await library.verify("owner/other1")).is_whole


async def add_other(library: ModelLibrary, folder: Path) -> None:
    await library.add_folder(write_target(folder).folder, "")


def _foreign_file(folder: Path, _: Path) -> None:
    (folder / "thesis.odt").write_text("years of work")


def _foreign_deep(folder: Path, _: Path) -> None:
    (folder / "deep" / "mine").mkdir()


def _in_the_record(folder: Path, _: Path) -> None:
    (folder / ".dflash" / "notes.txt").write_text("mine")


def _link_to_file(folder: Path, outside: Path) -> None:
    (folder / "config.json").unlink()
    (folder / "config.json").symlink_to(outside / "precious.txt")


def _link_to_folder(folder: Path, outside: Path) -> None:
    shutil.rmtree(folder / "deep")
    (folder / "deep").symlink_to(outside, target_is_directory=True)


def _link_as_record(folder: Path, outside: Path) -> None:
    shutil.move(folder / ".dflash", outside / "record")
    (folder / ".dflash").symlink_to(outside / "record", target_is_directory=True)


def _model_is_a_link(folder: Path, outside: Path) -> None:
    shutil.move(folder, outside / "model")
    folder.symlink_to(outside / "model", target_is_directory=True)


def _pipe(folder: Path, _: Path) -> None:
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")


def _no_manifest(folder: Path, _: Path) -> None:
    (folder / ".dflash" / "manifest.json").unlink()


def _hostile_manifest(folder: Path, _: Path) -> None:
    manifest = folder / ".dflash" / "manifest.json"
    manifest.write_text(manifest.read_text().replace("config.json", "../../precious.txt"))


def _a_file_instead(folder: Path, _: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("mine")


HOSTILE = [
    _foreign_file,
    _foreign_deep,
    _in_the_record,
    _link_to_file,
    _link_to_folder,
    _link_as_record,
    _model_is_a_link,
    _pipe,
    _no_manifest,
    _hostile_manifest,
    _a_file_instead,
]


@pytest.mark.skipif(sys.platform == "win32", reason="made by POSIX means")
@pytest.mark.parametrize("change", HOSTILE, ids=lambda change: change.__name__.strip("_"))
async def test_what_is_not_wholly_ours_is_refused_and_nothing_changes(
    library: ModelLibrary,
    model: InstalledModel,
    tmp_path: Path,
    change: Callable[[Path, Path], None],
) -> None:
    outside = tmp_path / "outside"
    arrive(outside, {"precious.txt": b"precious"})
    change(model.path, outside)
    before = snapshot(tmp_path)
    for attempt in (library.plan_removal, library.remove):
        with pytest.raises(AppError) as raised:
            await attempt(NAME)
        assert raised.value.problem.code in ("removal_refused", "model_unknown")
    after = snapshot(tmp_path)
    after.pop("data/library.lock", None)
    before.pop("data/library.lock", None)
    assert after == before


async def test_the_refusal_names_what_is_not_ours(
    library: ModelLibrary, model: InstalledModel
) -> None:
    for number in range(5):
        (model.path / f"mine {number}.txt").write_text("mine")
    with pytest.raises(AppError) as raised:
        await library.plan_removal(NAME)
    assert "mine 0.txt, mine 1.txt, mine 2.txt and 2 more" in raised.value.problem.advice


async def test_what_repairs_file_managers_and_killed_writers_leave_is_no_obstacle(
    library: ModelLibrary, model: InstalledModel
) -> None:
    (model.path / "dflash-repair.json").write_text("{}")
    (model.path / "openvino_model.xml.original-2").write_text("<net/>")
    (model.path / "desktop.ini").write_text("")
    (model.path / ".dflash" / ".used.json.a8x_.new").write_text("{")
    await library.remove(NAME)
    assert not model.path.exists()


async def test_a_model_that_is_loaded_is_not_removed(
    paths: AppPaths, model: InstalledModel
) -> None:
    loaded = ModelLibrary(paths=paths, in_use=lambda: (model.path / "..", model.path))
    for attempt in (loaded.plan_removal, loaded.remove):
        with pytest.raises(AppError) as raised:
            await attempt(NAME)
        assert raised.value.problem.code == "model_in_use"
    assert (model.path / "config.json").exists()


async def test_two_removals_at_once_are_one(paths: AppPaths, model: InstalledModel) -> None:
    libraries = [ModelLibrary(paths=paths) for _ in range(2)]
    outcomes = await asyncio.gather(
        *(library.remove(NAME) for library in libraries), return_exceptions=True
    )
    errors = [outcome for outcome in outcomes if outcome is not None]
    assert len(errors) <= 1
    assert all(isinstance(error, AppError) for error in errors)
    assert list(paths.models_dir.iterdir()) == []


async def test_the_replaced_folder_goes_unless_it_is_in_use_or_not_wholly_ours(
    paths: AppPaths, library: ModelLibrary, model: InstalledModel
) -> None:
    second = await install(library, paths.incoming_dir / "x", "b" * 40)
    assert not model.path.exists()

    loaded = ModelLibrary(paths=paths, in_use=lambda: (second.path,))
    third = await install(loaded, paths.incoming_dir / "x", "c" * 40)
    assert second.path.exists()
    assert loaded.models() == (third,)

    (third.path / "mine.txt").write_text("mine")
    fourth = await install(library, paths.incoming_dir / "x", "d" * 40)
    assert (third.path / "mine.txt").exists()
    assert not second.path.exists()
    assert library.models() == (fourth,)


async def test_nothing_is_removed_while_the_library_is_moved(
    paths: AppPaths, library: ModelLibrary, model: InstalledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dflash_desktop.services.library_lock._PATIENCE_SECONDS", 0.1)
    lock = InstallLock(paths.library_lock_file)
    assert lock.acquire()
    with pytest.raises(AppError) as raised:
        await library.remove(NAME)
    lock.release()
    assert raised.value.problem.code == "library_busy"
    assert model.path.exists()


async def test_a_disk_that_refuses_is_told_and_nothing_changes(
    library: ModelLibrary, model: InstalledModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "models")

    before = snapshot(model.path)
    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(AppError) as raised:
        await library.remove(NAME)
    expected = "model_in_use" if sys.platform == "win32" else "not_removable"
    assert raised.value.problem.code == expected
    assert snapshot(model.path) == before
    assert [one.id for one in library.models()] == [NAME]


async def test_a_removal_that_breaks_off_leaves_a_leftover_and_no_model(
    library: ModelLibrary,
    model: InstalledModel,
    paths: AppPaths,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = Path.unlink

    def breaking(path: Path, **options: bool) -> None:
        if path.name == "openvino_model.bin":
            raise OSError(5, "Input/output error")
        original(path, **options)

    upkeep = LibraryUpkeep(paths=paths, library=library)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", breaking)
        with pytest.raises(AppError) as raised:
            await library.remove(NAME)
    assert raised.value.problem.code == "not_deleted"
    assert library.models() == ()
    (leftover,) = await upkeep.leftovers()
    assert leftover.kind is LeftoverKind.REMOVED
    await upkeep.remove_leftover(leftover)
    assert list(paths.models_dir.iterdir()) == []
