"""A DFlash draft that ships only as GGUF: which tensor is which, and what its config was.

The names, and the two traps in them, are those of llama.cpp's converter (architecture "dflash"):

- What it stores as `target_layers` is one more than the number of the layer that the draft was
  trained with: llama.cpp counts what goes into a layer, transformers what comes out of it.
- Norms are stored as they are; the model family whose norms are stored plus one is another.

Shapes are reversed there, and the numbers are not: a matrix is read row by row, never turned.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.gguf_bytes import GgufError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ARCHITECTURE: Final = "dflash"
_TOP: Final = {
    "fc.weight": "fc.weight",
    "output_norm.weight": "norm.weight",
    "enc.output_norm.weight": "hidden_norm.weight",
}
_IN_LAYER: Final = {
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_q_norm": "self_attn.q_norm",
    "attn_k_norm": "self_attn.k_norm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
_LAYER: Final = re.compile(r"blk\.(0|[1-9][0-9]{0,3})\.([a-z_]+)\.(weight|bias)")
_BIASED: Final = frozenset({"attn_q", "attn_k", "attn_v", "attn_output"})
_LEFT_OUT: Final = frozenset({"token_embd.weight", "output.weight", "rope_freqs.weight"})
"""A draft is given its target's embeddings and head, whether it brings its own or not."""
_NEWER_KINDS: Final = {
    "a DFlash 2 draft": ("selector_", "attn_conv_", "ffn_conv_"),
    "a DSpark draft": ("markov_", "log_snr_", "confidence_"),
}
_LIST_LIMIT: Final = 4096


def checkpoint_names(tensors: Iterable[str], layer_count: int) -> Mapping[str, str]:
    """For each tensor of the file that is used, its name in the checkpoint.

    Raises `GgufError` unless every tensor of the model is there once and none is left over.
    """
    names = set(tensors)
    refuse_newer_kinds(names)
    found = {name: _checkpoint_name(name) for name in names - _LEFT_OUT}
    unknown = sorted(name for name, meant in found.items() if not meant)
    if unknown:
        raise GgufError("gguf_tensors", f"{len(unknown)} tensors are not known: {_some(unknown)}")
    expected = set(_TOP) | {
        f"blk.{layer}.{part}.weight" for layer in range(layer_count) for part in _IN_LAYER
    }
    if missing := sorted(expected - names):
        raise GgufError("gguf_tensors", f"{len(missing)} tensors are missing: {_some(missing)}")
    beyond = sorted(
        name for name in found if (at := _LAYER.fullmatch(name)) and int(at[1]) >= layer_count
    )
    if beyond:
        raise GgufError("gguf_tensors", f"it has {layer_count} layers, and {_some(beyond)}")
    return {name: meant for name, meant in found.items() if meant}


def _checkpoint_name(name: str) -> str:
    if name in _TOP:
        return _TOP[name]
    match = _LAYER.fullmatch(name)
    if (
        match is None
        or match[2] not in _IN_LAYER
        or (match[3] == "bias" and match[2] not in _BIASED)
    ):
        return ""
    return f"layers.{match[1]}.{_IN_LAYER[match[2]]}.{match[3]}"


