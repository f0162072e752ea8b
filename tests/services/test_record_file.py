"""A record on the disk: nothing private in it, and nothing read that was not written so."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.reproducibility import RecordedFinding
from dflash_desktop.services.diagnostics import PrivateFacts
from dflash_desktop.services.record_file import (
    decode_record,
    encode_record,
    read_record,
    write_record,
)
from tests.domain.records import record

if TYPE_CHECKING:
    from collections.abc import Callable

NOBODY = PrivateFacts(Path("/home/nobody-here"), "nobody-here", "no-host")
JANE = PrivateFacts(Path("/home/jane"), "jane", "janes-laptop")
DATA = encode_record(record(), NOBODY)


def test_what_was_written_is_read_back() -> None:
    assert decode_record(DATA) == record()


def test_nothing_private_is_written() -> None:
    found = "not /home/jane/models/secret-project/openvino_model.xml on janes-laptop"
    finding = RecordedFinding("x", "warn", "target", "jane@example.org", found, r"C:\Users\jane\m")
    made_from = {"files": "/mnt/jane/x.gguf", "token": "hf_abcdefghijklmnopqrstuvwxyz"}
    target, draft = record().models
    target = replace(target, name="/srv/models/target", made_from=made_from)
    private = replace(record(), models=(target, draft), findings=(finding,))
    text = encode_record(private, JANE).decode()
    for word in ("jane", "/home", "secret-project", "/srv", "/mnt", "C:", "hf_abc"):
        assert word not in text
    assert decode_record(text.encode()).models[0].name == "target"


def test_what_is_public_stays_also_for_its_owner() -> None:
    owner = PrivateFacts(Path("/home/owner"), "owner", "c" * 40)
    kept = decode_record(encode_record(record(), owner))
    assert kept.models[0].repo_id == "owner/target"
    assert kept.models[0].commit == "c" * 40


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    plain = json.loads(DATA)
    change(plain)
    return json.dumps(plain).encode()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"null",
        b"[" * 100_000,
        DATA[:-20],
        changed(lambda plain: plain.update(record_version=2)),
        changed(lambda plain: plain.update(surprise=1)),
        changed(lambda plain: plain["models"][0].update(surprise=1)),
        changed(lambda plain: plain["machine"]["devices"][0].update(path="/x")),
        changed(lambda plain: plain.pop("commands")),
        changed(lambda plain: plain.update(verdict=3)),
        changed(lambda plain: plain.update(made_at="yesterday")),
        changed(lambda plain: plain["measurements"][0].update(chosen_speedup="fast")),
        DATA.replace(b"2.5", b"NaN"),
    ],
)
def test_anything_else_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises((msgspec.MsgspecError, RecursionError)):
        decode_record(data)
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(AppError) as caught:
        read_record(tmp_path / "x.json")
    assert caught.value.problem.code == "record_unreadable"


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_record_is_read_or_refused(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(DATA)))
    end = data.draw(st.integers(start, min(len(DATA), start + 40)))
    piece = data.draw(
        st.binary(max_size=10) | st.sampled_from([b"{", b"[", b'"', b"null", b"1e9"])
    )
    with contextlib.suppress(msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        decode_record(DATA[:start] + piece + DATA[end:])


def test_only_an_earlier_record_is_replaced(tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    assert write_record(mine, record(), NOBODY) == record()
    assert write_record(mine, replace(record(), verdict="good"), NOBODY).verdict == "good"
    mine.write_text('{"name": "somebody else\'s"}', encoding="utf-8")
    with pytest.raises(AppError) as caught:
        write_record(mine, record(), NOBODY)
    assert caught.value.problem.code == "output_taken"
    assert "somebody" in mine.read_text("utf-8")
