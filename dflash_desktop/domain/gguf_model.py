"""Which GGUF files OpenVINO GenAI converts into a model that answers, and what becomes of them.

What is asked for here was found by trying small files of every kind with GenAI 2026.4: what it
refuses without a reason, or reads beyond the end of, is refused here in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_header import TEXT_TYPE
from dflash_desktop.domain.gguf_metadata import INT32_TYPE, GgufMetadata, missing
from dflash_desktop.domain.gguf_notes import gguf_notes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflash_desktop.domain.gguf_header import GgufHeader, GgufTensor

ARCHITECTURES: Final[Mapping[str, str]] = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
}
WEIGHT_TYPES: Final = frozenset({"F16", "Q4_0", "Q4_1", "Q8_0", "Q4_K", "Q6_K"})
_VECTOR_TYPES: Final = frozenset({"F32", "F16"})
_PLAIN_TYPES: Final = frozenset({"F16", "F32", "Q6_K"})  # Q6_K is unpacked before
_EXPANDED_BYTES: Final = {"Q6_K": 2.0}
"""Bytes of a value once it is converted, where that is more than in the file."""
_LAYER_LIMIT: Final = 1000
_LAYER_MATRICES: Final = (
    "attn_q",
    "attn_k",
    "attn_v",
    "attn_output",
    "ffn_gate",
    "ffn_up",
    "ffn_down",
)


@dataclass(frozen=True, slots=True)
class GgufModel:
    """A file that GenAI converts; `notes` say what it leaves out, as sentences."""

    name: str
    architecture: str
    layer_count: int
    hidden_size: int
    vocabulary: int
    context_tokens: int
    eos_token_id: int | None
    pad_token_id: int | None
    weight_types: tuple[str, ...]  # of the matrices, the most frequent first
    value_count: int
    largest_matrix_values: int
    converted_bytes: int
    notes: tuple[str, ...]

    @property
    def class_name(self) -> str:
        """What config.json calls such a model."""
        return ARCHITECTURES[self.architecture]

    @property
    def precision(self) -> str:
        """What the library calls the weights when they stay as they are in the file."""
        return {"F16": "fp16", "Q6_K": "fp16", "Q8_0": "int8"}.get(self.weight_types[0], "int4")


def gguf_model(header: GgufHeader, more: tuple[GgufHeader, ...] = ()) -> GgufModel:
    """The model in a file, or in the parts of a split one; the first part has all metadata.

    Raises `GgufError`: "gguf_architecture", "gguf_quantization", "gguf_tokenizer",
    "gguf_incomplete" or "gguf_damaged".
    """
    metadata = GgufMetadata(header.metadata)
    architecture = _architecture(metadata)
    tensors = _all_tensors(header, more)
    if metadata.number(f"{architecture}.expert_count", default=0):
        raise GgufError("gguf_architecture", "it is a mixture of experts")
    layers = metadata.number(f"{architecture}.block_count")
    if not 0 < layers <= _LAYER_LIMIT:
        raise GgufError("gguf_damaged", f"it claims {layers:,} layers")
    metadata.real(f"{architecture}.attention.layer_norm_rms_epsilon")
    hidden = metadata.number(f"{architecture}.embedding_length")
    vocabulary = _check_tensors(tensors, layers, hidden, metadata, architecture)
    tokens = _check_tokenizer(metadata, vocabulary)
    matrices = [tensor for tensor in tensors.values() if len(tensor.shape) > 1]
    _check_file_type(metadata.number("general.file_type"), matrices)
    return GgufModel(
        name=_name(metadata),
        architecture=architecture,
        layer_count=layers,
        hidden_size=hidden,
        vocabulary=vocabulary,
        context_tokens=metadata.number(f"{architecture}.context_length", default=2048),
        eos_token_id=metadata.token("tokenizer.ggml.eos_token_id", tokens),
        pad_token_id=metadata.token("tokenizer.ggml.padding_token_id", tokens),
        weight_types=_by_frequency(matrices),
        value_count=sum(tensor.value_count for tensor in tensors.values()),
        largest_matrix_values=max(tensor.value_count for tensor in matrices),
        converted_bytes=sum(map(_converted_bytes, tensors.values())),
        notes=tuple(gguf_notes(metadata, tensors, architecture)),
    )


def _architecture(metadata: GgufMetadata) -> str:
    found = metadata.text("general.architecture")
    if found in ARCHITECTURES:
        return found
    known = ", ".join(ARCHITECTURES)
    raise GgufError("gguf_architecture", f"it is built as {found[:40]!r}, and {known} can be read")


def _all_tensors(header: GgufHeader, more: tuple[GgufHeader, ...]) -> Mapping[str, GgufTensor]:
    tensors = dict(header.tensors)
    for part in more:
        twice = tensors.keys() & part.tensors.keys()
        if twice:
            raise GgufError("gguf_damaged", f"{min(twice)[:80]!r} is in two of the files")
        tensors |= part.tensors
    return tensors


def _check_tensors(
    tensors: Mapping[str, GgufTensor],
    layers: int,
    hidden: int,
    metadata: GgufMetadata,
    architecture: str,
) -> int:
    """Whether all that GenAI looks up is there, in the right sizes; returns the vocabulary."""
    heads = metadata.number(f"{architecture}.attention.head_count")
    groups = metadata.number(f"{architecture}.attention.head_count_kv", default=heads)
    inner = metadata.number(f"{architecture}.feed_forward_length")
    if not (hidden and heads and groups and inner) or heads % groups:
        raise GgufError("gguf_damaged", f"it claims {heads:,} heads in {groups:,} groups")
    key = f"{architecture}.attention.key_length"
    head = metadata.number(key, default=hidden // heads)
    embedding = _matrix(tensors, "token_embd.weight")
    vocabulary = embedding.shape[1]
    _expect(embedding, (hidden, vocabulary))
    if "output.weight" in tensors:
        _expect(_matrix(tensors, "output.weight"), (hidden, vocabulary))
    _expect(_vector(tensors, "output_norm.weight"), (hidden,))
    widths = (heads * head, groups * head, groups * head, hidden, inner, inner, hidden)
    rows = (hidden, hidden, hidden, heads * head, hidden, hidden, inner)
    for layer in range(layers):
        block = f"blk.{layer}."
        for norm in ("attn_norm", "ffn_norm"):
            _expect(_vector(tensors, f"{block}{norm}.weight"), (hidden,))
        for name, row, width in zip(_LAYER_MATRICES, rows, widths, strict=True):
            _expect(_matrix(tensors, f"{block}{name}.weight"), (row, width))
            if f"{block}{name}.bias" in tensors:
                _expect(_vector(tensors, f"{block}{name}.bias"), (width,))
        for name in ("attn_q_norm", "attn_k_norm"):
            if architecture == "qwen3" or f"{block}{name}.weight" in tensors:
                _expect(_vector(tensors, f"{block}{name}.weight"), (head,))
    return vocabulary


def _check_tokenizer(metadata: GgufMetadata, vocabulary: int) -> int:
    """Only byte-level BPE is read; GenAI looks up the types and ids without looking at sizes."""
    kind = metadata.text("tokenizer.ggml.model")
    if kind != "gpt2":
        raise GgufError("gguf_tokenizer", f"its tokenizer is of the kind {kind[:40]!r}")
    metadata.text("tokenizer.ggml.pre")
    tokens = metadata.items("tokenizer.ggml.tokens", TEXT_TYPE)
    types = metadata.items("tokenizer.ggml.token_type", INT32_TYPE)
    metadata.items("tokenizer.ggml.merges", TEXT_TYPE)
    if tokens != types or tokens > vocabulary:
        words = f"{tokens:,} tokens, {types:,} token types, {vocabulary:,} embeddings"
        raise GgufError("gguf_damaged", f"its vocabulary does not agree: {words}")
    for name in ("unknown", "bos"):
        metadata.token(f"tokenizer.ggml.{name}_token_id", tokens)
    return tokens


def _check_file_type(file_type: int, matrices: list[GgufTensor]) -> None:
    """GenAI looks for no scales in a file that calls itself plain (0: F32, 1: F16)."""
    if file_type in (0, 1) and any(one.type_name not in _PLAIN_TYPES for one in matrices):
        raise GgufError("gguf_damaged", "it calls itself unquantized, and is not")


def _matrix(tensors: Mapping[str, GgufTensor], name: str) -> GgufTensor:
    tensor = tensors.get(name)
    if tensor is None:
        raise missing(f"the tensor {name!r}")
    if tensor.type_name not in WEIGHT_TYPES:
        known = ", ".join(sorted(WEIGHT_TYPES))
        reason = f"{name!r} is stored as {tensor.type_name}, and {known} can be read"
        raise GgufError("gguf_quantization", reason)
    if len(tensor.shape) != 2:
        raise GgufError("gguf_damaged", f"{name!r} has the shape {list(tensor.shape)}")
    return tensor


def _vector(tensors: Mapping[str, GgufTensor], name: str) -> GgufTensor:
    tensor = tensors.get(name)
    if tensor is None:
        raise missing(f"the tensor {name!r}")
    if tensor.type_name not in _VECTOR_TYPES:
        raise GgufError("gguf_quantization", f"{name!r} is stored as {tensor.type_name}")
    return tensor


def _expect(tensor: GgufTensor, shape: tuple[int, ...]) -> None:
    if tensor.shape != shape:
        raise GgufError(
            "gguf_damaged",
            f"{tensor.name!r} has the shape {list(tensor.shape)}, not {list(shape)}",
        )


def _name(metadata: GgufMetadata) -> str:
    return " ".join(metadata.text("general.name").split()) if metadata.has("general.name") else ""


def _by_frequency(matrices: list[GgufTensor]) -> tuple[str, ...]:
    values: dict[str, int] = {}
    for tensor in matrices:
        values[tensor.type_name] = values.get(tensor.type_name, 0) + tensor.value_count
    return tuple(sorted(values, key=lambda name: -values[name]))


def _converted_bytes(tensor: GgufTensor) -> int:
    expanded = _EXPANDED_BYTES.get(tensor.type_name)
    return tensor.size_bytes if expanded is None else round(tensor.value_count * expanded)
