from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflash_desktop.domain.library import FileDifference, ModelFile
from dflash_desktop.services.model_manifest import (
    ModelRecord,
    StoredCondition,
    decode_record,
    encode_record,
    read_condition,
    read_last_use,
    read_record,
    write_condition,
    write_last_use,
    write_record,
)
from tests.fakes.library_world import NOW, arrive

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def record(tmp_path: Path) -> ModelRecord:
    return ModelRecord("owner/name", "A name", arrive(tmp_path / "in").manifest())


def test_a_record_is_read_as_it_was_written(record: ModelRecord, tmp_path: Path) -> None:
    write_record(tmp_path, record)
    assert read_record(tmp_path) == record


def test_a_password_in_the_address_is_not_kept(record: ModelRecord) -> None:
    endpoint = "https://anna:hf_secret@mirror.example:8443/hub?token=hf_secret#hf_secret"
    data = encode_record(replace(record, manifest=replace(record.manifest, endpoint=endpoint)))
    assert b"hf_secret" not in data
    assert decode_record(data).manifest.endpoint == "https://mirror.example:8443/hub"


def hostile(**changes: object) -> dict[str, object]:
    file = {"path": "a.bin", "size_bytes": 1, "sha256": "0" * 64}
    good: dict[str, object] = {
        "version": 1,
        "id": "o/n",
        "title": "n",
        "repo_id": "o/n",
        "commit": "a" * 40,
        "endpoint": "https://h",
        "role": "target",
        "precision": "",
        "installed_at": "2026-11-29T12:00:00Z",
        "verified_at": None,
        "files": [file],
    }
    for name, value in changes.items():
        if name in file:
            good["files"] = [{**file, name: value}]
        else:
            good[name] = value
    return good


def test_the_form_that_the_hostile_ones_change_is_itself_accepted() -> None:
    assert decode_record(msgspec.json.encode(hostile())).id == "o/n"


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"version": "1"},
        {"surprise": 1},
        {"id": ""},
        {"id": "x" * 300},
        {"commit": "main"},
        {"role": "king"},
        {"installed_at": "2026-11-29T12:00:00"},  # of which zone?
        {"installed_at": 0},
        {"files": []},
        {"files": [{"path": "a", "size_bytes": 1, "sha256": "0" * 64}] * 2},
        {"path": "../a"},
        {"path": "/a"},
        {"path": "C:\\a"},
        {"path": ".dflash/manifest.json"},
        {"path": "nul"},
        {"size_bytes": -1},
        {"size_bytes": 1.5},
        {"size_bytes": 1 << 60},
        {"sha256": ""},
        {"sha256": "0" * 63},
        {"sha256": "G" * 64},
    ],
    ids=str,
)
def test_a_hostile_manifest_is_no_manifest(changes: dict[str, object], tmp_path: Path) -> None:
    data = msgspec.json.encode(hostile(**changes))
    with pytest.raises(msgspec.MsgspecError):
        decode_record(data)
    (tmp_path / "manifest.json").write_bytes(data)
    assert read_record(tmp_path) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"version":1,"x":"' + b"a" * (9 << 20),
    ],
    ids=["empty", "half", "list", "null", "no text", "deep", "huge"],
)
def test_what_is_no_json_object_of_ours_is_no_manifest(data: bytes, tmp_path: Path) -> None:
    for name in ("manifest.json", "condition.json", "used.json"):
        (tmp_path / name).write_bytes(data)
    assert read_record(tmp_path) is None
    assert read_condition(tmp_path) is None
    assert read_last_use(tmp_path) is None


def test_an_unsafe_record_is_never_written(record: ModelRecord, tmp_path: Path) -> None:
    files = (ModelFile("../x", 1, "0" * 64),)
    with pytest.raises(msgspec.MsgspecError):
        write_record(
            tmp_path / "r", replace(record, manifest=replace(record.manifest, files=files))
        )
    assert not (tmp_path / "r").exists()


def test_faults_are_kept_before_what_is_merely_extra(tmp_path: Path) -> None:
    extras = [FileDifference(f"extra{number}", "extra") for number in range(5000)]
    bad = FileDifference("openvino_model.bin", "bytes")
    write_condition(tmp_path, StoredCondition(NOW, (*extras, bad)))
    kept = read_condition(tmp_path)
    assert kept is not None
    assert kept.differences[0] == bad
    assert not kept.is_whole


def test_the_last_use_is_kept(tmp_path: Path) -> None:
    write_last_use(tmp_path, NOW)
    write_last_use(tmp_path, NOW + timedelta(hours=1))
    assert read_last_use(tmp_path) == NOW + timedelta(hours=1)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner),
        max_leaves=12,
    ),
    st.sampled_from(sorted(hostile())),
)
def test_any_value_in_place_of_the_right_one_is_refused_or_safe(value: object, name: str) -> None:
    data = json.dumps(hostile() | {name: value}).encode()
    try:
        record = decode_record(data)
    except ValueError:  # msgspec's own errors are such
        return
    assert record.id
    assert all(file.sha256 for file in record.manifest.files) or record.folder


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_no_accepted_name_leaves_its_folder(names: list[str]) -> None:
    files = [{"path": name, "size_bytes": 0, "sha256": "0" * 64} for name in names]
    try:
        record = decode_record(json.dumps(hostile(files=files)).encode())
    except ValueError:
        return
    for file in record.manifest.files:
        assert (PurePosixPath("/m") / file.path).is_relative_to("/m")
        assert PureWindowsPath("C:/m", file.path).is_relative_to("C:/m")
        assert ".." not in file.path.split("/")
