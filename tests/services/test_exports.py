"""Real exports keep the contract, and their layers are found as the exporter itself marks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.layer_outputs import find_layer_outputs
from dflash_desktop.domain.locators import ANNOTATION, parse_locators
from dflash_desktop.domain.model_facts import ModelKind
from dflash_desktop.domain.pair_contract import Weight
from dflash_desktop.services.model_inspection import check_folders, inspect_model
from tests.fakes.exports import ANNOTATED, BARE, unpack

if TYPE_CHECKING:
    from pathlib import Path

HONEST_WARNINGS = {
    # The draft was made for 6 layers of one kind.
    "qwen3_5": {"target_depth_differs", "layer_types_mixed"},
    "qwen3_5_mtp": {"target_depth_differs", "layer_types_mixed"},
    "gemma4": {"layer_types_mixed"},
    **{key: {"locators_missing"} for key in BARE},
}


@pytest.mark.parametrize("name", [*ANNOTATED, *BARE])
def test_no_real_export_is_blocked(name: str, tmp_path: Path) -> None:
    target, draft = unpack(name, tmp_path / "target"), unpack("draft", tmp_path / "draft")
    findings = check_folders(target, draft)
    found = {one.code for one in findings if one.weight is not Weight.INFO}
    assert found == HONEST_WARNINGS.get(name, set())
    assert not any(one.weight is Weight.BLOCK for one in findings)


def test_a_stateless_draft_warns_and_is_not_blocked(tmp_path: Path) -> None:
    target = unpack("qwen3", tmp_path / "target")
    draft = unpack("draft_stateless", tmp_path / "draft")
    findings = check_folders(target, draft)
    assert {one.code for one in findings if one.weight is Weight.WARN} == {"draft_stateless"}
    assert not any(one.weight is Weight.BLOCK for one in findings)


@pytest.mark.parametrize("name", ANNOTATED)
def test_the_layers_are_found_exactly_as_the_exporter_marks_them(
    name: str, tmp_path: Path
) -> None:
    target = inspect_model(unpack(name, tmp_path / "target"))
    assert target.graph is not None
    found = find_layer_outputs(target.graph, hidden_size=128)
    assert parse_locators(target.rt_info(ANNOTATION) or "") == dict(enumerate(found))


@pytest.mark.parametrize("name", BARE)
def test_layers_that_the_exporter_does_not_mark_are_found(name: str, tmp_path: Path) -> None:
    target = inspect_model(unpack(name, tmp_path / "target"))
    assert target.graph is not None
    found = find_layer_outputs(target.graph, hidden_size=128, layer_count=6)
    assert [locator.producer.rpartition("/")[2] for locator in found[:-1]] == ["Add_1"] * 5


@pytest.mark.parametrize(
    ("name", "kind"),
    [("qwen3", ModelKind.TEXT), ("gemma4", ModelKind.VISION), ("draft", ModelKind.DFLASH)],
)
def test_the_kind_is_named(name: str, kind: ModelKind, tmp_path: Path) -> None:
    assert inspect_model(unpack(name, tmp_path / "model")).kind() is kind
