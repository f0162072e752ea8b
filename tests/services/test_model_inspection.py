"""Folders of strangers: whatever lies in them, reading it ends, and in facts."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflash_desktop.domain.model_facts import parse_integer, parse_layer_ids, parse_version
from dflash_desktop.domain.pair_contract import Verdict, check_contract, verdict_of
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.model_inspection import (
    check_folders,
    inspect_model,
    installed_runtime,
)
from tests.fakes.ir_models import VOCABULARY, write_draft, write_target

WEIGHT_BYTES = 13_000_000_000
KEYS = st.sampled_from(
    ["architectures", "text_config", "hidden_size", "num_hidden_layers", "layer_types",
     "vocab_size", "eos_token_id", "pad_token_id", "dflash_config", "block_size", "layers", "0",
     "producer", "output_index"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
JSON = st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner))


@given(config=st.dictionaries(KEYS, JSON) | JSON, annotation=st.dictionaries(KEYS, JSON) | JSON)
@settings(max_examples=60, deadline=None)
def test_any_json_in_place_of_what_is_expected_ends_in_findings(
    config: object, annotation: object
) -> None:
    with tempfile.TemporaryDirectory() as name:
        target, draft = write_target(Path(name) / "t"), write_draft(Path(name) / "d")
        target.write("config.json", json.dumps(config))
        draft.write("config.json", json.dumps(config))
        target.annotate(annotation)
        models = inspect_model(target.folder), inspect_model(draft.folder)
    assert check_contract(*models, runtime="2026.4.1")


@given(st.binary(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_bytes_in_place_of_text_end_in_findings(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = write_target(Path(name) / "t").folder
        for file in ("config.json", "README.md", "openvino_detokenizer.xml"):
            (folder / file).write_bytes(data)
        model = inspect_model(folder)
    assert check_contract(model, None, runtime="2026.4.1")


def test_the_tokenizer_tells_its_vocabulary_and_special_tokens(tmp_path: Path) -> None:
    tokenizer = inspect_model(write_target(tmp_path / "t").folder).tokenizer
    assert tokenizer is not None
    assert tokenizer.vocabulary == VOCABULARY
    assert (tokenizer.eos_token_id, tokenizer.pad_token_id) == (1, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pipes in folders")
def test_a_pipe_called_like_a_model_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "openvino_model.xml")
    assert inspect_model(tmp_path).file_sizes == {}


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(AppError) as raised:
        inspect_model(tmp_path / "gone")
    assert raised.value.problem.code == "folder_unreadable"


def test_the_runtimes_version_is_known_without_loading_it() -> None:
    assert parse_version(installed_runtime() or "") is not None


@pytest.mark.parametrize(
    ("text", "ids"),
    [("1,2,3", (1, 2, 3)), (" 1, 2 ,", (1, 2)), ("", ()), ("-1,+2", (-1, 2)), ("1 2", None),
     ("1;2", None), ("0x1", None), ("1.5", None), ("2147483648", None), ("²", None)],
)  # fmt: skip
def test_layers_are_read_as_the_runtime_reads_them(text: str, ids: tuple[int, ...] | None) -> None:
    assert parse_layer_ids(text) == ids


@pytest.mark.parametrize(
    ("text", "value"),
    [("16", 16), (" -1", -1), ("16abc", 16), ("", None), ("abc", None), ("9" * 40, None)],
)
def test_a_mask_token_is_read_as_the_runtime_reads_it(text: str, value: int | None) -> None:
    assert parse_integer(text) == value


@pytest.mark.skipif(sys.platform == "win32", reason="Windows would write all the zeros")
def test_a_64_layer_model_of_13_gb_takes_less_than_two_seconds(tmp_path: Path) -> None:
    files = write_target(tmp_path / "t", layers=64, constants_per_layer=250)
    files.edit('offset="0" size="64"', f'offset="{WEIGHT_BYTES - 64}" size="64"')
    weights = tmp_path / "t" / "openvino_model.bin"
    os.truncate(weights, WEIGHT_BYTES)
    started = time.process_time()
    assert verdict_of(check_folders(tmp_path / "t", None)) is Verdict.GOOD
    assert time.process_time() - started < 2.0
    os.truncate(weights, WEIGHT_BYTES - 1)
    assert check_folders(tmp_path / "t", None)[0].code == "target_weights_short"


def test_a_template_beside_the_tokenizer_is_not_the_one_in_use(tmp_path: Path) -> None:
    target = write_target(tmp_path / "target")
    entry = '<chat_template value="{{ a }}&#10;"/>'
    target.edit("\t</rt_info>", f"{entry}\t</rt_info>", file="openvino_tokenizer.xml")
    assert not inspect_model(target.folder).has_other_template
    target.write("chat_template.jinja", "{{ a }}")
    assert not inspect_model(target.folder).has_other_template
    target.write("chat_template.jinja", "{{ b }}")
    assert inspect_model(target.folder).has_other_template
    codes = {finding.code for finding in check_folders(target.folder, None)}
    assert "chat_template_unused" in codes


@pytest.mark.parametrize(
    ("config", "window"),
    [
        ({"sliding_window": 1024, "use_sliding_window": False}, None),
        ({"sliding_window": 1024, "use_sliding_window": True}, 1024),
        ({"sliding_window": 512, "layer_types": ["sliding_attention"]}, 512),
        ({"sliding_window": None, "use_sliding_window": True}, None),
    ],
)
def test_how_far_a_draft_looks_back(
    tmp_path: Path, config: dict[str, object], window: int | None
) -> None:
    draft = write_draft(tmp_path / "draft")
    draft.configure(**config)
    assert inspect_model(draft.folder).config.window_tokens == window


@pytest.mark.parametrize("field", ["num_hidden_layers", "num_target_layers", "hidden_size"])
def test_numbers_that_no_model_has_keep_nobody_busy(tmp_path: Path, field: str) -> None:
    target, draft = write_target(tmp_path / "target"), write_draft(tmp_path / "draft")
    target.configure(**{field: 2**62})
    draft.configure(**{field: 2**62})
    started = time.process_time()
    assert check_folders(target.folder, draft.folder)
    assert time.process_time() - started < 1.0
