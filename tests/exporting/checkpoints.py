"""Tiny checkpoints, written without any library: what plans and recipes look at."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

TINY: Final = {"hidden": 128, "intermediate": 256, "layers": 2, "vocabulary": 512}
_HEAD: Final = 32


@dataclass(frozen=True, slots=True)
class Stored:
    """One tensor as a file holds it; `dtype` as the format calls it."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes


def write_safetensors(path: Path, tensors: Mapping[str, Stored]) -> None:
    """A file of the format."""
    head: dict[str, object] = {"__metadata__": {"format": "pt"}}
    place = 0
    for name, one in tensors.items():
        places = [place, place + len(one.data)]
        head[name] = {"dtype": one.dtype, "shape": one.shape, "data_offsets": places}
        place = places[1]
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.writelines(one.data for one in tensors.values())


def write_checkpoint(
    folder: Path,
    kind: str,
    *,
    own_code: bool = False,
    has_tokenizer: bool = True,
    changes: Mapping[str, object] | None = None,
    renamed: Mapping[str, str] | None = None,
    seed: int = 0,
) -> Path:
    """A random Qwen3 target ("text") or DFlash draft ("draft") of half a million parameters.

    `changes` go into config.json, `renamed` tensors get another name. Code that comes with it
    writes a file beside itself when it is run.
    """
    folder.mkdir(parents=True)
    config = _config(kind) | dict(changes or {})
    if own_code:
        config |= {"auto_map": {"AutoModel": "draft.DFlashDraftModel", "AutoConfig": "draft.C"}}
        marker = folder / "the code was run"
        (folder / "draft.py").write_text(f"open({str(marker)!r}, 'w')\n", encoding="utf-8")
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    if has_tokenizer and kind == "text":  # by name only; write_target_parts.py makes a real one
        (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    tensors = _random_tensors(_shapes(kind), seed)
    names = renamed or {}
    write_safetensors(
        folder / "model.safetensors", {names.get(n, n): one for n, one in tensors.items()}
    )
    return folder


def _random_tensors(shapes: Mapping[str, tuple[int, ...]], seed: int) -> dict[str, Stored]:
    import numpy as np

    numbers = np.random.default_rng(seed)
    tensors = {}
    for name, shape in shapes.items():
        is_norm = len(shape) == 1
        values = numbers.normal(1 if is_norm else 0, 0.2 if is_norm else 0.05, shape)
        tensors[name] = Stored("F16", shape, values.astype(np.float16).tobytes())
    return tensors


def _shapes(kind: str) -> dict[str, tuple[int, ...]]:
    hidden, intermediate = TINY["hidden"], TINY["intermediate"]
    top = "" if kind == "draft" else "model."
    shapes: dict[str, tuple[int, ...]] = {f"{top}norm.weight": (hidden,)}
    if kind == "draft":
        shapes |= {"fc.weight": (hidden, 3 * hidden), "hidden_norm.weight": (hidden,)}
    else:
        matrix = (TINY["vocabulary"], hidden)
        shapes |= {"model.embed_tokens.weight": matrix, "lm_head.weight": matrix}
    for layer in range(TINY["layers"] if kind == "draft" else 4):
        block = f"{top}layers.{layer}."
        shapes |= {
            f"{block}input_layernorm.weight": (hidden,),
            f"{block}post_attention_layernorm.weight": (hidden,),
            f"{block}self_attn.q_proj.weight": (4 * _HEAD, hidden),
            f"{block}self_attn.k_proj.weight": (2 * _HEAD, hidden),
            f"{block}self_attn.v_proj.weight": (2 * _HEAD, hidden),
            f"{block}self_attn.o_proj.weight": (hidden, 4 * _HEAD),
            f"{block}self_attn.q_norm.weight": (_HEAD,),
            f"{block}self_attn.k_norm.weight": (_HEAD,),
            f"{block}mlp.gate_proj.weight": (intermediate, hidden),
            f"{block}mlp.up_proj.weight": (intermediate, hidden),
            f"{block}mlp.down_proj.weight": (hidden, intermediate),
        }
    return shapes


def _config(kind: str) -> dict[str, object]:
    is_draft = kind == "draft"
    config: dict[str, object] = {
        "architectures": ["DFlashDraftModel" if is_draft else "Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": TINY["vocabulary"],
        "hidden_size": TINY["hidden"],
        "intermediate_size": TINY["intermediate"],
        "num_hidden_layers": TINY["layers"] if is_draft else 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": _HEAD,
        "max_position_embeddings": 2048,
        "tie_word_embeddings": False,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "dtype": "float16",
        "torch_dtype": "float16",
    }
    if is_draft:
        draft = {"mask_token_id": 3, "target_layer_ids": [0, 1, 2]}
        config |= {"block_size": 8, "num_target_layers": 4, "dflash_config": draft}
    return config
