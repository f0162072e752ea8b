"""The starter pair's DFlash draft as a torch model, and its checkpoint's layout."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - everybody's name for it
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class DraftConfig:
    """The draft's shape; everything that touches the target equals the target's own."""

    target_layer_ids: tuple[int, ...] = (2, 8, 14, 20, 26)
    target_layer_count: int = 30
    vocab_size: int = 49152
    mask_token_id: int = 16  # <empty_output>: reserved, and in no training text
    block_size: int = 8
    layer_count: int = 4
    hidden_size: int = 576
    head_count: int = 9
    kv_head_count: int = 3
    head_dim: int = 64
    mlp_size: int = 1536
    rope_theta: float = 100_000.0
    norm_epsilon: float = 1e-6
    context_tokens: int = 8192

    def as_checkpoint_config(self) -> dict[str, Any]:
        """The config.json that exporters and runtimes of DFlash drafts read."""
        return {
            "architectures": ["DFlashDraftModel"],
            "model_type": "qwen3",
            "vocab_size": self.vocab_size,
            "hidden_size": self.hidden_size,
            "intermediate_size": self.mlp_size,
            "num_hidden_layers": self.layer_count,
            "num_attention_heads": self.head_count,
            "num_key_value_heads": self.kv_head_count,
            "head_dim": self.head_dim,
            "max_position_embeddings": self.context_tokens,
            "rms_norm_eps": self.norm_epsilon,
            "rope_theta": self.rope_theta,
            "rope_parameters": {"rope_theta": self.rope_theta, "rope_type": "default"},
            "tie_word_embeddings": False,
            "attention_bias": False,
            "hidden_act": "silu",
            "block_size": self.block_size,
            "num_target_layers": self.target_layer_count,
            "layer_types": ["full_attention"] * self.layer_count,
            "dtype": "bfloat16",
            "dflash_config": {
                "mask_token_id": self.mask_token_id,
                "target_layer_ids": list(self.target_layer_ids),
            },
        }


class RmsNorm(nn.Module):
    """Root mean square normalization, computed in float32."""

    def __init__(self, size: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self._epsilon = epsilon

    def forward(self, values: Tensor) -> Tensor:
        """Normalize the last dimension."""
        wide = values.float()
        scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self._epsilon)
        return (wide * scale).to(values.dtype) * self.weight


@dataclass(frozen=True)
class Rotation:
    """Rotary position factors for one set of positions."""

    cosine: Tensor
    sine: Tensor

    @classmethod
    def at(cls, positions: Tensor, config: DraftConfig, dtype: torch.dtype) -> Rotation:
        """The factors for `positions` (batch, tokens)."""
        exponents = torch.arange(0, config.head_dim, 2, device=positions.device).float()
        frequencies = 1.0 / (config.rope_theta ** (exponents / config.head_dim))
        half = positions[..., None].float() * frequencies
        angles = torch.cat((half, half), -1)
        return cls(angles.cos()[:, None].to(dtype), angles.sin()[:, None].to(dtype))

    def apply(self, values: Tensor) -> Tensor:
        """Rotate `values` (batch, heads, tokens, head_dim)."""
        first, second = values.chunk(2, -1)
        return values * self.cosine + torch.cat((-second, first), -1) * self.sine


class Attention(nn.Module):
    """Block tokens look at the target's hidden states before them and at their own block."""

    def __init__(self, config: DraftConfig) -> None:
        super().__init__()
        self._config = config
        queries = config.head_count * config.head_dim
        keys = config.kv_head_count * config.head_dim
        self.q_proj = nn.Linear(config.hidden_size, queries, bias=False)
        self.k_proj = nn.Linear(config.hidden_size, keys, bias=False)
        self.v_proj = nn.Linear(config.hidden_size, keys, bias=False)
        self.o_proj = nn.Linear(queries, config.hidden_size, bias=False)
        self.q_norm = RmsNorm(config.head_dim, config.norm_epsilon)
        self.k_norm = RmsNorm(config.head_dim, config.norm_epsilon)

    def forward(
        self, block: Tensor, context: Tensor, at_block: Rotation, at_all: Rotation, mask: Tensor
    ) -> Tensor:
        """Attend from `block` to `context` followed by `block`, where `mask` allows it."""
        sources = torch.cat([context, block], 1)
        queries = at_block.apply(self.q_norm(self._heads(self.q_proj(block))).transpose(1, 2))
        keys = at_all.apply(self.k_norm(self._heads(self.k_proj(sources))).transpose(1, 2))
        values = self._heads(self.v_proj(sources)).transpose(1, 2)
        group = self._config.head_count // self._config.kv_head_count
        mixed = F.scaled_dot_product_attention(
            queries,
            keys.repeat_interleave(group, 1),
            values.repeat_interleave(group, 1),
            attn_mask=mask,
        )
        return self.o_proj(mixed.transpose(1, 2).flatten(2))

    def _heads(self, values: Tensor) -> Tensor:
        return values.unflatten(-1, (-1, self._config.head_dim))


