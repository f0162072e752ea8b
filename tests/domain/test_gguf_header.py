"""A GGUF file is refused for whatever could lead native code astray, in words and in time."""

from __future__ import annotations

import io
import struct
import time
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_header import GgufHeader, read_gguf_header
from dflash_desktop.domain.gguf_model import GgufModel, gguf_model
from tests.fakes.gguf_files import (
    ARRAY,
    BF16,
    F16,
    F32,
    FLOAT32,
    INT32,
    LAYERS,
    Q4_0,
    Q4_K,
    Q6_K,
    Q8_0,
    STRING,
    UINT16,
    UINT32,
    UINT64,
    GgufText,
    small_gguf,
)

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT_SECONDS = 2.0


def header(data: bytes, *, size: int | None = None) -> GgufHeader:
    return read_gguf_header(io.BytesIO(data).read, file_bytes=len(data) if size is None else size)


def model(file: GgufText) -> GgufModel:
    return gguf_model(header(file.data()))


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("version", [2, 3])
def test_a_good_file_is_read(architecture: str, version: int) -> None:
    file = small_gguf(architecture)
    file.version = version
    read = header(file.data())
    assert read.tensors.keys() == file.tensors.keys()
    assert read.tensors_at == len(file.header())
    found = gguf_model(read)
    assert (found.architecture, found.layer_count) == (architecture, LAYERS)
    assert found.vocabulary == file.tensors["token_embd.weight"][0][1]
    assert found.eos_token_id == 2
    assert found.precision == "int8"
    assert not found.notes


def test_it_makes_no_difference_how_the_bytes_arrive() -> None:
    data = small_gguf().data()
    stream = io.BytesIO(data)
    drop_by_drop = read_gguf_header(lambda count: stream.read(min(count, 7)), file_bytes=len(data))
    assert drop_by_drop == header(data)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "gguf_not_gguf"),
        (b"GG", "gguf_not_gguf"),
        (b"<!DOCTYPE html><html>", "gguf_not_gguf"),
        (b"GGUF", "gguf_cut"),
        (b"GGUF" + struct.pack("<I", 1), "gguf_version"),
        (b"GGUF" + struct.pack(">I", 3), "gguf_version"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 0), "gguf_damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1 << 60), "gguf_damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1, 0), "gguf_cut"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 63), "gguf_damaged"),
    ],
)
def test_what_is_no_gguf_file_is_refused(data: bytes, code: str) -> None:
    with pytest.raises(GgufError) as caught:
        header(data)
    assert caught.value.code == code


def with_entry(key: str, kind: int, value: object) -> Callable[[GgufText], None]:
    return lambda file: file.metadata.update({key: (kind, value)})


def without(key: str) -> Callable[[GgufText], object]:
    return lambda file: file.metadata.pop(key, None) or file.tensors.pop(key)


def with_tensor(name: str, shape: tuple[int, ...], kind: int) -> Callable[[GgufText], None]:
    return lambda file: file.tensors.update({name: (shape, kind)})


def change(**fields: object) -> Callable[[GgufText], None]:
    def apply(file: GgufText) -> None:
        for name, value in fields.items():
            setattr(file, name, value)

    return apply


