"""What of the memory the engine takes now, beside everything else that lies in the same pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.domain.memory_pool import PoolKind

if TYPE_CHECKING:
    from dflash_desktop.domain.memory_budget import MemoryBudget


@dataclass(frozen=True, slots=True)
class EngineParts:
    """How the engine's memory divides; the parts add up to `MemoryUse.engine_bytes`."""

    target_bytes: int
    draft_bytes: int
    kv_cache_bytes: int
    overhead_bytes: int  # the runtime, its compiled kernels and scratch memory: the rest


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """One pool at one moment: engine + others + reserve + free = the pool, or more if it is full.

    `parts` is None while no model is loaded, and where only the sum is known.
    """

    pool: PoolKind
    device_name: str  # of the graphics whose pool it is; "" for the processor
    pool_bytes: int
    engine_bytes: int  # what the engine process takes
    other_bytes: int  # what everything else takes
    reserve_bytes: int  # stays free for other programs
    parts: EngineParts | None
    is_estimated: bool  # the engine's part was computed: nobody can be asked for it

    @property
    def free_bytes(self) -> int:
        """What a model could still take."""
        taken = self.engine_bytes + self.other_bytes + self.reserve_bytes
        return max(0, self.pool_bytes - taken)


def engine_parts(budget: MemoryBudget, engine_bytes: int) -> EngineParts:
    """What the engine takes, divided as its budget says; `budget` is of an empty context.

    What is beyond the budget is the cache, the only part that grows. While there is less than
    that (kernels are made when they are first needed), every part counts in proportion.
    """
    known = (budget.target_bytes, budget.draft_bytes, budget.overhead_bytes + budget.vision_bytes)
    share = min(1.0, engine_bytes / max(1, sum(known)))
    target, draft = (round(part * share) for part in known[:2])
    if share < 1.0:
        return EngineParts(target, draft, 0, engine_bytes - target - draft)
    return EngineParts(target, draft, engine_bytes - sum(known), known[2])
