from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.starter import StarterState, StarterStatus
from dflash_desktop.services.pair_library import PairLibrary, check_pair_folders
from dflash_desktop.services.settings_store import SettingsStore
from tests.fakes.damaged_pairs import make_vision
from tests.fakes.ir_models import ModelFiles, write_draft, write_target

STARTER = PairFolders("starter", "Starter", Path("/s/target"), Path("/s/draft"))


class FakeStarter:
    def __init__(self, state: StarterState) -> None:
        self.state = state

    def status(self) -> StarterStatus:
        return StarterStatus(self.state, STARTER.target_dir, Path("/s/draft"))

    def pair(self) -> PairFolders:
        return STARTER


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return write_target(tmp_path / "Big model").folder


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    return write_draft(tmp_path / "Small draft").folder


@pytest.fixture
def settings(tmp_path: Path) -> SettingsStore:
    return SettingsStore(tmp_path / "settings.json")


def library(settings: SettingsStore, state: StarterState = StarterState.READY) -> PairLibrary:
    return PairLibrary(settings=settings, starter=FakeStarter(state))


def code_of(target: Path, draft: Path | None) -> str:
    with pytest.raises(AppError) as raised:
        check_pair_folders(target, draft)
    return raised.value.problem.code


async def test_an_added_pair_is_there_after_a_restart(
    settings: SettingsStore, target: Path, draft: Path, tmp_path: Path
) -> None:
    added = await library(settings).add("  ", target, draft)
    assert added.title == "Big model"
    again = library(SettingsStore(tmp_path / "settings.json"))
    assert again.pairs() == (STARTER, added)
    assert again.find(added.id) == added


async def test_the_same_folders_again_only_change_the_title(
    settings: SettingsStore, target: Path, draft: Path
) -> None:
    pairs = library(settings)
    await pairs.add("One", target, draft)
    await pairs.add("Two", target, draft)
    await pairs.add("Alone", target, None)
    assert [p.title for p in pairs.pairs()] == ["Starter", "Two", "Alone"]


async def test_removing_a_pair_leaves_its_files(
    settings: SettingsStore, target: Path, draft: Path
) -> None:
    pairs = library(settings)
    added = await pairs.add("Mine", target, draft)
    pairs.remove(added.id)
    assert pairs.pairs() == (STARTER,)
    assert (target / "openvino_model.bin").exists()


@pytest.mark.parametrize(
    "state", [StarterState.MISSING, StarterState.INSTALLING, StarterState.BROKEN]
)
def test_the_starter_is_offered_only_when_it_is_ready(
    settings: SettingsStore, state: StarterState
) -> None:
    assert library(settings, state).pairs() == ()
    assert library(settings, state).preferred() is None


async def test_the_last_used_pair_is_preferred_while_it_exists(
    settings: SettingsStore, target: Path
) -> None:
    pairs = library(settings)
    added = await pairs.add("Mine", target, None)
    assert pairs.preferred() == STARTER
    settings.change(last_pair_id=added.id)
    assert pairs.preferred() == added
    pairs.remove(added.id)
    assert pairs.preferred() == STARTER


def test_a_good_pair_and_a_target_alone_pass(target: Path, draft: Path) -> None:
    check_pair_folders(target, draft)
    check_pair_folders(target, None)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("openvino_model.xml", "target_files_missing"),
        ("openvino_model.bin", "target_files_missing"),
        ("openvino_tokenizer.xml", "tokenizer_missing"),
    ],
)
async def test_a_target_with_a_missing_file_is_refused_and_not_remembered(
    settings: SettingsStore, target: Path, name: str, code: str
) -> None:
    (target / name).unlink()
    with pytest.raises(AppError) as raised:
        await library(settings).add("", target, None)
    problem = raised.value.problem
    assert problem.code == code
    assert name in problem.advice
    assert "Big model" in problem.headline
    assert settings.value.added_pairs == ()


def test_the_folder_at_fault_is_named(target: Path, draft: Path, tmp_path: Path) -> None:
    (draft / "openvino_model.bin").write_bytes(b"")
    with pytest.raises(AppError) as raised:
        check_pair_folders(target, draft)
    assert raised.value.problem.headline == "“Small draft” cannot be used as a draft."
    assert code_of(tmp_path / "gone", None) == "folder_unreadable"
    assert code_of(target, tmp_path / "gone") == "folder_unreadable"


def test_a_draft_of_another_target_is_refused(target: Path, draft: Path) -> None:
    ModelFiles(draft).edit('mask_token_id value="3"', 'mask_token_id value="248070"')
    with pytest.raises(AppError) as raised:
        check_pair_folders(target, draft)
    assert raised.value.problem.code == "mask_token_outside"
    assert raised.value.problem.headline == "This draft does not fit “Big model”."


def test_what_is_only_doubtful_is_let_through(target: Path, draft: Path) -> None:
    ModelFiles(draft).edit('type="ReadValue"', 'type="Other"')
    check_pair_folders(target, draft)


def test_a_draft_chosen_as_target_is_recognised(target: Path, draft: Path) -> None:
    for file in target.glob("openvino_*tokenizer.*"):
        shutil.copy(file, draft)
    assert code_of(draft, None) == "draft_as_target"
    assert code_of(target, target) == "same_folder"


def test_a_target_that_sees_is_taken_when_its_parts_are_complete(target: Path) -> None:
    make_vision(ModelFiles(target))
    check_pair_folders(target, None)
    (target / "openvino_vision_embeddings_model.bin").unlink()
    assert code_of(target, None) == "vision_files_missing"


def test_a_targets_own_head_is_its_draft(target: Path) -> None:
    assert code_of(target, target) == "same_folder"
    for kind in ("xml", "bin"):
        shutil.copy(target / f"openvino_model.{kind}", target / f"openvino_mtp_model.{kind}")
    check_pair_folders(target, target)
    assert PairLibrary.weight_bytes(target) == (target / "openvino_model.bin").stat().st_size
