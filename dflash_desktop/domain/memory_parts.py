"""The parts that a memory is divided into, each with its formula in words for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from dflash_desktop.domain.memory_budget import MemoryBudget
    from dflash_desktop.domain.memory_pool import MemoryPool
    from dflash_desktop.domain.memory_use import MemoryUse


class PartKind(StrEnum):
    """What a part is for; the value is the word in a legend."""

    TARGET = "target"
    DRAFT = "draft"
    KV_CACHE = "KV cache"
    VISION = "pictures"
    OVERHEAD = "overhead"
    ENGINE = "engine"  # where only the sum is known
    EXPORT = "export at its peak"
    OTHERS = "in use"
    RESERVE = "kept free"
    FOR_MODELS = "for models"
    FREE = "free"


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """One part; `explanation` says what it is and how its size was found."""

    kind: PartKind
    size_bytes: int
    explanation: str

    @property
    def words(self) -> str:
        """As in a legend: "target 2.56 GB"."""
        return f"{self.kind.value} {format_bytes(self.size_bytes)}"


def parts_of_budget(budget: MemoryBudget, usable_bytes: int) -> tuple[MemoryPart, ...]:
    """What a pair takes of the memory for models, and what stays free if anything does."""
    found = "estimated from its number of parameters" if budget.is_estimated else "known"
    sizes = (
        (
            PartKind.TARGET,
            budget.target_bytes,
            (
                f"The weights of the model that answers, whose size is {found}: parameters x "
                "bytes each, which is 0.64 for int4, 1.01 for int8 and 2 for 16 bits. A "
                "processor packs them anew, which takes 1.25 times as much."
            ),
        ),
        (
            PartKind.DRAFT,
            budget.draft_bytes,
            (
                "The weights of the small model that proposes words, found the same way. On a "
                "processor the target's table of words is there once more for it: words x width x "
                "4 bytes."
            ),
        ),
        (
            PartKind.KV_CACHE,
            budget.kv_cache_bytes,
            (
                f"The models' memory of the conversation: {budget.context_tokens:,} tokens x "
                "bytes of a value (4 on a processor, else 2) x values that target and draft keep "
                "for one token. On a processor also what the draft reads of the target's layers."
            ),
        ),
        (
            PartKind.VISION,
            budget.vision_bytes,
            "500 MB to work on one picture, and the weights of the part that sees.",
        ),
        (
            PartKind.OVERHEAD,
            budget.overhead_bytes,
            (
                "The runtime and what its kernels work on: on a processor 125 MB and 50 MB for "
                "each model, on graphics 500 MB and 3 % of the weights."
            ),
        ),
        (
            PartKind.FREE,
            usable_bytes - budget.needed_bytes,
            f"What is left of the {format_bytes(usable_bytes)} for models.",
        ),
    )
    return tuple(MemoryPart(*one) for one in sizes if one[1] > 0)


def parts_of_pool(pool: MemoryPool) -> tuple[MemoryPart, ...]:
    """The device's whole memory: what others use, what is kept free, what models may take."""
    used = pool.total_bytes - pool.usable_bytes - pool.reserve_bytes
    sizes = (
        (
            PartKind.OTHERS,
            used,
            "What the system and other programs use now, or what the graphics may not use.",
        ),
        (
            PartKind.RESERVE,
            min(pool.reserve_bytes, pool.total_bytes - max(0, used)),
            "Stays free, so that what you open next does not slow everything down.",
        ),
        (PartKind.FOR_MODELS, pool.usable_bytes, "What a model may take."),
    )
    return tuple(MemoryPart(*one) for one in sizes if one[1] > 0)


def parts_of_use(use: MemoryUse) -> tuple[MemoryPart, ...]:
    """What the loaded pair takes of the device's memory now, beside everything else in it."""
    how = "Computed from its files." if use.is_estimated else "Of what the engine takes now."
    if use.parts is None:
        engine: tuple[tuple[PartKind, int, str], ...] = (
            (PartKind.ENGINE, use.engine_bytes, "The engine with the loaded model."),
        )
    else:
        engine = (
            (PartKind.TARGET, use.parts.target_bytes, f"The model that answers. {how}"),
            (
                PartKind.DRAFT,
                use.parts.draft_bytes,
                f"The small model that proposes words. {how}",
            ),
            (
                PartKind.KV_CACHE,
                use.parts.kv_cache_bytes,
                f"The models' memory of the conversation. {how}",
            ),
            (
                PartKind.OVERHEAD,
                use.parts.overhead_bytes,
                "The rest: the runtime, its compiled kernels and intermediate results.",
            ),
        )
    sizes = (
        *engine,
        (PartKind.OTHERS, use.other_bytes, "What the system and other programs take."),
        (PartKind.RESERVE, use.reserve_bytes, "Stays free for what you open next."),
        (PartKind.FREE, use.free_bytes, "What a model could still take."),
    )
    return tuple(MemoryPart(*one) for one in sizes if one[1] > 0)
