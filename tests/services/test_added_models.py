from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from dflash_desktop.domain.library import ModelCondition, ModelRole
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.model_library import ModelLibrary
from tests.fakes.ir_models import write_draft, write_target
from tests.fakes.library_world import COMMIT, app_paths, arrive, arrived_model
from tests.services.test_model_removal import snapshot


@pytest.fixture
def library(tmp_path: Path) -> ModelLibrary:
    return ModelLibrary(paths=app_paths(tmp_path))


@pytest.mark.parametrize(
    "name", ["My model", "модель 模型 é", "x" * 200, "trailing.dot", "'quote' & $HOME"]
)
async def test_a_folder_is_used_where_it_is_whatever_it_is_called(
    library: ModelLibrary, tmp_path: Path, name: str
) -> None:
    folder = write_target(tmp_path / "a stick" / name).folder
    before = snapshot(folder)
    model = await library.add_folder(folder)

    assert (model.id, model.path, model.is_ours) == (name, folder, False)
    assert model.manifest.role is ModelRole.TARGET
    assert model.condition is ModelCondition.UNVERIFIED
    report = await library.verify(name)
    assert report.is_whole
    model = ModelLibrary(paths=app_paths(tmp_path)).known(name)
    assert model.condition is ModelCondition.VERIFIED
    assert model.manifest.files == tuple(
        sorted(arrived_model(folder).files, key=lambda file: file.path)
    )
    assert [pair.target_dir for pair in library.pairs()] == [folder]
    assert snapshot(folder) == before


async def test_what_changes_after_the_first_hashing_is_found(
    library: ModelLibrary, tmp_path: Path
) -> None:
    files = write_target(tmp_path / "mine")
    await library.add_folder(files.folder)
    await library.verify("mine")
    weights = files.folder / "openvino_model.bin"
    weights.write_bytes(b"\1" + weights.read_bytes()[1:])
    report = await library.verify("mine")
    assert [(one.path, one.kind) for one in report.differences] == [
        ("openvino_model.bin", "bytes")
    ]
    assert library.known("mine").condition is ModelCondition.DAMAGED
    assert library.pairs() == ()
    await library.add_folder(files.folder)  # the person says that it is right as it is
    await library.verify("mine")
    assert library.known("mine").condition is ModelCondition.VERIFIED
    assert len(library.models()) == 1


async def test_a_stick_that_was_pulled_out_is_absent_and_comes_back(
    library: ModelLibrary, tmp_path: Path
) -> None:
    stick = tmp_path / "stick"
    await library.add_folder(write_target(stick / "mine").folder)
    await library.verify("mine")
    stick.rename(tmp_path / "pulled out")
    await library.refresh()
    assert library.known("mine").condition is ModelCondition.ABSENT
    assert library.pairs() == ()
    with pytest.raises(AppError) as raised:
        await library.verify("mine")
    assert raised.value.problem.code == "model_absent"
    (tmp_path / "pulled out").rename(stick)
    await library.refresh()
    assert library.known("mine").condition is ModelCondition.VERIFIED


async def test_removing_an_added_model_forgets_it_and_touches_nothing(
    library: ModelLibrary, tmp_path: Path
) -> None:
    folder = write_target(tmp_path / "mine").folder
    before = snapshot(folder)
    await library.add_folder(folder)
    plan = await library.plan_removal("mine")
    assert (plan.freed_bytes, plan.deletes_files) == (0, False)
    await library.remove("mine")
    assert library.models() == ()
    assert snapshot(folder) == before
    assert list(app_paths(tmp_path).added_models_dir.iterdir()) == []


