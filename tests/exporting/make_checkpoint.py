"""Makes a checkpoint of random numbers, in the export environment: SHAPE FOLDER.

SHAPE is kind:hidden:intermediate:layers:vocabulary:dtype:shards, kind being text or draft. Prints
its numbers as JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

_HEAD = 64


def main(shape: str, folder: Path) -> None:
    import torch
    from safetensors.torch import save_file

    kind, *numbers, dtype, shards = shape.split(":")
    hidden, intermediate, layers, vocabulary = map(int, numbers)
    shapes = _shapes(kind, hidden, intermediate, layers, vocabulary)
    folder.mkdir(parents=True)
    config = _config(kind, hidden, intermediate, layers, vocabulary, dtype)
    (folder / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    names = list(shapes)
    places: dict[str, str] = {}
    torch.manual_seed(0)
    for shard in range(int(shards)):
        mine = names[shard :: int(shards)]
        file = f"model-{shard + 1:05}-of-{int(shards):05}.safetensors"
        places |= dict.fromkeys(mine, file)
        kept = getattr(torch, dtype)
        tensors = {
            name: torch.ones(shapes[name], dtype=kept)
            if len(shapes[name]) == 1
            else torch.empty(shapes[name], dtype=kept).normal_(std=0.02)
            for name in mine
        }
        save_file(tensors, folder / file, metadata={"format": "pt"})
    index = json.dumps({"metadata": {}, "weight_map": places})
    (folder / "model.safetensors.index.json").write_text(index, encoding="utf-8")
    counts = [_product(one) for one in shapes.values()]
    sizes = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    told = {"parameters": sum(counts), "bytes": sizes, "largest": max(counts)}
    sys.stdout.write(json.dumps(told))


def _shapes(
    kind: str, hidden: int, intermediate: int, layers: int, vocabulary: int
) -> dict[str, tuple[int, ...]]:
    top = "" if kind == "draft" else "model."
    keys = _groups(hidden) * _HEAD
    shapes: dict[str, tuple[int, ...]] = {f"{top}norm.weight": (hidden,)}
    if kind == "draft":
        shapes |= {"fc.weight": (hidden, 5 * hidden), "hidden_norm.weight": (hidden,)}
    else:
        shapes |= {f"{top}embed_tokens.weight": (vocabulary, hidden)}
        shapes |= {"lm_head.weight": (vocabulary, hidden)}
    for layer in range(layers):
        block = f"{top}layers.{layer}."
        shapes |= {
            f"{block}input_layernorm.weight": (hidden,),
            f"{block}post_attention_layernorm.weight": (hidden,),
            f"{block}self_attn.q_proj.weight": (hidden, hidden),
            f"{block}self_attn.k_proj.weight": (keys, hidden),
            f"{block}self_attn.v_proj.weight": (keys, hidden),
            f"{block}self_attn.o_proj.weight": (hidden, hidden),
            f"{block}self_attn.q_norm.weight": (_HEAD,),
            f"{block}self_attn.k_norm.weight": (_HEAD,),
            f"{block}mlp.gate_proj.weight": (intermediate, hidden),
            f"{block}mlp.up_proj.weight": (intermediate, hidden),
            f"{block}mlp.down_proj.weight": (hidden, intermediate),
        }
    return shapes


def _config(
    kind: str, hidden: int, intermediate: int, layers: int, vocabulary: int, dtype: str
) -> dict[str, object]:
    config: dict[str, object] = {
        "architectures": ["DFlashDraftModel" if kind == "draft" else "Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": vocabulary or 2048,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": hidden // _HEAD,
        "num_key_value_heads": _groups(hidden),
        "head_dim": _HEAD,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": False,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "dtype": dtype,
        "torch_dtype": dtype,
    }
    if kind == "draft":
        draft = {"mask_token_id": 3, "target_layer_ids": [1, 2, 3, 4, 5]}
        config |= {"block_size": 8, "num_target_layers": 8, "dflash_config": draft}
    return config


def _groups(hidden: int) -> int:
    heads = hidden // _HEAD
    return heads // 4 if heads % 4 == 0 else heads // 3


def _product(shape: tuple[int, ...]) -> int:
    count = 1
    for length in shape:
        count *= length
    return count


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
