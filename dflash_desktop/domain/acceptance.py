"""At which of its positions a draft's proposals are accepted: that tells its faults apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


@dataclass(frozen=True, slots=True)
class Acceptance:
    """Counts over steps in which the draft proposed something.

    `accepted_at[i]` is in how many of them the proposal at position i + 1 was accepted; it never
    rises, since a rejected token takes all behind it along.
    """

    steps: int = 0
    accepted_at: tuple[int, ...] = ()

    @property
    def rates(self) -> tuple[float, ...]:
        """The share of steps, 0 to 1, in which each position was accepted; empty without steps."""
        return tuple(count / self.steps for count in self.accepted_at) if self.steps else ()

    @property
    def tokens_per_step(self) -> float | None:
        """Accepted tokens and the target's own, for each step; None without steps."""
        return 1 + sum(self.accepted_at) / self.steps if self.steps else None


def acceptance(step_tokens: Sequence[int], assistant_tokens: int) -> Acceptance:
    """From how many tokens each step of one answer brought.

    The first step is the prompt's own, where nothing is proposed, and the last one may be cut off
    by the answer's end.
    """
    drafted = step_tokens[1:]
    return Acceptance(
        len(drafted),
        tuple(sum(count > n for count in drafted) for n in range(1, assistant_tokens + 1)),
    )


def summed(parts: Iterable[Acceptance]) -> Acceptance:
    """All of them together."""
    steps = 0
    counts: tuple[int, ...] = ()
    for part in parts:
        steps += part.steps
        counts = tuple(a + b for a, b in zip_longest(counts, part.accepted_at, fillvalue=0))
    return Acceptance(steps, counts)
