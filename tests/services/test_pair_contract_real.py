"""What the contract says about the real pair, and the real runtime's word on it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.generation import SamplingParams
from dflash_desktop.domain.pair_contract import Verdict, Weight, verdict_of
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.model_inspection import check_folders, inspect_model
from dflash_desktop.services.timed_answers import question
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.protocol import Finished
from tests.fakes.damaged_pairs import Damage, strip_locators
from tests.fakes.draft_forms import write_unpacked
from tests.fakes.exports import unpack
from tests.fakes.ir_models import ModelFiles

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

pytestmark = [pytest.mark.starter, pytest.mark.openvino]


def shorten(model: ModelFiles) -> None:
    weights = model.folder / "openvino_model.bin"
    data = weights.read_bytes()[:100_000_000]
    weights.unlink()
    weights.write_bytes(data)


PRODUCER = "model.layers.self_attn.add1.layer"
LAYERS = "2,8,14,20,26"
REFUSED: dict[str, tuple[Damage, str]] = {
    "locators_unguessable": (lambda t, d: strip_locators(t), "Eagle3 fallback found 0 outputs"),
    "locators_invalid": (lambda t, d: t.annotate('{"layers": {'), "Malformed hidden-state annot"),
    "locator_producer_missing": (
        lambda t, d: t.edit(f'name="{PRODUCER}8"', 'name="gone"'),
        "resolved to 0 live nodes",
    ),
    "locator_producer_ambiguous": (
        lambda t, d: t.edit(f'name="{PRODUCER}9"', f'name="{PRODUCER}8"'),
        "resolved to 2 live nodes",
    ),
    "locators_repeated": (
        lambda t, d: t.edit(f"&quot;{PRODUCER}8&quot;", f"&quot;{PRODUCER}2&quot;"),
        "Duplicate producer/output locator",
    ),
    "target_layer_outside": (
        lambda t, d: d.edit(f'"{LAYERS}"', '"2,8,14,20,48"'),
        "key '48' not found",
    ),
    "draft_outputs_incomplete": (
        lambda t, d: d.edit('"last_hidden_state"', '"state"'),
        "exactly one of 'last_hidden_state' or 'logits' output",
    ),
    "target_layers_repeated": (
        lambda t, d: d.edit(f'"{LAYERS}"', '"2,8,14,20,20"'),
        "producer_outputs.emplace(producer, output_index)",
    ),
    "target_weights_short": (lambda t, d: shorten(t), "weights"),
    "tokenizer_missing": (lambda t, d: t.remove("openvino_detokenizer.xml"), "detokenizer.xml"),
    "draft_inputs_incomplete": (
        lambda t, d: d.edit('"position_ids"', '"place"'),
        "must have a 'position_ids' input",
    ),
}


def copied(folder: Path, to: Path) -> ModelFiles:
    """A copy that may be damaged; its weights are the original's."""
    to.mkdir()
    for file in folder.iterdir():
        if file.suffix == ".bin":
            (to / file.name).symlink_to(file)
        else:
            shutil.copyfile(file, to / file.name)
    return ModelFiles(to)


@pytest.fixture
def target(starter_pair: PairFolders, tmp_path: Path) -> ModelFiles:
    return copied(starter_pair.target_dir, tmp_path / "target")


@pytest.fixture
def draft(starter_pair: PairFolders, tmp_path: Path) -> ModelFiles:
    assert starter_pair.draft_dir is not None
    return copied(starter_pair.draft_dir, tmp_path / "draft")


def test_the_starter_pair_is_good(starter_pair: PairFolders) -> None:
    findings = check_folders(starter_pair.target_dir, starter_pair.draft_dir)
    assert verdict_of(findings) is Verdict.GOOD


@pytest.mark.parametrize("precision", ["fp16", "f32"])
async def test_the_starter_draft_is_good_in_whole_numbers_too(
    precision: str, starter_pair: PairFolders, tmp_path: Path
) -> None:
    assert starter_pair.draft_dir is not None
    whole = write_unpacked(starter_pair.draft_dir, tmp_path / "draft", precision=precision)
    findings = check_folders(starter_pair.target_dir, whole)
    assert verdict_of(findings) is Verdict.GOOD
    # The judgement is right only if the runtime accepts what it drafts.
    assert await accepted_tokens(replace(starter_pair, draft_dir=whole), tmp_path) > 0


def test_the_starter_draft_is_good_at_four_bits_too(
    starter_pair: PairFolders, tmp_path: Path
) -> None:
    packed = unpack("starter_draft_int4", tmp_path / "draft")
    assert 'element_type="u4"' in (packed / "openvino_model.xml").read_text("utf-8")
    assert verdict_of(check_folders(starter_pair.target_dir, packed)) is Verdict.GOOD


async def accepted_tokens(folders: PairFolders, tmp_path: Path) -> int:
    """Of the draft's, in a short answer on the CPU."""
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    try:
        await engine.load(folders, device="CPU")
        params = SamplingParams(max_new_tokens=32)
        asked = engine.generate(question("Count to 20."), params, assistant_tokens=3)
        *_, last = [event async for event in asked]
    finally:
        await engine.stop()
    assert isinstance(last, Finished)
    return last.stats.accepted_tokens


@pytest.mark.parametrize("code", REFUSED)
async def test_what_the_contract_blocks_the_runtime_refuses(
    code: str, target: ModelFiles, draft: ModelFiles, starter_pair: PairFolders, tmp_path: Path
) -> None:
    damage, words_of_runtime = REFUSED[code]
    damage(target, draft)
    findings = check_folders(target.folder, draft.folder)
    assert {one.code for one in findings if one.weight is Weight.BLOCK} == {code}

    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    damaged = replace(starter_pair, target_dir=target.folder, draft_dir=draft.folder)
    try:
        with pytest.raises(AppError) as raised:
            await engine.load(damaged, device="CPU")
    finally:
        await engine.stop()
    assert words_of_runtime in raised.value.problem.detail


async def test_a_mask_token_below_zero_only_warns_since_drafts_are_accepted_with_it(
    target: ModelFiles, draft: ModelFiles, starter_pair: PairFolders, tmp_path: Path
) -> None:
    mask = inspect_model(draft.folder).rt_info("dflash", "mask_token_id")
    draft.edit(f'mask_token_id value="{mask}"', 'mask_token_id value="-1"')
    findings = check_folders(target.folder, draft.folder)
    assert verdict_of(findings) is Verdict.WARNINGS

    damaged = replace(starter_pair, draft_dir=draft.folder)
    assert await accepted_tokens(damaged, tmp_path) > 0
