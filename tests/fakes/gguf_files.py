"""Small GGUF files, written from scratch so that a test can make any part of one wrong."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

UINT32, FLOAT32, BOOL, STRING, ARRAY, UINT64 = 4, 6, 7, 8, 9, 10
INT32, UINT16 = 5, 2
F32, F16, Q4_0, Q4_1, Q8_0, Q4_K, Q6_K, BF16 = 0, 1, 2, 3, 8, 12, 14, 30
BLOCKS = {  # the type's number: (values, bytes) of a block
    F32: (1, 4), F16: (1, 2), BF16: (1, 2), Q4_0: (32, 18), Q4_1: (32, 20), 6: (32, 22),
    7: (32, 24), Q8_0: (32, 34), 10: (256, 84), 11: (256, 110), Q4_K: (256, 144), 13: (256, 176),
    Q6_K: (256, 210), 20: (32, 18), 24: (1, 1), 28: (1, 8),
}  # fmt: skip
_SCALAR = {UINT16: "<H", UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?", UINT64: "<Q"}
_LARGEST_COUNT = 1 << 24
HIDDEN = 64
LAYERS = 3
HEADS, KV_HEADS, FEED_FORWARD = 4, 2, 128


@dataclass
class GgufText:
    """Everything that goes into one file; whatever a test changes is written as it says."""

    metadata: dict[str, tuple[int, object]] = field(default_factory=dict)
    tensors: dict[str, tuple[tuple[int, ...], int]] = field(default_factory=dict)
    version: int = 3
    magic: bytes = b"GGUF"
    alignment: int = 32
    tensor_count: int | None = None
    metadata_count: int | None = None
    offsets: dict[str, int] = field(default_factory=dict)
    cut_bytes: int = 0
    seed: int = 0

    def header(self) -> bytes:
        """Everything before the tensors' bytes."""
        tensors = len(self.tensors) if self.tensor_count is None else self.tensor_count
        metadata = len(self.metadata) if self.metadata_count is None else self.metadata_count
        parts = [self.magic, struct.pack("<IQQ", self.version, tensors, metadata)]
        for key, (kind, value) in self.metadata.items():
            parts += [_text(key), struct.pack("<I", kind), _value(kind, value)]
        offset = 0
        for name, (shape, kind) in self.tensors.items():
            at = self.offsets.get(name, offset)
            parts.append(_text(name) + struct.pack("<I", len(shape)))
            parts.append(struct.pack(f"<{len(shape)}QIQ", *shape, kind, at))
            offset += _padded(_size(shape, kind), self.alignment) % (1 << 63)
        head = b"".join(parts)
        return head + bytes(_padded(len(head), self.alignment) - len(head))

    def data(self) -> bytes:
        """The whole file."""
        bits = random.Random(self.seed)
        parts = [self.header()]
        for shape, kind in self.tensors.values():
            raw = _weights(shape, kind, bits)
            parts.append(raw + bytes(_padded(len(raw), self.alignment) - len(raw)))
        whole = b"".join(parts)
        return whole[: len(whole) - self.cut_bytes]

    def write(self, path: Path) -> Path:
        """Write the file and hand its path back."""
        path.write_bytes(self.data())
        return path


