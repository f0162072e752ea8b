"""Which tensor of a GGUF draft is which, and what its config was."""

from __future__ import annotations

import pytest

from dflash_desktop.domain.gguf_bytes import GgufError
from dflash_desktop.domain.gguf_draft import checkpoint_names, draft_config

PARTS = (
    *("attn_norm", "ffn_norm", "attn_q", "attn_k", "attn_v", "attn_output"),
    *("attn_q_norm", "attn_k_norm", "ffn_gate", "ffn_up", "ffn_down"),
)
TOP = ("fc.weight", "output_norm.weight", "enc.output_norm.weight")
NAMES = (*TOP, *(f"blk.{layer}.{part}.weight" for layer in (0, 1) for part in PARTS))
VALUES: dict[str, object] = {
    "general.architecture": "dflash",
    "dflash.block_count": 2,
    "dflash.embedding_length": 64,
    "dflash.feed_forward_length": 128,
    "dflash.attention.head_count": 4,
    "dflash.attention.head_count_kv": 2,
    "dflash.attention.key_length": 32,
    "dflash.attention.layer_norm_rms_epsilon": 1e-6,
    "dflash.context_length": 4096,
    "dflash.rope.freq_base": 1e6,
    "dflash.block_size": 16,
    "dflash.target_layers": [2, 13, 24],
    "tokenizer.ggml.mask_token_id": 4,
}
SHAPES = {"fc.weight": (3 * 64, 64)}


def test_norms_get_the_names_of_the_checkpoint() -> None:
    names = checkpoint_names(NAMES, 2)

    assert names["output_norm.weight"] == "norm.weight"
    assert names["enc.output_norm.weight"] == "hidden_norm.weight"
    assert names["blk.1.attn_output.weight"] == "layers.1.self_attn.o_proj.weight"
    assert len(set(names.values())) == len(NAMES)


def test_layers_are_counted_as_transformers_counts_them() -> None:
    """llama.cpp stores what goes into a layer, so each number is one more."""
    config = draft_config(VALUES, SHAPES)

    assert config["dflash_config"] == {"mask_token_id": 4, "target_layer_ids": [1, 12, 23]}
    assert config["architectures"] == ["DFlashDraftModel"]
    assert config["head_dim"] == 32
    assert config["vocab_size"] == 5
    assert config["layer_types"] == ["full_attention"] * 2


def test_embeddings_that_a_draft_brings_are_left_out() -> None:
    names = checkpoint_names([*NAMES, "token_embd.weight", "output.weight"], 2)

    assert len(names) == len(NAMES)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ([name for name in NAMES if name != "enc.output_norm.weight"], "enc.output_norm.weight"),
        ([*NAMES, "blk.0.attn_sinks.weight"], "blk.0.attn_sinks.weight"),
        ([*NAMES, "blk.2.attn_q.weight"], "it has 2 layers"),
        ([*NAMES, "selector_hidden.weight"], "DFlash 2"),
        ([*NAMES, "blk.0.ffn_conv_base"], "DFlash 2"),
        ([*NAMES, "markov_w1.weight"], "DSpark"),
    ],
)
def test_a_tensor_too_many_or_too_few_is_refused(names: list[str], said: str) -> None:
    with pytest.raises(GgufError, match=said):
        checkpoint_names(names, 2)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"general.architecture": "qwen3"}, "gguf_architecture"),
        ({"general.architecture": "dflash-draft"}, "gguf_architecture"),
        ({"dflash.target_layers": None}, "gguf_draft_old"),
        ({"dflash.target_layers": [0, 1, 2]}, "gguf_damaged"),
        ({"dflash.target_layers": [2, 13]}, "gguf_damaged"),  # fc is wider
        ({"dflash.markov_rank": 64}, "gguf_draft_kind"),
        ({"dflash.embedding_length": 1 << 40}, "gguf_damaged"),
        ({"dflash.embedding_length": True}, "gguf_damaged"),
        ({"dflash.attention.layer_norm_rms_epsilon": float("nan")}, "gguf_damaged"),
        ({"dflash.rope.scaling.type": "longrope"}, "gguf_draft_kind"),
        ({"tokenizer.ggml.mask_token_id": None}, "gguf_damaged"),
    ],
)
def test_what_does_not_agree_is_refused(change: dict[str, object], code: str) -> None:
    with pytest.raises(GgufError) as caught:
        draft_config(VALUES | change, SHAPES)
    assert caught.value.code == code


def test_limited_attention_and_stretched_positions_are_kept() -> None:
    config = draft_config(
        VALUES
        | {
            "dflash.attention.sliding_window": 2048,
            "dflash.attention.sliding_window_pattern": [True, False],
            "dflash.rope.scaling.type": "yarn",
            "dflash.rope.scaling.factor": 4.0,
            "dflash.rope.scaling.original_context_length": 32768,
        },
        SHAPES,
    )

    assert config["layer_types"] == ["sliding_attention", "full_attention"]
    assert config["sliding_window"] == 2048
    rope = config["rope_parameters"]
    assert isinstance(rope, dict)
    assert rope["original_max_position_embeddings"] == 32768
