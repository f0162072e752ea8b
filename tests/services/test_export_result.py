"""Exports that ended with 0, and what became of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.export_result import check_exported
from dflash_desktop.services.model_inspection import inspect_model
from tests.fakes.exports import BARE, unpack

if TYPE_CHECKING:
    from pathlib import Path

TARGET, DRAFT = ExportRole.TARGET, ExportRole.DRAFT


def code_of(folder: Path, role: ExportRole, source: Path | None = None) -> str:
    with pytest.raises(AppError) as caught:
        check_exported(folder, role, source=source)
    return caught.value.problem.code


@pytest.mark.parametrize("name", BARE)
def test_a_target_whose_annotation_was_skipped_is_annotated_here(
    name: str, tmp_path: Path
) -> None:
    folder = unpack(name, tmp_path / name)
    (folder / "preprocessor_config.json").write_text('{"patch_size": 14}', "utf-8")

    check = check_exported(folder, TARGET, source=folder)

    assert inspect_model(folder).is_annotated()
    assert "wrote them in" in check.notes[0]


def test_a_target_whose_layers_cannot_be_told_is_no_success(tmp_path: Path) -> None:
    folder = unpack("llama", tmp_path / "llama")
    graph = folder / "openvino_model.xml"
    graph.write_text(graph.read_text("utf-8").replace("__module.model.layers", "x"), "utf-8")

    assert code_of(folder, TARGET) == "export_no_places"


def test_a_target_without_its_tokenizer_is_no_success(tmp_path: Path) -> None:
    folder = unpack("qwen3", tmp_path / "qwen3")
    (folder / "openvino_tokenizer.xml").unlink()

    assert code_of(folder, TARGET) == "export_not_right"


def test_a_draft_that_became_an_ordinary_model_is_no_success(tmp_path: Path) -> None:
    assert code_of(unpack("qwen3", tmp_path / "qwen3"), DRAFT) == "export_not_right"


def test_settings_for_sound_in_place_of_those_for_pictures(tmp_path: Path) -> None:
    folder = unpack("gemma4", tmp_path / "gemma4")
    wrong = json.dumps({"feature_extractor_type": "Gemma4AudioFeatureExtractor"})
    right = {"image_processor_type": "Gemma4ImageProcessor", "max_soft_tokens": 70}
    (folder / "preprocessor_config.json").write_text(wrong, "utf-8")
    (folder / "processor_config.json").unlink(missing_ok=True)
    source = tmp_path / "source"
    source.mkdir()

    assert code_of(folder, TARGET, source) == "export_pictures"

    (source / "processor_config.json").write_text(json.dumps({"image_processor": right}), "utf-8")
    check = check_exported(folder, TARGET, source=source)

    assert json.loads((folder / "preprocessor_config.json").read_text("utf-8")) == right
    assert check.notes


def test_a_draft_without_its_cache_is_no_success_here(tmp_path: Path) -> None:
    """From elsewhere it only warns; an export of this program never means it."""
    assert str(check_exported(unpack("draft", tmp_path / "draft"), DRAFT).verdict) == "good"
    assert code_of(unpack("draft_stateless", tmp_path / "stateless"), DRAFT) == "export_not_right"