TOKENS = "tokenizer.ggml.tokens"
GATE = "blk.0.ffn_gate.weight"
DAMAGES: dict[str, tuple[str, Callable[[GgufText], object]]] = {
    "cut in the last tensor": ("gguf_cut", change(cut_bytes=40)),
    "cut in the head": ("gguf_cut", change(cut_bytes=139_000)),
    "a tensor beyond the end": ("gguf_cut", change(offsets={GATE: 1 << 40})),
    "a tensor at the end of all numbers": (
        "gguf_cut",
        change(offsets={GATE: (1 << 64) - 32}),
    ),
    "two tensors in one place": ("gguf_damaged", change(offsets={GATE: 0})),
    "a tensor that is not aligned": ("gguf_damaged", change(offsets={GATE: 17})),
    "more tensors than there are": ("gguf_damaged", change(tensor_count=40)),
    "an alignment of 3": ("gguf_damaged", with_entry("general.alignment", UINT32, 3)),
    "an alignment of nothing": ("gguf_damaged", with_entry("general.alignment", UINT32, 0)),
    "an alignment in words": ("gguf_damaged", with_entry("general.alignment", STRING, "32")),
    "a tensor without dimensions": ("gguf_damaged", with_tensor(GATE, (), Q8_0)),
    "a tensor of nine dimensions": ("gguf_damaged", with_tensor(GATE, (32,) * 9, Q8_0)),
    "an empty tensor": ("gguf_damaged", with_tensor(GATE, (0, 64), Q8_0)),
    "a shape that overflows": ("gguf_damaged", with_tensor(GATE, (1 << 63, 2, 2), F16)),
    "rows that are no whole blocks": ("gguf_damaged", with_tensor(GATE, (65, 2), Q8_0)),
    "an unknown tensor type": ("gguf_damaged", with_tensor(GATE, (64, 128), 77)),
    "a type that was taken back": ("gguf_damaged", with_tensor(GATE, (64, 128), 4)),
    "a gate of the wrong size": ("gguf_damaged", with_tensor(GATE, (64, 96), Q8_0)),
    "a flat matrix": ("gguf_damaged", with_tensor(GATE, (64 * 128,), Q8_0)),
    "weights that GenAI does not unpack": (
        "gguf_quantization",
        with_tensor(GATE, (64, 128), BF16),
    ),
    "weights in f32": ("gguf_quantization", with_tensor(GATE, (64, 128), F32)),
    "no gate": ("gguf_incomplete", without(GATE)),
    "no embeddings": ("gguf_incomplete", without("token_embd.weight")),
    "no architecture": ("gguf_incomplete", without("general.architecture")),
    "another architecture": (
        "gguf_architecture",
        with_entry("general.architecture", STRING, "gemma3"),
    ),
    "an architecture in numbers": (
        "gguf_incomplete",
        with_entry("general.architecture", UINT32, 1),
    ),
    "experts": ("gguf_architecture", with_entry("llama.expert_count", UINT32, 8)),
    "no layers": ("gguf_damaged", with_entry("llama.block_count", UINT32, 0)),
    "a billion layers": ("gguf_damaged", with_entry("llama.block_count", UINT32, 1 << 30)),
    "layers in 64 bits, which GenAI reads wrongly": (
        "gguf_incomplete",
        with_entry("llama.block_count", UINT64, 3),
    ),
    "a list of heads": (
        "gguf_incomplete",
        with_entry("llama.attention.head_count", ARRAY, (UINT32, [4, 4, 4])),
    ),
    "no heads": ("gguf_damaged", with_entry("llama.attention.head_count", UINT32, 0)),
    "no file type": ("gguf_incomplete", without("general.file_type")),
    "quantized, and calls itself plain": (
        "gguf_damaged",
        with_entry("general.file_type", UINT32, 1),
    ),
    "SentencePiece": ("gguf_tokenizer", with_entry("tokenizer.ggml.model", STRING, "llama")),
    "no tokens": ("gguf_incomplete", without(TOKENS)),
    "fewer token types than tokens": (
        "gguf_damaged",
        with_entry("tokenizer.ggml.token_type", ARRAY, (INT32, [1, 1])),
    ),
    "tokens that are numbers": ("gguf_damaged", with_entry(TOKENS, ARRAY, (INT32, [1] * 263))),
    "an end beyond the vocabulary": (
        "gguf_damaged",
        with_entry("tokenizer.ggml.eos_token_id", UINT32, 263),
    ),
    "an unknown token beyond the vocabulary": (
        "gguf_damaged",
        with_entry("tokenizer.ggml.unknown_token_id", UINT32, 1 << 31),
    ),
    "a list of lists": ("gguf_damaged", with_entry("x", ARRAY, (ARRAY, []))),
    "a list of the unknown": ("gguf_damaged", with_entry("x", ARRAY, (99, []))),
}