def small_gguf(
    architecture: str = "llama", *, kind: int = Q8_0, file_type: int = 7, hidden: int = HIDDEN
) -> GgufText:
    """A decoder with random weights, as GenAI reads it."""
    file = GgufText()
    head = hidden // HEADS
    numbers = {
        "block_count": LAYERS,
        "context_length": 512,
        "embedding_length": hidden,
        "feed_forward_length": FEED_FORWARD if kind != Q4_K else 256,
        "attention.head_count": HEADS,
        "attention.head_count_kv": KV_HEADS,
    }
    if architecture == "qwen3":
        numbers |= {"attention.key_length": head, "attention.value_length": head}
    file.metadata = {
        "general.architecture": (STRING, architecture),
        "general.name": (STRING, "Tiny"),
        "general.file_type": (UINT32, file_type),
        **{f"{architecture}.{key}": (UINT32, value) for key, value in numbers.items()},
        f"{architecture}.rope.freq_base": (FLOAT32, 10000.0),
        f"{architecture}.attention.layer_norm_rms_epsilon": (FLOAT32, 1e-5),
        **_tokenizer(),
    }
    vocabulary = len(_tokens())
    feed_forward = numbers["feed_forward_length"]
    norm = ((hidden,), F32)
    file.tensors = {"token_embd.weight": ((hidden, vocabulary), kind)}
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        file.tensors |= {
            f"{block}attn_norm.weight": norm,
            f"{block}attn_q.weight": ((hidden, head * HEADS), kind),
            f"{block}attn_k.weight": ((hidden, head * KV_HEADS), kind),
            f"{block}attn_v.weight": ((hidden, head * KV_HEADS), kind),
            f"{block}attn_output.weight": ((head * HEADS, hidden), kind),
            f"{block}ffn_norm.weight": norm,
            f"{block}ffn_gate.weight": ((hidden, feed_forward), kind),
            f"{block}ffn_up.weight": ((hidden, feed_forward), kind),
            f"{block}ffn_down.weight": ((feed_forward, hidden), kind),
        }
        if architecture == "qwen2":
            for part, width in (("q", HEADS), ("k", KV_HEADS), ("v", KV_HEADS)):
                file.tensors[f"{block}attn_{part}.bias"] = ((head * width,), F32)
        if architecture == "qwen3":
            for part in ("q", "k"):
                file.tensors[f"{block}attn_{part}_norm.weight"] = ((head,), F32)
    file.tensors["output_norm.weight"] = norm
    return file


def _tokens() -> list[str]:
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [number for number in range(256) if number not in printable]
    letters = [*map(chr, printable), *(chr(256 + place) for place in range(len(others)))]
    return ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *letters, "th", "the", "an", "in"]


def _tokenizer() -> dict[str, tuple[int, object]]:
    tokens = _tokens()
    return {
        "tokenizer.ggml.model": (STRING, "gpt2"),
        "tokenizer.ggml.pre": (STRING, "smollm"),
        "tokenizer.ggml.tokens": (ARRAY, (STRING, tokens)),
        "tokenizer.ggml.token_type": (ARRAY, (INT32, [3] * 3 + [1] * (len(tokens) - 3))),
        "tokenizer.ggml.merges": (ARRAY, (STRING, ["t h", "th e", "a n", "i n"])),
        "tokenizer.ggml.bos_token_id": (UINT32, 1),
        "tokenizer.ggml.eos_token_id": (UINT32, 2),
        "tokenizer.ggml.unknown_token_id": (UINT32, 0),
        "tokenizer.ggml.padding_token_id": (UINT32, 2),
        "tokenizer.chat_template": (STRING, _TEMPLATE),
    }


_TEMPLATE = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + "
    "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(kind: int, value: object) -> bytes:
    if kind == STRING:
        assert isinstance(value, str)
        return _text(value)
    if kind == ARRAY:
        assert isinstance(value, tuple)
        item, items = value
        head = struct.pack("<IQ", item, len(items))
        return head + b"".join(_value(item, one) for one in items)
    return struct.pack(_SCALAR[kind], value)


def _size(shape: tuple[int, ...], kind: int) -> int:
    count = 1
    for length in shape:
        count *= length
    if count > _LARGEST_COUNT:
        return 0  # only claimed
    values, size = BLOCKS.get(kind, (1, 4))
    return count // values * size


def _padded(size: int, alignment: int) -> int:
    return size + -size % alignment


def _weights(shape: tuple[int, ...], kind: int, bits: random.Random) -> bytes:
    """Small random values; in blocks, small scales with random digits."""
    size = _size(shape, kind)
    if len(shape) == 1:
        return struct.pack(f"<{shape[0]}f", *(1.0 for _ in range(shape[0])))
    if kind == F32:
        return struct.pack(f"<{size // 4}f", *(bits.uniform(-0.1, 0.1) for _ in range(size // 4)))
    if kind == F16:
        return struct.pack(f"<{size // 2}e", *(bits.uniform(-0.1, 0.1) for _ in range(size // 2)))
    if kind == BF16:
        return b"".join(struct.pack("<f", bits.uniform(-0.1, 0.1))[2:] for _ in range(size // 2))
    _, block = BLOCKS.get(kind, (1, 4))
    scale = struct.pack("<e", 0.001)
    heads = {Q4_0: scale, Q4_1: scale * 2, Q8_0: scale, Q4_K: scale * 2}
    head = heads.get(kind, b"")
    tail = scale if kind == Q6_K else b""
    body = block - len(head) - len(tail)
    return b"".join(head + bits.randbytes(body) + tail for _ in range(size // block))
