"""Each way to damage a pair is found by its own code, and nothing else is blamed for it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.pair_contract import (
    Subject,
    Verdict,
    Weight,
    check_contract,
    check_rules,
    verdict_of,
)
from dflash_desktop.services.model_inspection import check_folders, inspect_model
from dflash_desktop.services.repair import ModelRepair
from tests.fakes.damaged_pairs import BLOCKING, WARNING, make_vision, strip_locators
from tests.fakes.ir_models import ModelFiles, locators, write_draft, write_target

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair_contract import Finding

RUNTIME = "2026.4.1.0"
GOOD = {
    ("target_kind", Weight.INFO),
    ("draft_kind", Weight.INFO),
    ("pair_unverified", Weight.INFO),
}


@dataclass(frozen=True)
class Pair:
    target: ModelFiles
    draft: ModelFiles

    def findings(self, runtime: str | None = RUNTIME) -> tuple[Finding, ...]:
        target, draft = inspect_model(self.target.folder), inspect_model(self.draft.folder)
        return check_contract(target, draft, runtime=runtime)


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(write_target(tmp_path / "target"), write_draft(tmp_path / "draft"))


def codes(findings: tuple[Finding, ...]) -> set[tuple[str, Weight]]:
    return {(finding.code, finding.weight) for finding in findings}


@pytest.mark.parametrize("name", BLOCKING)
def test_what_cannot_work_is_blocked_by_its_code_alone(pair: Pair, name: str) -> None:
    code, damage = BLOCKING[name]
    damage(pair.target, pair.draft)
    findings = pair.findings()
    assert {c for c, weight in codes(findings) if weight is Weight.BLOCK} == {code}
    blocking = findings[0]
    assert blocking.expected
    assert blocking.found
    assert blocking.remedy


@pytest.mark.parametrize(
    "name",
    [
        "target layer 48",
        "first layer beyond the last",
        "two of three layers",
        "four layers instead of three",
        "mask token of a large vocabulary",
    ],
)
def test_what_a_repair_mends_comes_first_and_nobody_is_sent_to_another_draft(
    pair: Pair, name: str
) -> None:
    code, damage = BLOCKING[name]
    damage(pair.target, pair.draft)
    cause, consequence, *facts = pair.findings()
    assert (cause.code, cause.weight) == ("draft_metadata_differs", Weight.WARN)
    assert (consequence.code, consequence.weight) == (code, Weight.BLOCK)
    assert cause.is_repairable
    assert consequence.is_repairable
    assert all(fact.weight is Weight.INFO for fact in facts)

    ModelRepair(added_dir=pair.target.folder.parent / "added").repair(
        pair.target.folder, pair.draft.folder
    )
    assert verdict_of(pair.findings()) is Verdict.GOOD


def test_what_the_repair_leaves_keeps_its_own_advice(pair: Pair) -> None:
    """A draft of a deeper target, of which another entry is wrong as well."""
    pair.draft.configure(dflash_config={"mask_token_id": 3, "target_layer_ids": [1, 2, 48]})
    pair.draft.edit("1,2,3", "1,2,48")
    pair.draft.edit('id value="3"', 'id value="4"')
    outside, differs = pair.findings()[:2]
    assert (outside.code, differs.code) == ("target_layer_outside", "draft_metadata_differs")
    assert "another" not in outside.remedy
    assert "Choose the draft" in outside.remedy
    assert differs.is_repairable


def test_a_damaged_entry_of_the_target_does_not_make_it_look_shallow(pair: Pair) -> None:
    """Without config.json the number of layers is told by the entry that is damaged."""
    pair.target.remove("config.json")
    gone = {"producer": "gone", "output_index": 0}
    pair.target.annotate({"layers": {"0": locators()["0"], "1": gone}})
    blocking = [one for one in pair.findings() if one.weight is Weight.BLOCK]
    assert [one.code for one in blocking] == ["locator_producer_missing", "target_layer_outside"]
    assert all(one.is_repairable for one in blocking)


@pytest.mark.parametrize("name", WARNING)
def test_what_is_doubtful_warns_and_blocks_nothing(pair: Pair, name: str) -> None:
    code, damage = WARNING[name]
    damage(pair.target, pair.draft)
    findings = pair.findings()
    assert verdict_of(findings) is Verdict.WARNINGS
    assert {c for c, weight in codes(findings) if weight is Weight.WARN} == {code}


def test_a_good_pair_is_good(pair: Pair) -> None:
    assert codes(pair.findings()) == GOOD
    assert verdict_of(pair.findings()) is Verdict.GOOD


def test_what_holds_is_listed_once_each_and_what_does_not_is_not(pair: Pair) -> None:
    target, draft = inspect_model(pair.target.folder), inspect_model(pair.draft.folder)
    passed = check_rules(target, draft, runtime=RUNTIME).passed
    assert len(set(passed)) == len(passed) > 30
    strip_locators(pair.target)
    target = inspect_model(pair.target.folder)
    left = check_rules(target, draft, runtime=RUNTIME).passed
    assert [rule.words for rule in passed if rule not in left] == [
        "The draft can find the target's layers"
    ]


def test_nothing_is_said_to_hold_of_a_graph_that_cannot_be_read(pair: Pair) -> None:
    pair.draft.cut("openvino_model.xml", 900)
    target, draft = inspect_model(pair.target.folder), inspect_model(pair.draft.folder)
    passed = check_rules(target, draft, runtime=RUNTIME).passed
    assert {rule.subject for rule in passed} == {Subject.TARGET}


def test_a_remedy_names_no_command(pair: Pair) -> None:
    for _, damage in (*BLOCKING.values(), *WARNING.values()):
        damage(pair.target, pair.draft)
        assert not any("dflash-desktop" in one.remedy for one in pair.findings())
        for folder in (pair.target.folder, pair.draft.folder):
            shutil.rmtree(folder)
        write_target(pair.target.folder)
        write_draft(pair.draft.folder)


def test_a_target_alone_is_judged_without_a_draft(pair: Pair) -> None:
    assert codes(check_folders(pair.target.folder, None)) == {("target_kind", Weight.INFO)}
    pair.target.annotate("{")
    alone = codes(check_folders(pair.target.folder, None))
    assert ("locators_invalid", Weight.WARN) in alone
    assert ("draft_as_target", Weight.BLOCK) in codes(check_folders(pair.draft.folder, None))


def test_a_vision_pair_is_good(pair: Pair) -> None:
    make_vision(pair.target)
    assert codes(pair.findings()) == GOOD


def test_layers_may_be_written_with_spaces_as_the_runtime_allows(pair: Pair) -> None:
    pair.draft.edit("1,2,3", " 1, 2 ,,+3")
    assert codes(pair.findings()) == GOOD


def test_without_a_config_the_locators_still_tell_the_last_layer(pair: Pair) -> None:
    pair.target.remove("config.json")
    pair.draft.edit("1,2,3", "1,2,48")
    blocking = [finding for finding in pair.findings() if finding.weight is Weight.BLOCK]
    assert [(finding.code, finding.expected) for finding in blocking] == [
        ("target_layer_outside", "layers 0 to 5")
    ]


def test_a_hybrid_target_without_locators_warns_even_without_a_draft(pair: Pair) -> None:
    strip_locators(pair.target)
    assert codes(check_folders(pair.target.folder, None)) == {("target_kind", Weight.INFO)}
    pair.target.configure(layer_types=["linear_attention"] * 3 + ["full_attention"] * 3)
    (finding, _) = check_folders(pair.target.folder, None)
    assert finding.code == "locators_missing"
    assert "wrongly" in finding.found


@pytest.mark.parametrize(
    ("ours", "warns"), [("2026.4.1.0", True), ("2026.5.0.dev20261028", False), (None, False)]
)
def test_markov_heads_need_a_newer_runtime(pair: Pair, ours: str | None, warns: bool) -> None:
    pair.draft.write("openvino_markov_head_model.xml", "<net/>")
    pair.draft.write("openvino_markov_head_model.bin", "")
    findings = pair.findings(ours)
    assert ("runtime_too_old_for_draft" in {finding.code for finding in findings}) == warns
    kind = next(finding.found for finding in findings if finding.code == "draft_kind")
    assert kind == "a DSpark draft, with a Markov head"


def test_half_a_markov_head_is_named(pair: Pair) -> None:
    pair.draft.write("openvino_markov_head_model.xml", "<net/>")
    assert ("markov_head_incomplete", Weight.WARN) in codes(pair.findings("2026.5.0"))


def test_cards_prove_or_disprove_a_pair(pair: Pair) -> None:
    pair.draft.write("README.md", "---\nlicense: mit\nbase_model: Qwen/Qwen3-4B\n---\n# x\n")
    pair.target.write("README.md", "---\nbase_model:\n- Qwen/Qwen3-4B\ntags:\n- x\n---\n")
    assert "pair_unverified" not in {finding.code for finding in pair.findings()}
    pair.target.write("README.md", "---\nbase_model: [someone/Qwen3-4B-abliterated]\n---\n")
    assert ("base_model_differs", Weight.WARN) in codes(pair.findings())


def test_what_helps_to_understand_is_noted(pair: Pair) -> None:
    pair.target.write("openvino_mtp_model.xml", "<net/>")
    pair.draft.configure(auto_map={"AutoModel": "/home/someone/modeling.py"}, block_size=None)
    noted = {"mtp_and_draft", "draft_own_code", "block_size_missing"}
    assert codes(pair.findings()) == GOOD | {(code, Weight.INFO) for code in noted}
    target_kind = next(f.found for f in pair.findings() if f.code == "target_kind")
    assert target_kind.endswith("annotated for drafts, with an MTP head")
