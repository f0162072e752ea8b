"""What a measurement says about a pair, reduced to what tells one fault from another."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.acceptance import Acceptance, summed
from dflash_desktop.domain.benchmark import FirstDifference, tried_assistant_tokens
from dflash_desktop.domain.draft_choice import KindSpeedup, setting_worth
from dflash_desktop.domain.generation import KvCachePrecision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflash_desktop.domain.benchmark import BenchReport, BenchRun

NOTHING_BELOW: Final = 0.03
"""Random weights of the right shape are accepted in 1 % of the steps (measured)."""

FIRST_ONLY_FROM: Final = 0.05
FIRST_ONLY_SHARE: Final = 0.2
"""A draft whose output is shifted by one place has 12 % at the first position and nothing behind
it; working drafts keep about six tenths from one position to the next (measured)."""

USELESS_BELOW: Final = 1.2
"""Tokens a step. The shifted draft brings 1.1, a stateless one of the same weights 1.5 to 1.8, the
whole one 2.0 to 2.4 (measured); nothing below this can pay, since the draft takes time, too."""

FALLS_TO: Final = 0.5
"""Of the tokens that the draft adds: texts differ by a third, a lost context takes most."""

MIN_STEPS: Final = 8


class Signature(StrEnum):
    """How acceptance is spread over a draft's positions."""

    NOTHING = "nothing"
    FIRST_ONLY = "first_only"
    LOW = "low"
    ORDINARY = "ordinary"


class TextVerdict(StrEnum):
    """Whether the text with the draft is the target's own."""

    IDENTICAL = "identical"
    NUMERIC_TIE = "numeric_tie"
    WRONG_TOKEN = "wrong_token"  # noqa: S105
    UNEXPLAINED = "unexplained"  # it differs, and nothing could be scored at that place


@dataclass(frozen=True, slots=True)
class AcceptedAt:
    """Acceptance behind a prompt of this length."""

    context_tokens: int
    acceptance: Acceptance


@dataclass(frozen=True, slots=True)
class CheckNumbers:
    """One pair's numbers. `assistant_tokens` is the setting that was fastest."""

    assistant_tokens: int
    speedup: float | None
    tokens_per_step: float | None  # at that setting
    acceptance: Acceptance  # over all prompts, at the largest setting
    by_kind: tuple[KindSpeedup, ...] = ()
    text: TextVerdict = TextVerdict.IDENTICAL
    difference: FirstDifference | None = None  # the one that decides about the text
    kv_cache_precision: KvCachePrecision | None = None
    by_context: tuple[AcceptedAt, ...] = ()  # rising, at one setting
    window_tokens: int | None = None  # what the draft was trained to look back
    without_image: Acceptance | None = None
    with_image: Acceptance | None = None

    @property
    def step_cost(self) -> float | None:
        """How many steps without the draft one with it takes as long as."""
        if not self.speedup or not self.tokens_per_step:
            return None
        return self.tokens_per_step / self.speedup

    @property
    def signature(self) -> Signature:
        """Which kind of acceptance this is."""
        return signature_of(self.acceptance.rates)

    @property
    def falls_beyond(self) -> int | None:
        """The context length in tokens from which most of the gain is lost, or None."""
        points = [one for one in self.by_context if one.acceptance.steps >= MIN_STEPS]
        window = self.window_tokens
        for before, behind in itertools.pairwise(points):
            if window is not None and not before.context_tokens <= window < behind.context_tokens:
                continue
            if _falls(before.acceptance, behind.acceptance):
                return window or before.context_tokens
        return None

    @property
    def falls_after_image(self) -> bool:
        """Whether most of the gain is lost once an image was shown."""
        before, after = self.without_image, self.with_image
        if before is None or after is None or min(before.steps, after.steps) < MIN_STEPS:
            return False
        return _falls(before, after)


def signature_of(rates: Sequence[float]) -> Signature:
    """From the share of steps, 0 to 1, in which each position was accepted; none without steps."""
    if not rates or rates[0] < NOTHING_BELOW:
        return Signature.NOTHING
    if rates[0] >= FIRST_ONLY_FROM and rates[1:] and rates[1] <= FIRST_ONLY_SHARE * rates[0]:
        return Signature.FIRST_ONLY
    return Signature.LOW if 1 + sum(rates) < USELESS_BELOW else Signature.ORDINARY


def numbers_of(report: BenchReport, *, window_tokens: int | None = None) -> CheckNumbers:
    """The numbers of a measurement with at least one setting.

    `window_tokens` is how far the draft was trained to look back, where its config says so.
    """
    settings = [n for n in tried_assistant_tokens(report.prompts) if n > 0]
    worths = [worth for n in settings if (worth := setting_worth(report.prompts, n)) is not None]
    best = max(worths, key=lambda worth: worth.speedup, default=None)
    runs = [run for result in report.prompts for run in result.runs]
    seen = [run for result in report.pictures for run in result.runs]
    text, difference = _text([*runs, *seen])
    setting = max(settings, default=0)
    return CheckNumbers(
        assistant_tokens=best.assistant_tokens if best else setting,
        speedup=best.speedup if best else None,
        tokens_per_step=best.tokens_per_step if best else None,
        acceptance=_accepted(runs, setting),
        by_kind=best.by_kind if best else (),
        text=text,
        difference=difference,
        kv_cache_precision=report.kv_cache_precision,
        by_context=_by_context(report, runs),
        window_tokens=window_tokens,
        without_image=_accepted(runs, setting) if seen else None,
        with_image=_accepted(seen, setting) if seen else None,
    )


def _accepted(runs: list[BenchRun], assistant_tokens: int) -> Acceptance:
    return summed(
        run.acceptance
        for run in runs
        if run.assistant_tokens == assistant_tokens and run.acceptance is not None
    )


def _by_context(report: BenchReport, runs: list[BenchRun]) -> tuple[AcceptedAt, ...]:
    """The questions alone, then behind long prompts, all at the setting of the long ones."""
    largest = max((run.assistant_tokens for run in runs), default=0)
    setting = report.chosen.assistant_tokens or largest
    behind = [
        AcceptedAt(point.context_tokens, point.acceptance)
        for point in report.long_context
        if point.acceptance is not None
    ]
    return (
        AcceptedAt(0, _accepted(runs, setting)),
        *behind,
    )


def _text(runs: list[BenchRun]) -> tuple[TextVerdict, FirstDifference | None]:
    """The worst of all runs: a wrong token, then what nobody can explain, then a tie."""
    found = [run.first_difference for run in runs if run.first_difference is not None]
    for is_tie, verdict in _WORST_FIRST:
        worst = [one for one in found if one.is_numeric_tie is is_tie]
        if worst:
            return verdict, max(worst, key=lambda one: abs(one.gap_nats or 0.0))
    is_same = all(run.identical for run in runs)
    return (TextVerdict.IDENTICAL if is_same else TextVerdict.UNEXPLAINED), None


def _falls(before: Acceptance, behind: Acceptance) -> bool:
    gain, left = before.tokens_per_step or 1.0, behind.tokens_per_step or 1.0
    return gain >= USELESS_BELOW and left - 1 < FALLS_TO * (gain - 1)


_WORST_FIRST: Final = (
    (False, TextVerdict.WRONG_TOKEN),
    (None, TextVerdict.UNEXPLAINED),
    (True, TextVerdict.NUMERIC_TIE),
)
