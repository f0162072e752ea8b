"""What a pair needs of memory, part by part: a test compares the formulas with reality."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.pair_sizes import PairSizes, catalogue_sizes

if TYPE_CHECKING:
    from dflash_desktop.domain.catalogue import CataloguePair

_PICTURE_WORKING_BYTES: Final = 500_000_000
_RUNTIME_BYTES_ON_GPU: Final = 500_000_000
_SCRATCH_SHARE_OF_WEIGHTS_ON_GPU: Final = 0.03
_USUAL_KV_BYTES_ON_GPU: Final = 2  # f16
_USUAL_KV_BYTES_ON_CPU: Final = 4  # f32

# Measured on Linux with 2026.4.1 as the private memory of the engine process: five targets of 92
# to 833 MB (int8 by channel, int8 and int4 in groups of 32), at 256 to 8,000 tokens.
_RUNTIME_BYTES_ON_CPU: Final = 125_000_000
_PIPELINE_BYTES_ON_CPU: Final = 50_000_000
_PACKED_SHARE_ON_CPU: Final = 1.25
_TABLE_BYTES_PER_VALUE_ON_CPU: Final = 4
_HIDDEN_COPIES_ON_CPU: Final = 5
_BYTES_PER_HIDDEN_VALUE: Final = 4
_LIBRARY_BYTES: Final = 60_000_000


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """The parts of what a pair takes while it answers at `context_tokens`.

    `mapped_bytes` is not one of them: the system gives it back as soon as somebody needs it.
    """

    target_bytes: int
    draft_bytes: int
    kv_cache_bytes: int
    vision_bytes: int
    overhead_bytes: int
    context_tokens: int
    is_estimated: bool  # a size was computed from the number of parameters, not read
    mapped_bytes: int = 0  # the files, which stay in memory while there is room
    largest_tensor_bytes: int | None = None  # must be had in one piece; None: not known

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
    sizes = catalogue_sizes(pair)
    if sizes is None:
        return None
    return budget_of(sizes, context_tokens=context_tokens, runs_on_cpu=runs_on_cpu)


def budget_of(
    sizes: PairSizes,
    *,
    context_tokens: int,
    runs_on_cpu: bool,
    kv_bytes_per_value: int | None = None,
    keeps_both: bool = False,
) -> MemoryBudget:
    """All parts for a pair of these sizes.

    `keeps_both` counts the pipeline without the draft, too, which holds the target once more.
    """
    has_draft = sizes.draft_bytes > 0
    targets = 2 if keeps_both and has_draft else 1
    per_value = kv_bytes_per_value
    if per_value is None:
        per_value = _USUAL_KV_BYTES_ON_CPU if runs_on_cpu else _USUAL_KV_BYTES_ON_GPU
    target_part = target_bytes(sizes, runs_on_cpu=runs_on_cpu) * targets
    draft_part = draft_bytes(sizes, runs_on_cpu=runs_on_cpu)
    return MemoryBudget(
        target_bytes=target_part,
        draft_bytes=draft_part,
        kv_cache_bytes=kv_cache_bytes(
            sizes, context_tokens=context_tokens, bytes_per_value=per_value, targets=targets
        )
        + hidden_states_bytes(sizes, context_tokens=context_tokens, runs_on_cpu=runs_on_cpu),
        vision_bytes=vision_bytes(sizes, runs_on_cpu=runs_on_cpu, targets=targets),
        overhead_bytes=overhead_bytes(
            sizes, runs_on_cpu=runs_on_cpu, pipelines=targets + has_draft
        ),
        context_tokens=context_tokens,
        is_estimated=sizes.is_estimated,
        mapped_bytes=mapped_bytes(sizes, runs_on_cpu=runs_on_cpu, targets=targets),
        largest_tensor_bytes=sizes.largest_tensor_bytes,
    )


def target_bytes(sizes: PairSizes, *, runs_on_cpu: bool) -> int:
    """The weights; on a CPU 1.25 of them, since it packs them anew for its multiplications.

    Between 0.8 and 1.4 were seen, by how the weights are stored and how large the matrices are.
    The file that they were read from is mapped beside that: see `mapped_bytes`.
    """
    return round(sizes.target_bytes * (_PACKED_SHARE_ON_CPU if runs_on_cpu else 1))


def vision_bytes(sizes: PairSizes, *, runs_on_cpu: bool, targets: int = 1) -> int:
    """500 MB to work on one picture, and the vision part's weights for each target.

    The tokens that a picture becomes are part of the context.
    """
    if not sizes.sees_pictures:
        return 0
    weights = sizes.vision_bytes * (_PACKED_SHARE_ON_CPU if runs_on_cpu else 1)
    return _PICTURE_WORKING_BYTES + round(weights) * targets


def draft_bytes(sizes: PairSizes, *, runs_on_cpu: bool) -> int:
    """The weights, on a CPU 1.25 of them and the target's table of words once more.

    The draft reads and proposes words through that table, which a CPU unpacks for it: vocabulary
    x hidden size x 4 bytes.
    """
    if not runs_on_cpu:
        return sizes.draft_bytes
    table = sizes.table_values * _TABLE_BYTES_PER_VALUE_ON_CPU if sizes.draft_bytes else 0
    return round(sizes.draft_bytes * _PACKED_SHARE_ON_CPU) + table


def kv_cache_bytes(
    sizes: PairSizes, *, context_tokens: int, bytes_per_value: int, targets: int = 1
) -> int:
    """Context x bytes per value x (values of each target + values of the draft).

    The default on a CPU is f32, 4 bytes, elsewhere f16. The runtime adds room for 256 tokens when
    it needs some, which is not counted.
    """
    values = sizes.target_kv_values * targets + sizes.draft_kv_values
    return context_tokens * bytes_per_value * values


def hidden_states_bytes(sizes: PairSizes, *, context_tokens: int, runs_on_cpu: bool) -> int:
    """What the draft reads of the target's layers: context x values x 4 bytes x 5.

    The runtime keeps them for all of the prompt and copies them while it reads it. Measured on a
    CPU; on graphics nobody has measured it, and it is left out there.
    """
    if not runs_on_cpu:
        return 0
    return context_tokens * sizes.hidden_values * _BYTES_PER_HIDDEN_VALUE * _HIDDEN_COPIES_ON_CPU


def overhead_bytes(sizes: PairSizes, *, runs_on_cpu: bool, pipelines: int = 1) -> int:
    """The runtime and what its kernels work on.

    On a CPU 125 MB and 50 MB for each graph (target, draft, target without the draft); on
    graphics, where it is compiled, 500 MB and 3 % of the weights.
    """
    if runs_on_cpu:
        return _RUNTIME_BYTES_ON_CPU + pipelines * _PIPELINE_BYTES_ON_CPU
    weights = sizes.target_bytes + sizes.vision_bytes + sizes.draft_bytes
    return _RUNTIME_BYTES_ON_GPU + round(weights * _SCRATCH_SHARE_OF_WEIGHTS_ON_GPU)


def mapped_bytes(sizes: PairSizes, *, runs_on_cpu: bool, targets: int = 1) -> int:
    """The files that a CPU's weights were read from, each as often as it is loaded, and libraries.

    They count as the process's memory while there is room; the system takes them back before
    anything else, so they are not part of what is needed.
    """
    if not runs_on_cpu:
        return 0
    target = sizes.target_bytes + sizes.vision_bytes
    return target * targets + sizes.draft_bytes + _LIBRARY_BYTES
