"""Repairs write metadata and nothing else, can be taken back, and never guess."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.locators import ANNOTATION
from dflash_desktop.domain.pair_contract import Weight
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.model_inspection import inspect_model
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.repair import ModelRepair, RepairOutcome, can_undo
from dflash_desktop.services.repair_record import RECORD_FILE
from dflash_desktop.services.rt_info_file import write_rt_info
from tests.fakes.damaged_pairs import BLOCKING, WARNING, strip_locators
from tests.fakes.exports import ANNOTATED, BARE, graph_file, unpack
from tests.fakes.ir_models import ModelFiles, locators, write_target
from tests.fakes.library_world import COMMIT, app_paths, arrived_model

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.ir_graph import RtInfoMarks
    from dflash_desktop.domain.library import ModelCondition

Values = Mapping[tuple[str, ...], str]
MENDED_IN_TARGET = [
    "no locators",
    "locators are no JSON",
    "locators are nested without end",
    "locators are a list",
    "a locator is missing",
    "a locator without index",
    "a locator is missing that nobody needs",
    "a producer has no such output",
    "a producer gives logits",
    "one producer for two layers",
    "locators of the layers before",
]
MENDED_IN_DRAFT = [
    "no marker",
    "marker says no",
    "no mask token",
    "mask token in words",
    "mask token of a large vocabulary",
    "no target layers",
    "empty target layers",
    "target layers as JSON",
    "target layers repeated",
    "target layer 48",
    "two of three layers",
    "another mask token than the checkpoint's",
    "other layers than the checkpoint's",
]
DAMAGES = {**BLOCKING, **WARNING}


@pytest.fixture
def repairs(tmp_path: Path) -> ModelRepair:
    return ModelRepair(added_dir=tmp_path / "added")


def doubts(outcome: RepairOutcome) -> set[str]:
    return {one.code for one in outcome.findings_after if one.weight is not Weight.INFO}


def contents(folder: Path) -> dict[str, str]:
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()}


@pytest.mark.parametrize("name", [*MENDED_IN_TARGET, *MENDED_IN_DRAFT])
def test_what_metadata_can_mend_is_mended_and_can_be_taken_back(
    name: str, target: ModelFiles, draft: ModelFiles, repairs: ModelRepair
) -> None:
    code, damage = DAMAGES[name]
    damage(target, draft)
    damaged = target if name in MENDED_IN_TARGET else draft
    before = contents(damaged.folder)

    outcome = repairs.repair(target.folder, draft.folder)
    assert code in {one.code for one in outcome.findings_before}
    assert any(one.remedy.startswith("Repair it:") for one in outcome.findings_before)
    assert doubts(outcome) == set()
    assert [one.file for one in outcome.changed] == ["openvino_model.xml"]
    after = contents(damaged.folder)
    assert {file for file in before if before[file] != after[file]} == {"openvino_model.xml"}
    assert repairs.repair(target.folder, draft.folder).changed == ()

    assert repairs.undo(damaged.folder) == ("openvino_model.xml",)
    assert contents(damaged.folder) == before
    assert not can_undo(damaged.folder)


def test_a_good_pair_is_not_touched(
    target: ModelFiles, draft: ModelFiles, repairs: ModelRepair
) -> None:
    before = contents(target.folder), contents(draft.folder)
    outcome = repairs.repair(target.folder, draft.folder)
    assert (outcome.changed, outcome.not_repaired) == ((), ())
    assert (contents(target.folder), contents(draft.folder)) == before


@pytest.mark.parametrize("name", BARE)
def test_an_export_without_locators_gets_them(
    name: str, tmp_path: Path, repairs: ModelRepair
) -> None:
    target, draft = unpack(name, tmp_path / "target"), unpack("draft", tmp_path / "draft")
    outcome = repairs.repair(target, draft)
    assert [one.file for one in outcome.changed] == [graph_file(target).name]
    assert doubts(outcome) == set()


@pytest.mark.parametrize("name", ANNOTATED)
def test_stripped_exports_get_back_what_the_exporter_wrote(
    name: str, tmp_path: Path, repairs: ModelRepair
) -> None:
    target = unpack(name, tmp_path / "target")
    whole = json.loads(inspect_model(target).rt_info(ANNOTATION) or "")
    ModelFiles(target).edit(f"<{ANNOTATION}", "<other", file=graph_file(target).name)

    repairs.repair(target, None)
    assert json.loads(inspect_model(target).rt_info(ANNOTATION) or "") == whole


def test_where_a_layer_cannot_be_told_for_certain_nothing_is_written(
    tmp_path: Path, repairs: ModelRepair
) -> None:
    target = unpack("qwen3_5", tmp_path / "target")
    files, xml = ModelFiles(target), graph_file(target).name
    files.edit(f"<{ANNOTATION}", "<other", file=xml)
    # Two nodes of one name: the runtime could not tell them apart either.
    name = "__module.model.model.language_model.layers.3/aten::add/Add"
    files.edit(f'"{name}"', f'"{name}_1"', file=xml)
    before = contents(target)

    outcome = repairs.repair(target, None)
    assert outcome.changed == ()
    (refused,) = outcome.not_repaired
    assert refused.code == "locators_missing"
    assert "2 nodes are called" in refused.reason
    assert contents(target) == before


def test_a_target_of_another_depth_than_its_config_is_not_guessed(
    target: ModelFiles, draft: ModelFiles, repairs: ModelRepair
) -> None:
    strip_locators(target)
    target.configure(num_hidden_layers=5, layer_types=None)
    outcome = repairs.repair(target.folder, draft.folder)
    assert outcome.changed == ()
    assert "5 layers, the graph 6" in outcome.not_repaired[0].reason


def test_metadata_comes_from_the_checkpoint_that_is_named(
    target: ModelFiles, draft: ModelFiles, repairs: ModelRepair, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    checkpoint.mkdir()
    (checkpoint / "config.json").write_bytes((draft.folder / "config.json").read_bytes())
    draft.edit("mask_token_id", "other")
    draft.configure(dflash_config=None, block_size=None, architectures=["Qwen3ForCausalLM"])

    outcome = repairs.repair(target.folder, draft.folder)
    assert [one.code for one in outcome.not_repaired] == ["mask_token_missing"]
    outcome = repairs.repair(target.folder, draft.folder, checkpoint_dir=checkpoint)
    assert [one.file for one in outcome.changed] == ["openvino_model.xml", "config.json"]
    assert doubts(outcome) == set()
    assert inspect_model(draft.folder).config.block_size == 8
    assert set(repairs.undo(draft.folder)) == {"openvino_model.xml", "config.json"}


def test_the_config_of_another_draft_is_refused(
    target: ModelFiles, draft: ModelFiles, repairs: ModelRepair
) -> None:
    draft.edit("target_layer_ids", "other")
    draft.configure(dflash_config={"mask_token_id": 3, "target_layer_ids": [1, 2]})
    outcome = repairs.repair(target.folder, draft.folder)
    assert outcome.changed == ()
    assert "2 layers × 128, the graph reads a width of 384" in outcome.not_repaired[0].reason


def test_a_missing_tokenizer_is_refused_with_the_way_out(
    target: ModelFiles, draft: ModelFiles, repairs: ModelRepair
) -> None:
    target.remove("openvino_tokenizer.xml")
    assert "Get tokenizer.json" in repairs.repair(target.folder, None).not_repaired[0].advice
    target.write("tokenizer.json", "{}")
    (refused,) = repairs.repair(target.folder, draft.folder).not_repaired
    assert refused.code == "tokenizer_missing"
    assert "export-env install" in refused.advice


def test_several_repairs_go_back_to_the_first_original(
    target: ModelFiles, draft: ModelFiles, repairs: ModelRepair
) -> None:
    strip_locators(target)
    before = contents(target.folder)
    repairs.repair(target.folder, draft.folder)
    record = (target.folder / RECORD_FILE).read_bytes()
    target.annotate({"layers": {"0": locators()["1"]}})
    with pytest.raises(AppError, match="repair_changed_since"):
        repairs.undo(target.folder)
    assert can_undo(target.folder)
    assert (target.folder / RECORD_FILE).read_bytes() == record

    repairs.repair(target.folder, draft.folder)
    assert (target.folder / "openvino_model.xml.original-2").exists()
    repairs.undo(target.folder)
    assert '"layers": {"0"' in (inspect_model(target.folder).rt_info(ANNOTATION) or "")
    first = target.folder / "openvino_model.xml.original"
    assert hashlib.sha256(first.read_bytes()).hexdigest() == before["openvino_model.xml"]


def test_an_edit_after_a_killed_repair_is_not_lost_by_its_undo(
    target: ModelFiles, repairs: ModelRepair
) -> None:
    strip_locators(target)
    before = contents(target.folder)
    repairs.repair(target.folder, None)
    record = json.loads((target.folder / RECORD_FILE).read_text())
    record["files"][0]["sha256_after"] = ""  # killed before the end was noted
    target.write(RECORD_FILE, json.dumps(record))
    xml = target.folder / "openvino_model.xml"
    edited = xml.read_bytes() + b"<!-- mine -->"
    xml.write_bytes(edited)

    assert repairs.undo(target.folder) == ("openvino_model.xml",)
    assert contents(target.folder).items() > before.items()
    assert (target.folder / "openvino_model.xml.original-2").read_bytes() == edited


def test_an_undo_without_the_file_from_before_says_that_it_is_gone(
    target: ModelFiles, repairs: ModelRepair
) -> None:
    strip_locators(target)
    repairs.repair(target.folder, None)
    target.remove("openvino_model.xml.original")
    before = contents(target.folder)
    with pytest.raises(AppError, match="original_missing"):
        repairs.undo(target.folder)
    assert contents(target.folder) == before


def test_an_interrupted_repair_leaves_all_as_it_was(
    target: ModelFiles,
    draft: ModelFiles,
    repairs: ModelRepair,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    strip_locators(target)
    draft.edit("mask_token_id", "other")
    before = contents(target.folder), contents(draft.folder)

    def fail_at_the_second(xml: Path, values: Values, **marks: RtInfoMarks) -> None:
        if xml.parent == draft.folder:
            raise OSError(28, "No space left on device")
        write_rt_info(xml, values, **marks)

    monkeypatch.setattr("dflash_desktop.services.repair.write_rt_info", fail_at_the_second)
    with pytest.raises(AppError) as caught:
        repairs.repair(target.folder, draft.folder)
    assert caught.value.problem.code == "disk_full"
    assert (contents(target.folder), contents(draft.folder)) == before


def test_what_was_written_wrongly_is_put_back(
    target: ModelFiles, repairs: ModelRepair, monkeypatch: pytest.MonkeyPatch
) -> None:
    strip_locators(target)
    before = contents(target.folder)

    def write_nonsense(xml: Path, values: Values, **marks: RtInfoMarks) -> None:
        write_rt_info(xml, dict.fromkeys(values, "{}"), **marks)

    monkeypatch.setattr("dflash_desktop.services.repair.write_rt_info", write_nonsense)
    with pytest.raises(AppError, match="repair_not_possible"):
        repairs.repair(target.folder, None)
    assert contents(target.folder) == before


def test_a_record_that_came_with_a_download_can_do_no_harm(
    target: ModelFiles, repairs: ModelRepair, tmp_path: Path
) -> None:
    victim = tmp_path / "secret.txt"
    victim.write_text("secret")
    entry = {"name": "../secret.txt", "original": "../secret.txt.original", "sha256_before": ""}
    contents_of_record: list[object] = [{"files": [entry]}, {"version": 9}, [], "x" * 99_999]
    for content in contents_of_record:
        target.write(RECORD_FILE, json.dumps(content))
        assert repairs.undo(target.folder) == ()
    entry = {"name": "config.json", "original": "config.json/../../secret.txt"}
    target.write(RECORD_FILE, json.dumps({"files": [{**entry, "sha256_before": "0"}]}))
    assert repairs.undo(target.folder) == ()
    assert victim.read_text() == "secret"


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_what_a_link_of_the_hub_cache_points_to_stays_as_it_is(
    target: ModelFiles, repairs: ModelRepair, tmp_path: Path
) -> None:
    strip_locators(target)
    blob = tmp_path / "blob"
    xml = target.folder / "openvino_model.xml"
    xml.rename(blob)
    xml.symlink_to(blob)
    before = blob.read_bytes()
    repairs.repair(target.folder, None)
    assert blob.read_bytes() == before
    assert xml.read_bytes() != before
    repairs.undo(target.folder)
    assert xml.read_bytes() == before


def test_a_graph_of_a_hundred_megabytes_takes_seconds(
    tmp_path: Path, repairs: ModelRepair
) -> None:
    target = write_target(tmp_path / "large", layers=64, constants_per_layer=100)
    strip_locators(target)
    xml = target.folder / "openvino_model.xml"
    filler = b"<!-- " + b"x" * (1 << 20) + b" -->\n"
    head, tail = xml.read_bytes().split(b"\t<edges>", 1)
    xml.write_bytes(head + filler * 100 + b"\t<edges>" + tail)
    started_at = time.perf_counter()
    assert len(repairs.repair(target.folder, None).changed) == 1
    assert time.perf_counter() - started_at < 10


async def test_a_repaired_model_of_the_library_counts_as_whole(
    tmp_path: Path, repairs: ModelRepair
) -> None:
    paths = app_paths(tmp_path)
    library = ModelLibrary(paths=paths)
    arriving = write_target(paths.incoming_dir / "t")
    strip_locators(arriving)
    files = arrived_model(arriving.folder).files
    model = await library.install(
        arriving.folder, repo_id="owner/name", commit=COMMIT, endpoint="https://h", files=files
    )
    elsewhere = write_target(tmp_path / "elsewhere")
    strip_locators(elsewhere)
    added = await library.add_folder(elsewhere.folder)
    repairs = ModelRepair(added_dir=paths.added_models_dir)

    async def conditions() -> list[ModelCondition]:
        await library.refresh()
        found = (library.find(one.id) for one in (model, added))
        return [one.condition for one in found if one is not None]

    before = await conditions()
    for folder in (model.path, elsewhere.folder):
        assert repairs.repair(folder, None).changed
    assert await conditions() == before
    for folder in (model.path, elsewhere.folder):
        assert repairs.undo(folder)
    assert await conditions() == before
