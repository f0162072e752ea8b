"""Whether the target may be held twice, with and without its draft, so that switching is free."""

from __future__ import annotations

from typing import Final

_WORKING_BYTES: Final = 1_500_000_000
"""Room for both KV caches and the compiler's scratch memory of a small model, measured."""


def can_keep_both(target_bytes: int, available_bytes: int) -> bool:
    """True if two copies of the target leave half of the free memory to everything else.

    A processor takes 1.25 of the weights for each of them (`memory_budget.target_bytes`).
    """
    return 2.5 * target_bytes + _WORKING_BYTES <= available_bytes // 2
