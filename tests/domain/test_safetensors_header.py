"""Heads of safetensors files, also of hostile ones."""

from __future__ import annotations

import io
import json
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflash_desktop.domain.safetensors_header import (
    SafetensorsError,
    StoredTensor,
    read_safetensors_header,
)


def file_with(head: object, data: bytes = b"", *, length: int | None = None) -> bytes:
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def tensors_of(data: bytes) -> tuple[StoredTensor, ...]:
    return read_safetensors_header(io.BytesIO(data).read, file_bytes=len(data))


GOOD = {"a": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}


def test_the_tensors_of_a_file() -> None:
    head = {"__metadata__": {"format": "pt"}, **GOOD}

    (tensor,) = tensors_of(file_with(head, bytes(12)))

    assert tensor == StoredTensor("a", "BF16", (2, 3))
    assert tensor.value_count == 6


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        file_with(GOOD, bytes(11)),  # cut off
        file_with(GOOD, bytes(12), length=1 << 60),
        file_with([], b""),
        file_with({"a": {"dtype": "F9", "shape": [1], "data_offsets": [0, 1]}}, b"1"),
        file_with({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, b"1234"),
        file_with({"a": {"dtype": "F32", "shape": [1 << 60], "data_offsets": [0, 4]}}, b"1234"),
        file_with({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 8]}}, bytes(8)),
        file_with({"a": {"dtype": "F32", "shape": [1], "data_offsets": [4, 0]}}, bytes(8)),
        file_with({"a": None}, b""),
        struct.pack("<Q", 3) + b"{{{",
    ],
)
def test_what_is_no_whole_file_is_refused(data: bytes) -> None:
    with pytest.raises(SafetensorsError):
        tensors_of(data)


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_bytes_are_refused_or_read(data: bytes) -> None:
    try:
        tensors_of(data)
    except SafetensorsError:
        return