@pytest.mark.parametrize(("code", "damage"), DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_file_is_refused(code: str, damage: Callable[[GgufText], object]) -> None:
    file = small_gguf()
    damage(file)
    with pytest.raises(GgufError) as caught:
        model(file)
    assert caught.value.code == code, caught.value


def test_a_key_or_a_tensor_that_is_there_twice_is_refused() -> None:
    data = small_gguf().data()
    for old, new in ((b"general.name", b"general.type"), (b"blk.1.ffn_up", b"blk.0.ffn_up")):
        extra = small_gguf()
        extra.metadata["general.type"] = (STRING, "model")
        text = (extra.data() if old == b"general.name" else data).replace(old, new)
        with pytest.raises(GgufError, match="twice"):
            header(text)


@pytest.mark.parametrize(
    ("kind", "file_type", "hidden", "precision"),
    [(Q4_0, 2, 64, "int4"), (Q4_K, 15, 256, "int4"), (F16, 1, 64, "fp16"), (Q8_0, 7, 64, "int8")],
)
def test_the_precision_is_that_of_most_weights(
    kind: int, file_type: int, hidden: int, precision: str
) -> None:
    file = small_gguf(kind=kind, file_type=file_type, hidden=hidden)
    assert model(file).precision == precision


def test_what_grows_when_it_is_unpacked_is_counted_so() -> None:
    file = small_gguf(kind=Q4_K, file_type=15, hidden=256)
    before = model(file).converted_bytes
    file.tensors["output.weight"] = (file.tensors["token_embd.weight"][0], Q6_K)
    grown = model(file)
    assert grown.converted_bytes - before == 2 * 256 * grown.vocabulary


def test_what_the_runtime_leaves_out_is_said() -> None:
    file = small_gguf()
    file.tensors["rope_freqs.weight"] = ((8,), F32)
    file.metadata["tokenizer.ggml.pre"] = (STRING, "gpt-2")
    del file.metadata["tokenizer.chat_template"]
    file.tensors["blk.0.attn_sub_norm.weight"] = ((64,), F32)
    file.metadata["llama.rope.dimension_count"] = (UINT32, 8)
    notes = model(file).notes
    assert len(notes) == 5
    assert "a part of each head" in notes[1]
    assert "'blk.0.attn_sub_norm.weight'" in notes[2]
    assert "'gpt-2'" in notes[3]


def list_of(count: int, kind: int, item: bytes) -> bytes:
    key = struct.pack("<Q", 1) + b"x"
    return key + struct.pack("<IIQ", ARRAY, kind, count) + item * min(count, 8_000_000)


@pytest.mark.parametrize(
    "entry",
    [
        list_of(1_000_000, STRING, struct.pack("<Q", 0)),
        list_of(1 << 60, STRING, struct.pack("<Q", 0)),
        list_of(1 << 60, FLOAT32, b"abcd"),
        list_of(8_000_000, UINT32, b"abcd"),
        list_of(3, STRING, struct.pack("<Q", 1 << 40)),
        list_of(3, UINT16, b"") + struct.pack("<Q", 1 << 62),
    ],
    ids=["many texts", "endless texts", "endless numbers", "many numbers", "a long text", "short"],
)
def test_a_file_made_to_exhaust_us_is_given_up_in_time(entry: bytes) -> None:
    data = b"GGUF" + struct.pack("<IQQ", 3, 1, 2) + entry
    stream = io.BytesIO(data)
    tracemalloc.start()
    started = time.process_time()
    try:
        with pytest.raises(GgufError):
            read_gguf_header(stream.read, file_bytes=1 << 40)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < 3 * LIMIT_SECONDS