async def test_a_folder_of_the_hubs_own_cache_is_known_by_its_repository(
    library: ModelLibrary, tmp_path: Path
) -> None:
    """Its files are links to blobs, which are read and never changed."""
    cache = tmp_path / "models--blaj--Qwen3-4B-instruct-int4-ov"
    plain = write_target(tmp_path / "plain").folder
    snapshot_dir = cache / "snapshots" / COMMIT
    (cache / "blobs").mkdir(parents=True)
    snapshot_dir.mkdir(parents=True)
    for number, file in enumerate(plain.iterdir()):
        shutil.copy(file, cache / "blobs" / str(number))
        (snapshot_dir / file.name).symlink_to(Path("../../blobs") / str(number))
    model = await library.add_folder(snapshot_dir)
    assert model.id == "blaj/Qwen3-4B-instruct-int4-ov"
    assert model.manifest.commit == COMMIT
    assert model.manifest.precision == "int4"
    assert (await library.verify(model.id)).checked_bytes == sum(
        file.stat().st_size for file in plain.iterdir()
    )
    assert [pair.title for pair in library.pairs()] == ["Qwen3 4B instruct, int4"]


async def test_added_folders_named_like_the_catalogues_make_its_pairs(
    library: ModelLibrary, tmp_path: Path
) -> None:
    await library.add_folder(write_target(tmp_path / "Qwen3-4B-instruct-int4-ov").folder)
    await library.add_folder(write_draft(tmp_path / "Qwen3-4B-DFlash-int8-ov").folder)
    assert [pair.id for pair in library.pairs()] == [
        "Qwen3-4B-instruct-int4+Qwen3-4B-DFlash-int8",
        "Qwen3-4B-instruct-int4-ov",
    ]


async def test_a_model_of_another_library_keeps_its_known_hashes(
    library: ModelLibrary, tmp_path: Path
) -> None:
    theirs = ModelLibrary(paths=app_paths(tmp_path / "theirs"))
    arrived = arrived_model(write_target(tmp_path / "theirs" / "in").folder)
    installed = await theirs.install(
        arrived.folder, repo_id="o/n", commit=COMMIT, endpoint="https://h", files=arrived.files
    )
    weights = installed.path / "openvino_model.bin"
    weights.write_bytes(b"\1" + weights.read_bytes()[1:])
    model = await library.add_folder(installed.path)
    assert (model.id, model.condition) == ("o/n", ModelCondition.UNVERIFIED)
    assert not (await library.verify("o/n")).is_whole  # as it was copied, it is not what it was


async def test_two_folders_of_one_name_get_two_ids(library: ModelLibrary, tmp_path: Path) -> None:
    one = await library.add_folder(write_target(tmp_path / "a" / "model").folder)
    two = await library.add_folder(
        write_target(tmp_path / "b" / "Model").folder, title=" My  own "
    )
    assert (one.id, two.id, two.title) == ("model", "Model-2", "My own")


async def test_no_model_no_folder_and_our_own_are_refused_in_words(
    library: ModelLibrary, tmp_path: Path
) -> None:
    arrive(tmp_path / "photos", {"a.jpg": b"x"})
    arrive(tmp_path / "broken", {"openvino_model.xml": b"<net"})
    arrived = arrived_model(write_target(tmp_path / "in").folder)
    ours = await library.install(
        arrived.folder, repo_id="o/n", commit=COMMIT, endpoint="", files=arrived.files
    )
    link = tmp_path / "link"
    link.symlink_to(ours.path, target_is_directory=True)
    expected = {
        tmp_path / "photos": "no_model",
        tmp_path / "broken": "no_model",
        tmp_path / "gone": "folder_unreadable",
        ours.path: "already_ours",
        link: "already_ours",
    }
    for folder, code in expected.items():
        with pytest.raises(AppError) as raised:
            await library.add_folder(folder)
        assert raised.value.problem.code == code
    assert library.models() == (ours,)


@pytest.mark.skipif(sys.platform != "linux", reason="only there a name can be other than text")
async def test_a_folder_whose_name_is_no_text_is_refused_in_words(
    library: ModelLibrary, tmp_path: Path
) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe"))
    write_target(folder)
    with pytest.raises(AppError) as raised:
        await library.add_folder(folder)
    assert raised.value.problem.code == "folder_name_refused"
