"""Is it the precision or the draft? Answered by checks of one draft in several precisions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_numbers import USELESS_BELOW
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.units import significant

if TYPE_CHECKING:
    from collections.abc import Sequence

LOST_SHARE: Final = 0.5
"""Of the tokens that the best precision adds. int4 in groups lost nothing and int4 by column five
hundredths (measured), so a loss of half is no ordinary rounding."""


class PrecisionAnswer(StrEnum):
    """What keeps the draft from being accepted."""

    PRECISION = "precision"
    DRAFT = "draft"
    NEITHER = "neither"  # all are accepted alike


@dataclass(frozen=True, slots=True)
class PrecisionCheck:
    """One of the drafts that were checked."""

    name: str
    precision: str  # "int4", "fp16"…; empty: not known
    verdict: CheckVerdict
    tokens_per_step: float | None
    speedup: float | None


@dataclass(frozen=True, slots=True)
class PrecisionComparison:
    """The answer, and one sentence for people."""

    answer: PrecisionAnswer
    statement: str
    checks: tuple[PrecisionCheck, ...]


def compare_precisions(checks: Sequence[PrecisionCheck]) -> PrecisionComparison:
    """The same draft in at least two precisions, checked with the same questions."""
    brought = sorted(checks, key=lambda check: check.tokens_per_step or 1.0)
    worst, best = brought[0], brought[-1]
    least, most = (check.tokens_per_step or 1.0 for check in (worst, best))
    if most < USELESS_BELOW:
        answer, statement = (
            PrecisionAnswer.DRAFT,
            (
                f"It is the draft: in no precision does it bring more than {significant(most)} "
                "tokens a step, so rounding is not the cause."
            ),
        )
    elif least - 1 < LOST_SHARE * (most - 1):
        answer, statement = (
            PrecisionAnswer.PRECISION,
            (
                f"It is the precision: {_called(best)} brings {significant(most)} tokens a step, "
                f"{_called(worst)} only {significant(least)}."
            ),
        )
    else:
        fastest = max(checks, key=lambda check: check.speedup or 0.0)
        answer, statement = (
            PrecisionAnswer.NEITHER,
            (
                f"All are accepted alike, {significant(least)} to {significant(most)} tokens a "
                f"step. The fastest here is {_called(fastest)}."
            ),
        )
    return PrecisionComparison(answer, statement, tuple(checks))


def _called(check: PrecisionCheck) -> str:
    return f"{check.name} ({check.precision})" if check.precision else check.name
