"""How much memory and disk an export takes, before it starts.

The formula follows what the exporter holds at its peak; its constants were set by the exports of
`tests/perf/export_memory.py`, whose table is in tests/perf/README.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_recipes import Recipe
from dflash_desktop.domain.export_request import WeightFormat
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from dflash_desktop.domain.checkpoint import Checkpoint

_TOOLS_BYTES: Final = 660_000_000
"""torch, transformers, optimum-intel and OpenVINO, imported, before any weight."""
_VISION_TOOLS_BYTES: Final = 200_000_000
"""Picture processors, and three or four graphs traced in place of one."""
_HYBRIDS: Final = ("qwen3_5", "qwen3_5_moe")
_HYBRID_TOOLS_BYTES: Final = 400_000_000
"""More for a target that sees pictures and whose layers are partly recurrent; why is not known."""
_WIDENED_BYTES: Final = 4
"""For each parameter of a mixture of experts.

Experts are parameters of no module that OpenVINO traces in 16 bits, so it widens them to 32
(`__make_16bit_traceable` in openvino/frontend/pytorch/patch_model.py). The graph takes them cut in
two and transposed (`lfm2_moe_experts_forward` in optimum-intel's model_patcher.py), likely
the second copy of that width that was measured. The other weights are few, and counted likewise.
"""
_GRAPH_BYTES: Final = 12_000_000
"""Of XML and small files, beside the weights; a tokenizer has as much again."""
_INT4_BITS: Final = {128: 4.25, 64: 4.5, 32: 5.0, 16: 6.0}
"""A scale of 16 bits and a zero point of 4 for each group."""
_CERTAINTY: Final = 0.25
"""Each measured export was within this share: see tests/perf/README.md."""


@dataclass(frozen=True, slots=True)
class ExportEstimate:
    """What one model's export takes, in bytes; `formula` is for people."""

    peak_bytes: int
    output_bytes: int
    temporary_bytes: int
    formula: str


def estimate_export(
    checkpoint: Checkpoint,
    recipe: Recipe,
    weight_format: WeightFormat,
    *,
    group_size: int | None = None,
    all_layers: bool = False,
) -> ExportEstimate:
    """Memory at the worst moment, and disk.

    peak = tools + checkpoint + what is made of it: both are held at once, whether the numbers are
    made 16 bits wide while they are read or packed into fewer at the end. The checkpoint counts as
    it is read: 16 bits stay 16, 32 bits stay 32; GGUF and 8 bits become 16. A mixture of experts
    becomes 32 bits wide, and so does its graph until it is packed.
    """
    is_widened = checkpoint.expert_count > 1 and not recipe.is_draft
    read_bytes = _WIDENED_BYTES * checkpoint.parameters if is_widened else _read_bytes(checkpoint)
    output_bytes = _packed_bytes(checkpoint, weight_format, group_size, all_layers=all_layers)
    made_bytes = read_bytes if is_widened else output_bytes
    tools_bytes = _tools_bytes(checkpoint, recipe)
    between_bytes = 0 if weight_format is WeightFormat.FP16 else read_bytes + output_bytes
    if recipe.preparation and recipe is not Recipe.OWN_CODE_DRAFT:
        between_bytes += read_bytes  # a copy without code is made of links, an unpacked one is not
    return ExportEstimate(
        peak_bytes=tools_bytes + read_bytes + made_bytes,
        output_bytes=output_bytes + _GRAPH_BYTES,
        temporary_bytes=between_bytes + _GRAPH_BYTES,
        formula=(
            f"{format_bytes(tools_bytes)} for the tools + {format_bytes(read_bytes)} for the "
            f"checkpoint ({_parameters(checkpoint)} as {_width(read_bytes, checkpoint)} bits"
            f"{', to which a mixture of experts is widened' if is_widened else ''}) + "
            f"{format_bytes(made_bytes)} for what is made of it"
        ),
    )


def largest_likely_bytes(peak_bytes: int) -> int:
    """The estimate with what it may be wrong by."""
    return round(peak_bytes * (1 + _CERTAINTY))


def _tools_bytes(checkpoint: Checkpoint, recipe: Recipe) -> int:
    if recipe is not Recipe.VISION_TARGET:
        return _TOOLS_BYTES
    is_hybrid = checkpoint.model_type in _HYBRIDS
    return _TOOLS_BYTES + _VISION_TOOLS_BYTES + (_HYBRID_TOOLS_BYTES if is_hybrid else 0)


def _read_bytes(checkpoint: Checkpoint) -> int:
    width = checkpoint.bytes_per_parameter
    if checkpoint.is_gguf or width < 2 or checkpoint.packed_by:
        return 2 * checkpoint.parameters
    return checkpoint.weights_bytes


def _packed_bytes(
    checkpoint: Checkpoint,
    weight_format: WeightFormat,
    group_size: int | None,
    *,
    all_layers: bool,
) -> int:
    """What the weights become; of int4 the head and the embeddings stay int8, by default."""
    count = checkpoint.parameters
    if weight_format is WeightFormat.FP16:
        return 2 * count
    if weight_format is WeightFormat.INT8:
        return count + count // 200  # a scale and a zero point for each row
    bits = _INT4_BITS.get(group_size or 128, 6.0)
    kept = 0 if all_layers else _int8_values(checkpoint)
    return round((count - kept) * bits / 8) + kept


def _int8_values(checkpoint: Checkpoint) -> int:
    """The embeddings and the head of a target, one matrix of a draft."""
    is_draft = checkpoint.draft_kind() is not None
    return min(checkpoint.parameters, checkpoint.largest_tensor_values * (1 if is_draft else 2))


def _parameters(checkpoint: Checkpoint) -> str:
    count = checkpoint.parameters / 1e6
    about = "" if checkpoint.is_exact else "about "
    return f"{about}{count / 1000:.2f} billion" if count >= 1000 else f"{about}{count:.0f} million"


def _width(read_bytes: int, checkpoint: Checkpoint) -> int:
    return round(8 * read_bytes / max(1, checkpoint.parameters))
