"""What a model folder says about itself, and what is said about it when it is not one."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.workers.model_folder import (
    ModelFolderError,
    check_draft,
    check_target,
    fingerprint,
)

if TYPE_CHECKING:
    from pathlib import Path

DRAFT_INFO = """
<dflash><mask_token_id value="16" /><target_layer_ids value="2,8,14" /></dflash>
<dflash_mode value="True" />
"""


def write_model(folder: Path, rt_info: str = "", *, is_target: bool = True) -> Path:
    folder.mkdir(parents=True)
    (folder / "openvino_model.xml").write_text(
        f'<?xml version="1.0"?><net><layers/><rt_info>{rt_info}</rt_info></net>', encoding="utf-8"
    )
    (folder / "openvino_model.bin").write_bytes(b"weights")
    if is_target:
        (folder / "openvino_tokenizer.xml").write_text("<net/>")
        (folder / "openvino_detokenizer.xml").write_text("<net/>")
    return folder


def write_config(folder: Path, config: object) -> None:
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")


@pytest.mark.parametrize(
    ("config", "expected"),
    [({"max_position_embeddings": 8192}, 8192),
     ({"text_config": {"max_position_embeddings": 32768}}, 32768),
     ({"max_position_embeddings": "many"}, None), ({"max_position_embeddings": True}, None),
     ({"max_position_embeddings": -1}, None), ([], None), (None, None)],
)  # fmt: skip
def test_the_context_length_is_read_or_unknown(
    tmp_path: Path, config: object, expected: int | None
) -> None:
    target = write_model(tmp_path / "Qwen3.5-9B int4 ü")  # a dot, a space, a letter (case 48)
    write_config(target, config)
    assert check_target(target).context_tokens == expected


def test_a_folder_without_config_is_still_a_model(tmp_path: Path) -> None:
    assert check_target(write_model(tmp_path / "m")).context_tokens is None


@pytest.mark.parametrize(
    "name",
    ["openvino_model.xml", "openvino_model.bin", "openvino_tokenizer.xml",
     "openvino_detokenizer.xml"],
)  # fmt: skip
def test_each_missing_or_empty_file_is_named(tmp_path: Path, name: str) -> None:
    target = write_model(tmp_path / "m")
    (target / name).write_bytes(b"")
    with pytest.raises(ModelFolderError, match=name) as empty:
        check_target(target)
    assert empty.value.code == "model_broken"
    (target / name).unlink()
    with pytest.raises(ModelFolderError, match=name) as missing:
        check_target(target)
    assert missing.value.code == "model_missing"


def test_a_draft_tells_its_block_layers_and_mask(tmp_path: Path) -> None:
    draft = write_model(tmp_path / "d", DRAFT_INFO, is_target=False)
    write_config(draft, {"block_size": 8})
    facts = check_draft(draft)
    assert (facts.block_size, facts.target_layer_ids, facts.mask_token_id) == (8, (2, 8, 14), 16)


def test_a_draft_without_a_block_size_gets_the_runtimes_own(tmp_path: Path) -> None:
    assert check_draft(write_model(tmp_path / "d", DRAFT_INFO, is_target=False)).block_size == 6


@pytest.mark.parametrize(
    ("removed", "code"),
    [('<dflash_mode value="True" />', "draft_not_dflash"),
     ('<mask_token_id value="16" />', "draft_broken"),
     ('<target_layer_ids value="2,8,14" />', "draft_broken")],
)  # fmt: skip
def test_missing_draft_metadata_is_found_before_loading(
    tmp_path: Path, removed: str, code: str
) -> None:
    draft = write_model(tmp_path / "d", DRAFT_INFO.replace(removed, ""), is_target=False)
    with pytest.raises(ModelFolderError) as error:
        check_draft(draft)
    assert error.value.code == code


def test_a_target_is_not_a_draft(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError) as error:
        check_draft(write_model(tmp_path / "t"))
    assert error.value.code == "draft_not_dflash"


def test_a_draft_that_is_cut_off_is_damaged_and_no_other_kind_of_model(tmp_path: Path) -> None:
    draft = write_model(tmp_path / "d", DRAFT_INFO, is_target=False)
    graph = draft / "openvino_model.xml"
    graph.write_bytes(graph.read_bytes().partition(b"<rt_info>")[0])
    with pytest.raises(ModelFolderError) as error:
        check_draft(draft)
    assert error.value.code == "draft_broken"


def test_another_export_has_another_fingerprint(tmp_path: Path) -> None:
    one, two = write_model(tmp_path / "1"), write_model(tmp_path / "2")
    assert fingerprint(one, None) == fingerprint(two, None)
    (two / "openvino_model.bin").write_bytes(b"other weights")
    assert fingerprint(one, None) != fingerprint(two, None)
    assert fingerprint(one, one) != fingerprint(one, None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows keeps no pipes in folders")
@pytest.mark.timeout(10)
def test_a_pipe_that_is_called_like_a_graph_is_not_waited_for(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "1")
    (folder / "openvino_model.xml").unlink()
    os.mkfifo(folder / "openvino_model.xml")
    with pytest.raises(OSError, match="no ordinary file"):
        fingerprint(folder, None)
