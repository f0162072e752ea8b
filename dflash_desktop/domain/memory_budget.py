"""What a pair needs of memory, part by part: known sizes where there are some, else estimates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.catalogue import ModelKind, Precision

if TYPE_CHECKING:
    from dflash_desktop.domain.catalogue import CataloguePair, DraftModel, TargetModel

_BYTES_PER_PARAMETER: Final = {
    # 5.7 GB for the 9 billion of Qwen3.5-9B-abliterated-int4-ov: scales, and tables at 8 bits.
    Precision.INT4: 0.64,
    # 1293 MB for a draft that takes 5168 MB at 4 bytes each.
    Precision.INT8: 1.01,
    Precision.F16: 2.0,
    Precision.BF16: 2.0,
}
_DRAFT_INT4_BYTES_PER_PARAMETER: Final = 0.67
"""866 MB for the draft that takes 5168 MB at 4 bytes each: groups of 16 have many scales."""
_REFERENCE_DRAFT_PARAMETERS: Final = 1_292_000_000
_REFERENCE_HIDDEN_SIZE: Final = 4096
_DRAFT_SHARE_OF_TARGET: Final = 0.15

_REFERENCE_KV_VALUES_PER_TOKEN: Final = 2 * 36 * 1024
"""Of Qwen3-8B, whose 36 layers all keep K and V of width 1024; hybrids need far less."""
_REFERENCE_PARAMETERS: Final = 8_000_000_000
_DRAFT_KV_VALUES_PER_TOKEN: Final = 2 * 5 * 1024
"""Five layers with K and V of width 1024."""
_QUERY_HEADS_PER_KV_HEAD: Final = 4

_PICTURE_WORKING_BYTES: Final = 500_000_000
_RUNTIME_BYTES_ON_GPU: Final = 500_000_000
_RUNTIME_BYTES_ON_CPU: Final = 400_000_000
_SCRATCH_SHARE_OF_WEIGHTS: Final = 0.03


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """The parts of what a pair takes while it answers at `context_tokens`."""

    target_bytes: int
    draft_bytes: int
    kv_cache_bytes: int
    vision_bytes: int
    overhead_bytes: int
    context_tokens: int
    is_estimated: bool  # a size was computed from the number of parameters, not read

    @property
    def needed_bytes(self) -> int:
        """The sum of all parts."""
        return (
            self.target_bytes
            + self.draft_bytes
            + self.kv_cache_bytes
            + self.vision_bytes
            + self.overhead_bytes
        )


def memory_budget(
    pair: CataloguePair, *, context_tokens: int, runs_on_cpu: bool
) -> MemoryBudget | None:
    """All parts for this pair; None if not even the number of the target's parameters is known."""
    target_bytes = target_weights_bytes(pair.target)
    if target_bytes is None:
        return None
    draft_bytes = draft_weights_bytes(pair.draft, pair.target)
    return MemoryBudget(
        target_bytes=target_bytes,
        draft_bytes=draft_bytes,
        kv_cache_bytes=kv_cache_bytes(
            pair, context_tokens=context_tokens, bytes_per_value=4 if runs_on_cpu else 2
        ),
        vision_bytes=vision_bytes(pair.target),
        overhead_bytes=overhead_bytes(target_bytes + draft_bytes, runs_on_cpu=runs_on_cpu),
        context_tokens=context_tokens,
        is_estimated=pair.target.weights_bytes is None
        or (pair.draft is not None and pair.draft.weights_bytes is None),
    )


def target_weights_bytes(target: TargetModel) -> int | None:
    """The known size, else parameters x bytes per parameter: int4 0.64, int8 1.01, 16 bits 2.

    What has yet to be exported, at a precision of one's choice, counts as int4.
    """
    if target.weights_bytes is not None:
        return target.weights_bytes
    if target.parameters is None:
        return None
    return round(target.parameters * _BYTES_PER_PARAMETER[target.precision or Precision.INT4])


def draft_weights_bytes(draft: DraftModel | None, target: TargetModel) -> int:
    """The known size, else parameters x bytes per parameter; 0 without a draft.

    A draft of a few layers grows with the square of the hidden size: 1.29 billion parameters at
    4096. Where that is not known either, 15 % of the target's parameters.
    """
    if draft is None:
        return 0
    if draft.weights_bytes is not None:
        return draft.weights_bytes
    if target.hidden_size is not None:
        parameters = (
            _REFERENCE_DRAFT_PARAMETERS * (target.hidden_size / _REFERENCE_HIDDEN_SIZE) ** 2
        )
    else:
        parameters = (target.parameters or 0) * _DRAFT_SHARE_OF_TARGET
    precision = draft.precision or Precision.INT4
    if precision is Precision.INT4:
        return round(parameters * _DRAFT_INT4_BYTES_PER_PARAMETER)
    return round(parameters * _BYTES_PER_PARAMETER[precision])


def kv_cache_bytes(pair: CataloguePair, *, context_tokens: int, bytes_per_value: int) -> int:
    """Context x bytes per value x (values of the target + values of the draft for one token).

    Target: 2 (K and V) x layers with a cache x width. A width that is not known is taken as a
    quarter of the hidden size, and where the layers are not known either, the target counts as
    Qwen3-8B, or as larger in proportion to its parameters. Draft: five layers of width 1024.
    A picture maker has no such cache.
    """
    if pair.target.kind is ModelKind.IMAGE:
        return 0
    values = _kv_values_per_token(pair.target)
    if pair.draft is not None:
        values += _DRAFT_KV_VALUES_PER_TOKEN
    return context_tokens * bytes_per_value * values


def _kv_values_per_token(target: TargetModel) -> int:
    layers = target.layers if target.attention_layers is None else target.attention_layers
    width = target.kv_width
    if width is None and target.hidden_size is not None:
        width = target.hidden_size // _QUERY_HEADS_PER_KV_HEAD
    if layers is not None and width is not None:
        return 2 * layers * width
    size = (target.parameters or 0) / _REFERENCE_PARAMETERS
    return round(_REFERENCE_KV_VALUES_PER_TOKEN * max(1.0, size))


def vision_bytes(target: TargetModel) -> int:
    """500 MB to work on one picture; the vision part's weights are in the target's size."""
    return _PICTURE_WORKING_BYTES if target.kind is ModelKind.VISION else 0


def overhead_bytes(weights_bytes: int, *, runs_on_cpu: bool) -> int:
    """The runtime with its compiled kernels, 500 MB (400 MB on a CPU), + 3 % of the weights."""
    runtime = _RUNTIME_BYTES_ON_CPU if runs_on_cpu else _RUNTIME_BYTES_ON_GPU
    return runtime + round(weights_bytes * _SCRATCH_SHARE_OF_WEIGHTS)
