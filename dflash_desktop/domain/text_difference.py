"""Where two texts of tokens part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def first_difference(left: Sequence[int], right: Sequence[int]) -> int | None:
    """The index of the first token that differs, or None when both are the same.

    Where one text is the beginning of the other, that is the length of the shorter one.
    """
    for index, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            return index
    return None if len(left) == len(right) else min(len(left), len(right))