class Mlp(nn.Module):
    """The gated feed-forward part of a layer."""

    def __init__(self, config: DraftConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.mlp_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.mlp_size, bias=False)
        self.down_proj = nn.Linear(config.mlp_size, config.hidden_size, bias=False)

    def forward(self, values: Tensor) -> Tensor:
        """Transform each token on its own."""
        return self.down_proj(F.silu(self.gate_proj(values)) * self.up_proj(values))


class DraftLayer(nn.Module):
    """One pre-norm transformer layer."""

    def __init__(self, config: DraftConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = Mlp(config)
        self.input_layernorm = RmsNorm(config.hidden_size, config.norm_epsilon)
        self.post_attention_layernorm = RmsNorm(config.hidden_size, config.norm_epsilon)

    def forward(
        self, block: Tensor, context: Tensor, at_block: Rotation, at_all: Rotation, mask: Tensor
    ) -> Tensor:
        """Attention and MLP, each added to what came in."""
        normed = self.input_layernorm(block)
        block = block + self.self_attn(normed, context, at_block, at_all, mask)
        return block + self.mlp(self.post_attention_layernorm(block))


class Draft(nn.Module):
    """The draft; its parameter names are the checkpoint's, embeddings and head the target's."""

    def __init__(self, config: DraftConfig) -> None:
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(DraftLayer(config) for _ in range(config.layer_count))
        self.norm = RmsNorm(config.hidden_size, config.norm_epsilon)
        self.fc = nn.Linear(
            len(config.target_layer_ids) * config.hidden_size, config.hidden_size, bias=False
        )
        self.hidden_norm = RmsNorm(config.hidden_size, config.norm_epsilon)
        self._initialize()

    def forward(
        self, embeddings: Tensor, hidden: Tensor, at_block: Tensor, at_all: Tensor, mask: Tensor
    ) -> Tensor:
        """Final hidden states of the block tokens.

        `hidden` holds the chosen target layers' states side by side; `at_block` and `at_all` are
        positions of the block tokens, and of the context followed by the block tokens.
        """
        context = self.hidden_norm(self.fc(hidden))
        block_rotation = Rotation.at(at_block, self.config, embeddings.dtype)
        all_rotation = Rotation.at(at_all, self.config, embeddings.dtype)
        block = embeddings
        for layer in self.layers:
            block = layer(block, context, block_rotation, all_rotation, mask)
        return self.norm(block)

    def _initialize(self) -> None:
        for name, parameter in self.named_parameters():
            if parameter.dim() != 2:
                continue
            writes_to_residual = "o_proj" in name or "down_proj" in name
            shrink = math.sqrt(2 * self.config.layer_count) if writes_to_residual else 1.0
            nn.init.normal_(parameter, std=0.02 / shrink)


def load_draft(checkpoint: Path, config: DraftConfig) -> Draft:
    """A draft with the weights of a checkpoint, in float32."""
    draft = Draft(config)
    draft.load_state_dict({name: value.float() for name, value in load_file(checkpoint).items()})
    return draft


def save_draft(draft: Draft, checkpoint: Path) -> None:
    """Write the checkpoint in bfloat16, and the config.json beside it."""
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    weights = {
        name: value.detach().to(torch.bfloat16).cpu().contiguous()
        for name, value in draft.state_dict().items()
    }
    save_file(weights, checkpoint)
    text = json.dumps(draft.config.as_checkpoint_config(), indent=2)
    (checkpoint.parent / "config.json").write_text(text + "\n", encoding="utf-8")
