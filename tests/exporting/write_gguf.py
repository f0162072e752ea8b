"""Writes a DFlash draft's checkpoint as GGUF, in the export environment: FOLDER FILE TYPE [FAULT].

As llama.cpp's converter does it: the target's layers are counted from 1, norms are stored as they
are, in 32 bits. FAULT is what a bad converter does: turned, swapped, shifted, lost, extra.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

_TOP = {"fc": "fc", "norm": "output_norm", "hidden_norm": "enc.output_norm"}
_IN_LAYER = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def main(folder: Path, file: str, kind: str, fault: str = "") -> None:
    import gguf
    from safetensors import safe_open

    config = json.loads((folder / "config.json").read_text("utf-8"))
    writer = gguf.GGUFWriter(file, "dflash")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_layer_norm_rms_eps(config.get("rms_norm_eps", 1e-6))
    writer.add_rope_freq_base(config.get("rope_parameters", {}).get("rope_theta", 10000.0))
    writer.add_uint32("dflash.block_size", config["block_size"])
    layers = [layer + 1 for layer in config["dflash_config"]["target_layer_ids"]]
    writer.add_array("dflash.target_layers", layers)
    writer.add_mask_token_id(config["dflash_config"]["mask_token_id"])
    matrices = gguf.GGMLQuantizationType[kind]
    with safe_open(folder / "model.safetensors", "np") as stored:
        tensors = {name: stored.get_tensor(name).astype("float32") for name in stored.keys()}  # noqa: SIM118
    for name, values in _faulty({_gguf_name(n): v for n, v in tensors.items()}, fault).items():
        stored_as = matrices if values.ndim > 1 else gguf.GGMLQuantizationType.F32
        packed = gguf.quants.quantize(values, stored_as)
        writer.add_tensor(name, packed, raw_dtype=stored_as)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def _gguf_name(name: str) -> str:
    stem, ending = name.rsplit(".", 1)
    if stem in _TOP:
        return f"{_TOP[stem]}.{ending}"
    _, layer, part = stem.split(".", 2)
    return f"blk.{layer}.{_IN_LAYER[part]}.{ending}"


def _faulty(tensors: dict[str, Any], fault: str) -> dict[str, Any]:
    if fault == "turned":  # a square matrix, so that no shape tells
        tensors["blk.0.attn_q.weight"] = tensors["blk.0.attn_q.weight"].T.copy()
    elif fault == "swapped":
        first, second = "output_norm.weight", "enc.output_norm.weight"
        tensors[first], tensors[second] = tensors[second], tensors[first]
    elif fault == "shifted":
        tensors["output_norm.weight"] = tensors["output_norm.weight"] + 1
    elif fault == "lost":
        del tensors["enc.output_norm.weight"]
    elif fault == "extra":
        tensors["blk.0.attn_sinks.weight"] = tensors["output_norm.weight"]
    return tensors


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
