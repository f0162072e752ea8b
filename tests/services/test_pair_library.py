from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.starter import StarterState, StarterStatus
from dflash_desktop.services.pair_library import PairLibrary, check_pair_folders
from dflash_desktop.services.settings_store import SettingsStore

STARTER = PairFolders("starter", "Starter", Path("/s/target"), Path("/s/draft"))
DRAFT_XML = (
    '<net><layers/><rt_info><dflash><mask_token_id value="{mask}" />'
    '<target_layer_ids value="1,2" /></dflash><dflash_mode value="True" /></rt_info></net>'
)


class FakeStarter:
    def __init__(self, state: StarterState) -> None:
        self.state = state

    def status(self) -> StarterStatus:
        return StarterStatus(self.state, STARTER.target_dir, Path("/s/draft"))

    def pair(self) -> PairFolders:
        return STARTER


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "Big model"
    folder.mkdir()
    for name in ("openvino_model", "openvino_tokenizer", "openvino_detokenizer"):
        (folder / f"{name}.xml").write_text("<net/>", encoding="utf-8")
        (folder / f"{name}.bin").write_bytes(b"w")
    (folder / "config.json").write_text('{"vocab_size": 2048}', encoding="utf-8")
    return folder


@pytest.fixture
def draft(tmp_path: Path) -> Path:
    folder = tmp_path / "Small draft"
    folder.mkdir()
    (folder / "openvino_model.xml").write_text(DRAFT_XML.format(mask=3), encoding="utf-8")
    (folder / "openvino_model.bin").write_bytes(b"w")
    return folder


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
    "name", ["openvino_model.xml", "openvino_model.bin", "openvino_tokenizer.xml"]
)
async def test_a_target_with_a_missing_file_is_refused_and_not_remembered(
    settings: SettingsStore, target: Path, name: str
) -> None:
    (target / name).unlink()
    with pytest.raises(AppError) as raised:
        await library(settings).add("", target, None)
    assert raised.value.problem.code == "model_missing"
    assert name in raised.value.problem.detail
    assert settings.value.added_pairs == ()


def test_an_empty_weights_file_is_called_damaged(target: Path, draft: Path) -> None:
    (target / "openvino_model.bin").write_bytes(b"")
    assert code_of(target, None) == "model_broken"
    (target / "openvino_model.bin").write_bytes(b"w")
    (draft / "openvino_model.bin").write_bytes(b"")
    assert code_of(target, draft) == "draft_broken"


def test_a_folder_that_is_gone_is_named(target: Path, tmp_path: Path) -> None:
    assert code_of(tmp_path / "gone", None) == "model_missing"
    assert code_of(target, tmp_path / "gone") == "draft_missing"


def test_a_draft_without_the_dflash_marker_is_refused(target: Path, draft: Path) -> None:
    xml = draft / "openvino_model.xml"
    xml.write_text(xml.read_text("utf-8").replace("dflash_mode", "other"), encoding="utf-8")
    assert code_of(target, draft) == "draft_not_dflash"


def test_a_draft_without_a_mask_token_is_refused(target: Path, draft: Path) -> None:
    xml = draft / "openvino_model.xml"
    xml.write_text(xml.read_text("utf-8").replace("mask_token_id", "x"), encoding="utf-8")
    assert code_of(target, draft) == "draft_broken"


def test_a_mask_token_outside_the_vocabulary_belongs_to_another_target(
    target: Path, draft: Path
) -> None:
    (draft / "openvino_model.xml").write_text(DRAFT_XML.format(mask=248070), encoding="utf-8")
    assert code_of(target, draft) == "draft_not_for_target"


def test_a_draft_chosen_as_target_is_recognised(target: Path, draft: Path) -> None:
    for file in target.glob("openvino_*tokenizer.*"):
        shutil.copy(file, draft)
    assert code_of(draft, None) == "draft_as_target"
    assert code_of(target, target) == "same_folder"
