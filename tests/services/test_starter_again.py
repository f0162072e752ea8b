"""Installing again: whole, broken, interrupted, or while another installation runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.starter import InstallStage, StarterState
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from tests.fakes.package_index import CONTENT, IndexLauncher, package_index
from tests.fakes.starter_world import PIN, StarterWorld, installed, left_in, problem_of, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> StarterWorld:
    return StarterWorld(tmp_path)


async def test_a_second_installation_does_nothing(world: StarterWorld, tmp_path: Path) -> None:
    await installed(world.starter, write(tmp_path / "a.gguf"))
    world.engine.calls.clear()
    steps = await installed(world.other_starter())
    assert [step.stage for step in steps] == [InstallStage.LOOKING, InstallStage.DONE]
    assert world.engine.calls == []


async def test_a_whole_download_is_kept_for_the_next_try(tmp_path: Path) -> None:
    with package_index() as index:
        launcher = IndexLauncher(index=index, log_dir=tmp_path / "logs")
        world = StarterWorld(tmp_path / "w", launcher=launcher)
        world.engine.layer_count = 2
        problem = await problem_of(world.starter)
        assert problem.code == "starter_conversion_unusable"
        assert "the graph 2" in problem.detail
        assert left_in(world.incoming_dir) == [PIN.file_name]
        world.engine.layer_count = PIN.layer_count
        await installed(world.starter)
        assert index.file_requests == 1
    assert world.starter.status().state is StarterState.READY


async def test_cancelling_leaves_nothing_and_the_next_try_starts_clean(
    world: StarterWorld, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.gguf")
    world.engine.may_convert.clear()
    task = asyncio.create_task(installed(world.starter, file))
    await world.engine.is_converting.wait()
    assert world.starter.status().state is StarterState.INSTALLING
    assert left_in(world.incoming_dir) == ["target"]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert world.starter.status().state is StarterState.MISSING
    assert left_in(world.incoming_dir) == []
    world.engine.may_convert.set()
    await installed(world.starter, file)
    assert world.starter.status().state is StarterState.READY


async def test_closing_the_iterator_stops_at_any_stage(
    world: StarterWorld, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.gguf")
    for last in InstallStage:
        if last in (InstallStage.DOWNLOADING, InstallStage.DONE):
            continue
        steps = world.starter.install(file=file)
        async for step in steps:
            if step.stage is last:
                break
        await steps.aclose()
        assert world.starter.status().state is StarterState.MISSING
        assert left_in(world.incoming_dir) == []


async def test_what_a_crash_left_half_made_is_never_taken_for_an_installation(
    world: StarterWorld, tmp_path: Path
) -> None:
    await installed(world.starter, write(tmp_path / "a.gguf"))
    world.incoming_dir.mkdir()
    world.target_dir.rename(world.incoming_dir / "target")
    (world.incoming_dir / "fetch").mkdir()
    write(world.incoming_dir / PIN.file_name, CONTENT[:-1])
    assert world.starter.status().state is StarterState.MISSING
    await installed(world.starter, write(tmp_path / "a.gguf"))
    assert world.starter.status().state is StarterState.READY
    assert left_in(world.incoming_dir) == []


@pytest.mark.parametrize("record", [None, b"{", b'{"version": 999}'])
async def test_a_folder_without_a_record_does_not_exist(
    record: bytes | None, world: StarterWorld, tmp_path: Path
) -> None:
    await installed(world.starter, write(tmp_path / "a.gguf"))
    path = world.target_dir / "installed.json"
    path.unlink() if record is None else path.write_bytes(record)
    assert world.starter.status().state is StarterState.MISSING
    await installed(world.starter, write(tmp_path / "a.gguf"))
    assert world.starter.status().state is StarterState.READY


@pytest.mark.parametrize("damage", ["gone", "cut", "draft"])
async def test_a_broken_installation_says_what_is_wrong_and_what_to_do(
    damage: str, world: StarterWorld, tmp_path: Path
) -> None:
    await installed(world.starter, write(tmp_path / "a.gguf"))
    weights = world.target_dir / "openvino_model.bin"
    if damage == "gone":
        weights.unlink()
    elif damage == "cut":
        weights.write_bytes(b"short")
    else:
        (world.draft_dir / "openvino_model.bin").unlink()
    status = world.starter.status()
    assert status.state is StarterState.BROKEN
    assert "draft" in status.detail if damage == "draft" else "openvino_model.bin" in status.detail
    assert "Install it again" in status.detail
    with pytest.raises(AppError):
        world.starter.pair()


@pytest.mark.parametrize("content", [None, b"cut", b"openvino_model.bin from TinX"])
async def test_installing_again_repairs_also_what_only_a_hash_can_see(
    content: bytes | None, world: StarterWorld, tmp_path: Path
) -> None:
    file = write(tmp_path / "a.gguf")
    await installed(world.starter, file)
    weights = world.target_dir / "openvino_model.bin"
    weights.unlink() if content is None else weights.write_bytes(content)
    await installed(world.starter, file)
    assert weights.read_text() == "openvino_model.bin from Tiny"
    assert world.starter.status().state is StarterState.READY


async def test_two_installations_at_once_are_one_and_a_refusal(
    world: StarterWorld, tmp_path: Path
) -> None:
    file, other = write(tmp_path / "a.gguf"), world.other_starter()
    world.engine.may_convert.clear()
    task = asyncio.create_task(installed(world.starter, file))
    await world.engine.is_converting.wait()
    assert other.status().state is StarterState.INSTALLING
    assert (await problem_of(other, file)).code == "starter_installing"
    world.engine.may_convert.set()
    await task
    assert other.status().state is StarterState.READY


async def test_the_starter_moves_with_the_library_and_waits_for_its_disk(tmp_path: Path) -> None:
    world = StarterWorld(tmp_path / "w")
    await installed(world.starter, write(tmp_path / "a.gguf"))
    upkeep = LibraryUpkeep(paths=world.paths, library=ModelLibrary(paths=world.paths))
    disk = tmp_path / "disk"
    await upkeep.move(disk)
    assert world.starter.status().state is StarterState.READY
    assert world.starter.pair().target_dir == disk / "models" / "starter"

    disk.rename(tmp_path / "unplugged")
    assert world.starter.status().state is StarterState.MISSING
    assert (await problem_of(world.starter)).code == "library_absent"
    assert not disk.exists()
