"""What a draft is worth here: the runs, the first difference, and which setting pays."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import median
from typing import TYPE_CHECKING

from dflash_desktop.domain.acceptance import Acceptance
from dflash_desktop.domain.pair import MeasurementKey

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.domain.generation import KvCachePrecision


class PromptKind(StrEnum):
    """Kinds of text on which drafts differ."""

    SHORT_ANSWER = "short_answer"
    PROSE = "prose"
    CODE = "code"
    LIST = "list"
    COUNTING = "counting"
    PICTURE = "picture"  # a question about a picture, for models that see


@dataclass(frozen=True, slots=True)
class BenchPrompt:
    """One built-in question."""

    kind: PromptKind
    text: str
    max_new_tokens: int = 128


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """Where the text with the draft leaves the target's own text.

    `gap_nats` is how much more likely the target finds its own token than the other one at that
    place, by its own log-probabilities; within `noise_nats` the two tie numerically.
    """

    token_index: int
    without_draft: str  # the next words of each text
    with_draft: str
    gap_nats: float | None
    noise_nats: float

    @property
    def is_numeric_tie(self) -> bool | None:
        """True when the two tokens tie within numeric noise; None when it was not measured."""
        return None if self.gap_nats is None else abs(self.gap_nats) <= self.noise_nats


@dataclass(frozen=True, slots=True)
class RoundRates:
    """Both decode rates of one round; how far rounds differ is the noise of a measurement."""

    baseline_tokens_per_second: float
    tokens_per_second: float


@dataclass(frozen=True, slots=True)
class BenchRun:
    """One prompt at one number of assistant tokens: medians of warmed-up, alternating runs.

    `tokens` counts the answer without the draft.
    """

    assistant_tokens: int
    baseline_tokens_per_second: float | None
    tokens_per_second: float | None
    tokens_per_step: float | None
    identical: bool
    first_difference: FirstDifference | None
    baseline_first_token_seconds: float
    first_token_seconds: float
    tokens: int
    rounds: tuple[RoundRates, ...] = ()
    acceptance: Acceptance | None = None  # of the first answer with the draft

    @property
    def speedup(self) -> float | None:
        """Decode rate with the draft over decode rate without it."""
        if not self.baseline_tokens_per_second or not self.tokens_per_second:
            return None
        return self.tokens_per_second / self.baseline_tokens_per_second


@dataclass(frozen=True, slots=True)
class PromptResult:
    """All runs of one prompt."""

    prompt: BenchPrompt
    runs: tuple[BenchRun, ...]


@dataclass(frozen=True, slots=True)
class ChosenSetting:
    """What the chat will use; 0 assistant tokens means the draft stays off."""

    assistant_tokens: int
    speedup: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class ContextPoint:
    """Both decode rates behind a prompt of this length; drafts can lose on long ones (case 27)."""

    context_tokens: int
    baseline_tokens_per_second: float
    tokens_per_second: float
    acceptance: Acceptance | None = None

    @property
    def speedup(self) -> float:
        """Decode rate with the draft over decode rate without it."""
        return self.tokens_per_second / self.baseline_tokens_per_second


@dataclass(frozen=True, slots=True)
class BenchReport:
    """Everything one measurement found; stored, shown and printed."""

    key: MeasurementKey
    pair_title: str
    measured_at: datetime
    is_fast: bool
    power_source: str  # "mains", "battery" or "unknown"
    prompts: tuple[PromptResult, ...]
    chosen: ChosenSetting
    long_context: tuple[ContextPoint, ...] = ()  # rising; for the chosen setting, full mode only
    pictures: tuple[PromptResult, ...] = ()  # questions about a picture, kept apart
    chosen_with_pictures: ChosenSetting | None = None

    @property
    def kv_cache_precision(self) -> KvCachePrecision:
        """The precision that all runs used."""
        return self.key.kv_cache_precision

    @property
    def baseline_tokens_per_second(self) -> float | None:
        """The median decode rate without a draft over all prompts of text alone."""
        return _baseline(self.prompts)

    @property
    def picture_baseline_tokens_per_second(self) -> float | None:
        """The same behind a picture; None for a model that sees none."""
        return _baseline(self.pictures)

    def chosen_for(self, *, with_pictures: bool) -> ChosenSetting:
        """What the chat will use for a turn of this kind."""
        return (with_pictures and self.chosen_with_pictures) or self.chosen


def _baseline(results: Iterable[PromptResult]) -> float | None:
    rates = [
        run.baseline_tokens_per_second
        for result in results
        for run in result.runs
        if run.baseline_tokens_per_second
    ]
    return median(rates) if rates else None


def tried_assistant_tokens(results: Iterable[PromptResult]) -> tuple[int, ...]:
    """The settings that were tried, in rising order."""
    return tuple(sorted({run.assistant_tokens for r in results for run in r.runs}))