def draft_config(
    values: Mapping[str, object], shapes: Mapping[str, tuple[int, ...]]
) -> dict[str, object]:
    """The config.json that the exporter needs, from the file's metadata and its tensors' shapes.

    `shapes` are as in the file, a row's length first. Raises `GgufError` for what is missing,
    does not agree, or no exporter can make of it.
    """
    found = values.get("general.architecture")
    if found != ARCHITECTURE:
        words = "the architecture of a DFlash draft is 'dflash'"
        if str(found).startswith("dflash"):
            words += (
                "; older converters wrote others: convert the draft again with today's llama.cpp"
            )
        raise GgufError("gguf_architecture", f"it is built as {str(found)[:40]!r}, and {words}")
    refuse_newer_kinds(shapes)
    if _integer(values, "markov_rank", 0):
        raise GgufError("gguf_draft_kind", "it is a DSpark draft")
    hidden, heads = _integer(values, "embedding_length"), _integer(values, "attention.head_count")
    layers = _target_layers(values)
    _check_reader(shapes, hidden, len(layers))
    mask = values.get("tokenizer.ggml.mask_token_id")
    if not isinstance(mask, int):
        raise GgufError("gguf_damaged", "it does not say which token stands for a gap")
    tokens = values.get("tokenizer.ggml.tokens")
    vocabulary = len(tokens) if isinstance(tokens, list) else mask + 1
    return {
        "architectures": ["DFlashDraftModel"],
        "model_type": "qwen3",
        "hidden_size": hidden,
        "intermediate_size": _integer(values, "feed_forward_length"),
        "num_hidden_layers": _integer(values, "block_count"),
        "num_attention_heads": heads,
        "num_key_value_heads": _integer(values, "attention.head_count_kv", heads),
        "head_dim": _integer(values, "attention.key_length", hidden // heads),
        "max_position_embeddings": _integer(values, "context_length"),
        "rms_norm_eps": _float(values, "attention.layer_norm_rms_epsilon"),
        "rope_parameters": _rope(values),
        "rope_theta": _float(values, "rope.freq_base", 10_000.0),
        "vocab_size": max(vocabulary, mask + 1),
        "tie_word_embeddings": False,
        "attention_bias": any(name.endswith(".bias") for name in shapes),
        "hidden_act": "silu",
        "dtype": "float16",
        "torch_dtype": "float16",
        "block_size": _integer(values, "block_size"),
        "dflash_config": {"mask_token_id": mask, "target_layer_ids": layers},
        **_windows(values),
    }


def _target_layers(values: Mapping[str, object]) -> list[int]:
    stored = values.get(f"{ARCHITECTURE}.target_layers")
    if not isinstance(stored, list) or not 0 < len(stored) <= _LIST_LIMIT:
        words = "it does not say which layers of its target it reads"
        raise GgufError("gguf_draft_old", f"{words}; convert it again with today's llama.cpp")
    layers = [one - 1 for one in stored if isinstance(one, int)]
    if len(layers) != len(stored) or min(layers) < 0:
        raise GgufError("gguf_damaged", f"it reads the target's layers {stored[:8]}")
    return layers


def _check_reader(shapes: Mapping[str, tuple[int, ...]], hidden: int, layer_count: int) -> None:
    """The exporter takes a target as wide as the draft."""
    shape = shapes.get("fc.weight", ())
    if shape != (layer_count * hidden, hidden):
        expected = [layer_count * hidden, hidden]
        raise GgufError("gguf_damaged", f"fc.weight is {list(shape)} and not {expected}")


def _rope(values: Mapping[str, object]) -> dict[str, object]:
    theta = _float(values, "rope.freq_base", 10_000.0)
    kind = values.get(f"{ARCHITECTURE}.rope.scaling.type", "none")
    if kind == "none":
        return {"rope_type": "default", "rope_theta": theta}
    if kind not in {"linear", "yarn"}:
        raise GgufError("gguf_draft_kind", f"it stretches positions by {str(kind)[:20]!r}")
    scaling: dict[str, object] = {
        "rope_type": kind,
        "rope_theta": theta,
        "factor": _float(values, "rope.scaling.factor"),
    }
    if kind == "yarn":
        name = "rope.scaling.original_context_length"
        scaling["original_max_position_embeddings"] = _integer(values, name)
    return scaling


def _windows(values: Mapping[str, object]) -> dict[str, object]:
    """Layers that look back a limited way; without a list of them all do."""
    window = _integer(values, "attention.sliding_window", 0)
    count = _integer(values, "block_count")
    pattern = values.get(f"{ARCHITECTURE}.attention.sliding_window_pattern")
    if not window:
        return {"layer_types": ["full_attention"] * count}
    limited = pattern if isinstance(pattern, list) and len(pattern) == count else [True] * count
    return {
        "use_sliding_window": True,
        "sliding_window": window,
        "max_window_layers": 0,
        "layer_types": ["sliding_attention" if one else "full_attention" for one in limited],
    }


def refuse_newer_kinds(names: Iterable[str]) -> None:
    """Raises `GgufError` for tensors that only a DFlash 2 or DSpark draft has."""
    for kind, marks in _NEWER_KINDS.items():
        if any(part.startswith(marks) for name in names for part in name.split(".")):
            raise GgufError("gguf_draft_kind", f"it is {kind}")


def _integer(values: Mapping[str, object], name: str, default: int | None = None) -> int:
    value = values.get(f"{ARCHITECTURE}.{name}", default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
        raise GgufError("gguf_damaged", f"{ARCHITECTURE}.{name} is {str(value)[:40]}")
    if not value and default is None:
        raise GgufError("gguf_damaged", f"{ARCHITECTURE}.{name} is 0")
    return value


def _float(values: Mapping[str, object], name: str, default: float | None = None) -> float:
    value = values.get(f"{ARCHITECTURE}.{name}", default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise GgufError("gguf_damaged", f"{ARCHITECTURE}.{name} is {str(value)[:40]}")
    return float(value)


def _some(names: list[str]) -> str:
    return ", ".join(names[:4]) + (" …" if len(names) > 4 else "")
