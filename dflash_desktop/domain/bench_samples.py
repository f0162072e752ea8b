"""From timed answers to results: medians, round by round, with and without the draft."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean, median
from typing import TYPE_CHECKING

from dflash_desktop.domain.acceptance import acceptance
from dflash_desktop.domain.bench_plan import PlannedRun
from dflash_desktop.domain.benchmark import BenchRun, PromptResult, RoundRates
from dflash_desktop.domain.generation import GenerationStats
from dflash_desktop.domain.text_difference import first_difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dflash_desktop.domain.benchmark import BenchPrompt, FirstDifference


@dataclass(frozen=True, slots=True)
class Sample:
    """One timed answer."""

    run: PlannedRun
    stats: GenerationStats
    token_ids: tuple[int, ...]
    step_tokens: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TextFork:
    """Where an answer with the draft leaves the target's own, as token ids."""

    prompt: int
    without_draft: tuple[int, ...]
    with_draft: tuple[int, ...]
    token_index: int

    @property
    def shared(self) -> tuple[int, ...]:
        """What both answers begin with."""
        return self.without_draft[: self.token_index]


def fork(samples: Sequence[Sample], prompt: int, assistant_tokens: int) -> TextFork | None:
    """Where the first answers of both kinds part, or None if they are the same.

    Both must be among the samples.
    """
    without = _of(samples, prompt, 0)[0].token_ids
    with_draft = _of(samples, prompt, assistant_tokens)[0].token_ids
    index = first_difference(without, with_draft)
    return None if index is None else TextFork(prompt, without, with_draft, index)


def prompt_result(
    prompt: BenchPrompt,
    index: int,
    samples: Sequence[Sample],
    settings: Iterable[int],
    differences: Mapping[TextFork, FirstDifference],
) -> PromptResult:
    """All that the samples say about one prompt; settings without samples are left out."""
    runs = tuple(
        run
        for setting in settings
        if (run := _bench_run(index, setting, samples, differences)) is not None
    )
    return PromptResult(prompt, runs)


def _bench_run(
    prompt: int,
    assistant_tokens: int,
    samples: Sequence[Sample],
    differences: Mapping[TextFork, FirstDifference],
) -> BenchRun | None:
    without = _of(samples, prompt, 0)
    with_draft = _of(samples, prompt, assistant_tokens)
    if not without or not with_draft:
        return None
    parting = fork(samples, prompt, assistant_tokens)
    return BenchRun(
        assistant_tokens=assistant_tokens,
        baseline_tokens_per_second=_median_rate(without),
        tokens_per_second=_median_rate(with_draft),
        tokens_per_step=with_draft[0].stats.tokens_per_step,
        identical=parting is None,
        first_difference=differences.get(parting) if parting else None,
        baseline_first_token_seconds=median(s.stats.first_token_seconds for s in without),
        first_token_seconds=median(s.stats.first_token_seconds for s in with_draft),
        tokens=without[0].stats.tokens,
        rounds=_round_rates(without, with_draft),
        acceptance=acceptance(with_draft[0].step_tokens, assistant_tokens)
        if with_draft[0].step_tokens
        else None,
    )


def _round_rates(
    without: Sequence[Sample], with_draft: Sequence[Sample]
) -> tuple[RoundRates, ...]:
    rounds = []
    for number in sorted({s.run.round for s in with_draft}):
        baseline = _rates([s for s in without if s.run.round == number])
        drafted = _rates([s for s in with_draft if s.run.round == number])
        if baseline and drafted:
            rounds.append(RoundRates(mean(baseline), mean(drafted)))
    return tuple(rounds)


def _of(samples: Sequence[Sample], prompt: int, assistant_tokens: int) -> list[Sample]:
    return [
        sample
        for sample in samples
        if sample.run.prompt == prompt and sample.run.assistant_tokens == assistant_tokens
    ]


def _rates(samples: Sequence[Sample]) -> list[float]:
    return [rate for s in samples if (rate := s.stats.tokens_per_second) is not None]


def _median_rate(samples: Sequence[Sample]) -> float | None:
    rates = _rates(samples)
    return median(rates) if rates else None
