"""Which pairs fit a machine, which of them is best, and why."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.catalogue import CataloguePair, DraftKind, ModelKind
from dflash_desktop.domain.gpu_family import GpuFamily
from dflash_desktop.domain.memory_budget import MemoryBudget, memory_budget
from dflash_desktop.domain.memory_pool import MemoryPool, PoolKind
from dflash_desktop.domain.recommend_words import missing_parts, reasons_for

if TYPE_CHECKING:
    from dflash_desktop.domain.catalogue import Catalogue

DEFAULT_CONTEXT_TOKENS: Final = 8192


class Tier(StrEnum):
    """How large a model the machine is made for; the value is stable and for programs."""

    STARTER = "starter"  # the small pair to try the program with
    COMPACT = "compact"  # targets of about 4 billion parameters
    STANDARD = "standard"  # about 8
    LARGE = "large"  # about 9, with pictures
    FLAGSHIP = "flagship"  # about 27


class Verdict(StrEnum):
    """Whether a pair goes into the memory."""

    FITS = "fits"
    TIGHT = "tight"  # it goes in, but not much else does
    TOO_BIG = "too_big"


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the program and its runtime can do today."""

    runtime: str  # version of OpenVINO GenAI, "2026.4.1"; empty: not known
    draft_kinds: frozenset[DraftKind]
    model_kinds: frozenset[ModelKind]


PROGRAM_DRAFT_KINDS: Final = frozenset(DraftKind)
"""All: which of them run is up to the runtime's version."""
PROGRAM_MODEL_KINDS: Final = frozenset({ModelKind.TEXT, ModelKind.VISION})


@dataclass(frozen=True, slots=True)
class Recommendation:
    """One pair on one machine. `budget` is None, and the verdict too big, if nothing is known."""

    pair: CataloguePair
    verdict: Verdict
    runnable: bool  # it fits, and nothing is missing
    missing: tuple[str, ...]  # in words
    budget: MemoryBudget | None
    spare_bytes: int | None  # negative: what is lacking
    is_slow: bool  # the device answers slowly with a target of this size

    @property
    def needed_bytes(self) -> int | None:
        """The sum of the budget's parts."""
        return None if self.budget is None else self.budget.needed_bytes

    @property
    def reasons(self) -> tuple[str, ...]:
        """For and against the pair, in words: memory first, then what it can do and how fast.

        Made when asked for: a list shows a few of a thousand.
        """
        return reasons_for(
            self.pair,
            self.budget,
            spare_bytes=self.spare_bytes,
            is_tight=self.verdict is Verdict.TIGHT,
            is_slow=self.is_slow,
        )


# In units of what the makers print on the box, with room for what firmware and drivers keep:
# a card of 12 GB tells about 11.6 GB, a machine of 16 GB about 15.5 GB.
_TIER_FROM_BYTES_OF_CARD: Final = (
    (20_000_000_000, Tier.FLAGSHIP),
    (11_000_000_000, Tier.LARGE),
    (7_400_000_000, Tier.STANDARD),
    (5_000_000_000, Tier.COMPACT),
)
_TIER_FROM_BYTES_OF_SYSTEM: Final = (
    (30_000_000_000, Tier.FLAGSHIP),
    (15_000_000_000, Tier.LARGE),
    (11_000_000_000, Tier.STANDARD),
    (7_400_000_000, Tier.COMPACT),
)
_TIGHT_ABOVE_SHARE: Final = 0.92
_FAST_ENOUGH_ON_SLOW_DEVICES: Final = 4_500_000_000
"""Parameters in use: larger targets answer slower than a person reads on a CPU or old graphics."""

_ENOUGH_FOR_REAL_QUESTIONS: Final = 1_000_000_000
"""Parameters: smaller targets show how the program works, and make things up."""

_VERDICT_RANK: Final = {Verdict.FITS: 0, Verdict.TIGHT: 1, Verdict.TOO_BIG: 2}
_SLOW_FAMILIES: Final = frozenset({GpuFamily.OTHER_INTEL})


def tier_of(pool: MemoryPool) -> Tier:
    """The tier by the size of a card, or else of the system's memory."""
    is_card = pool.kind is PoolKind.CARD
    for from_bytes, tier in _TIER_FROM_BYTES_OF_CARD if is_card else _TIER_FROM_BYTES_OF_SYSTEM:
        if pool.total_bytes >= from_bytes:
            return tier
    return Tier.STARTER


def recommend(
    catalogue: Catalogue,
    pool: MemoryPool,
    *,
    abilities: Abilities,
    context_tokens: int = DEFAULT_CONTEXT_TOKENS,
) -> tuple[Recommendation, ...]:
    """Every pair, the best first: what runs, what fits but lacks something, what is too big.

    Within each of these, targets with a draft come first, then the larger target wins (on slow
    devices, one that is fast enough), then what others measured to be fast. Of what is too big,
    the nearest miss is first. The first build of a model comes before all second ones.
    """
    is_slow = pool.gpu is None or pool.gpu.family in _SLOW_FAMILIES
    judged = sorted(
        (_judge(pair, pool, abilities, context_tokens, is_slow) for pair in catalogue.pairs),
        key=lambda one: (_group(one), _quality(one), one.pair.id),
    )
    return tuple(_first_builds_first(judged))


def _judge(
    pair: CataloguePair,
    pool: MemoryPool,
    abilities: Abilities,
    context_tokens: int,
    is_slow: bool,
) -> Recommendation:
    budget = memory_budget(
        pair, context_tokens=context_tokens, runs_on_cpu=pool.kind is PoolKind.SYSTEM
    )
    spare = None if budget is None else pool.usable_bytes - budget.needed_bytes
    verdict = _verdict(budget, pool)
    missing = missing_parts(
        pair,
        runtime=abilities.runtime,
        can_draft=pair.draft is None or pair.draft.kind in abilities.draft_kinds,
        can_run_kind=pair.target.kind in abilities.model_kinds,
        lacking_bytes=-spare if spare is not None and verdict is Verdict.TOO_BIG else 0,
        piece_bytes=_too_large_piece(budget, pool),
    )
    return Recommendation(
        pair=pair,
        verdict=verdict,
        runnable=verdict is not Verdict.TOO_BIG and not missing,
        missing=missing,
        budget=budget,
        spare_bytes=spare,
        is_slow=is_slow and not _is_fast_enough(pair),
    )


def _too_large_piece(budget: MemoryBudget | None, pool: MemoryPool) -> int | None:
    """The largest tensor, if the device gives no piece of memory that large (case 59)."""
    limit = None if pool.gpu is None else pool.gpu.max_allocation_bytes
    largest = None if budget is None else budget.largest_tensor_bytes
    return largest if limit and largest and largest > limit else None


def _verdict(budget: MemoryBudget | None, pool: MemoryPool) -> Verdict:
    if budget is None or budget.needed_bytes > pool.usable_bytes:
        return Verdict.TOO_BIG
    if budget.needed_bytes > pool.usable_bytes * _TIGHT_ABOVE_SHARE:
        return Verdict.TIGHT
    return Verdict.FITS


def _group(one: Recommendation) -> tuple[bool, bool, int]:
    return (one.verdict is Verdict.TOO_BIG, not one.runnable, _VERDICT_RANK[one.verdict])


def _quality(one: Recommendation) -> tuple[float, ...]:
    pair = one.pair
    if one.verdict is Verdict.TOO_BIG:  # the nearest miss first, what is not known last
        return (math.inf if one.needed_bytes is None else one.needed_bytes,)
    size = pair.target.parameters or 0
    measured = pair.best_measurement
    return (
        size < _ENOUGH_FOR_REAL_QUESTIONS,
        one.is_slow,
        pair.draft is None,
        -size,
        pair.target.is_base is True,
        -((measured and measured.tokens_per_second) or 0.0),
        one.needed_bytes or 0,
    )


def _is_fast_enough(pair: CataloguePair) -> bool:
    target = pair.target
    return (target.active_parameters or target.parameters or 0) <= _FAST_ENOUGH_ON_SLOW_DEVICES


def _first_builds_first(ranked: list[Recommendation]) -> list[Recommendation]:
    seen: set[tuple[bool, bool, int, str]] = set()
    keys = []
    for one in ranked:
        build = (*_group(one), one.pair.target.family)
        keys.append((*_group(one), build in seen))
        seen.add(build)
    # Sorting is stable: within both parts the order stays as it is.
    return [ranked[index] for index in sorted(range(len(ranked)), key=keys.__getitem__)]
