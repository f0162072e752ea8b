"""Which number of assistant tokens pays over a whole set of prompts, or that none does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.benchmark import ChosenSetting, PromptKind, tried_assistant_tokens
from dflash_desktop.domain.units import format_speedup, significant

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflash_desktop.domain.benchmark import BenchRun, PromptResult

MIN_SPEEDUP: Final = 1.02
"""Below this nobody notices, while the draft's memory and power are spent all the same."""

_KIND_WORDS: Final = {
    PromptKind.SHORT_ANSWER: "short answers",
    PromptKind.PROSE: "prose",
    PromptKind.CODE: "code",
    PromptKind.LIST: "lists",
    PromptKind.COUNTING: "counting",
    PromptKind.PICTURE: "pictures",
}


@dataclass(frozen=True, slots=True)
class KindSpeedup:
    """What a setting is worth on one kind of text."""

    kind: PromptKind
    speedup: float

    @property
    def words(self) -> str:
        """For example "code (1.31x)"."""
        return f"{_KIND_WORDS[self.kind]} ({format_speedup(self.speedup)})"


@dataclass(frozen=True, slots=True)
class SettingWorth:
    """What one number of assistant tokens is worth over a set of prompts.

    Every speed-up is a ratio of total times for the same tokens, so a long answer counts more
    than a short one, as it does for the person who waits for it.
    """

    assistant_tokens: int
    prompts: int
    speedup: float  # decode time without the draft over decode time with it
    answer_speedup: float  # the same with the time to the first token
    slowest_round: float  # `speedup` of the round that was worst for the draft
    fastest_round: float
    tokens_per_step: float | None  # tokens for each pass of the target
    by_kind: tuple[KindSpeedup, ...]  # the best first
    wrong_texts: int  # answers with a token that the target itself would not have chosen

    @property
    def pays(self) -> bool:
        """True if it is faster beyond noise, whole answers too, with the target's own text."""
        return (
            self.wrong_texts == 0
            and self.speedup >= MIN_SPEEDUP
            and self.slowest_round >= 1.0
            and self.answer_speedup >= 1.0
        )


def setting_worth(results: Iterable[PromptResult], assistant_tokens: int) -> SettingWorth | None:
    """The worth of one setting over all prompts that have both rates; None if none has."""
    runs = [
        (result.prompt.kind, run, times)
        for result in results
        for run in result.runs
        if run.assistant_tokens == assistant_tokens and (times := _times(run)) is not None
    ]
    if not runs:
        return None
    decoding = [times for _, _, times in runs]
    speedup = _speedup(decoding)
    rounds = _round_speedups([run for _, run, _ in runs]) or (speedup,)
    by_kind = [
        KindSpeedup(kind, _speedup([times for k, _, times in runs if k is kind]))
        for kind in dict.fromkeys(kind for kind, _, _ in runs)
    ]
    return SettingWorth(
        assistant_tokens=assistant_tokens,
        prompts=len(runs),
        speedup=speedup,
        answer_speedup=_speedup([_with_first_token(run, times) for _, run, times in runs]),
        slowest_round=min(rounds),
        fastest_round=max(rounds),
        tokens_per_step=_tokens_per_step([run for _, run, _ in runs]),
        by_kind=tuple(sorted(by_kind, key=lambda k: k.speedup, reverse=True)),
        wrong_texts=sum(_has_wrong_token(run) for _, run, _ in runs),
    )


def choose(results: Sequence[PromptResult]) -> ChosenSetting:
    """The setting that is best over the whole set, or 0 when none is faster beyond noise.

    Settings that were not tried on every comparable prompt are not considered.
    """
    worths = [
        worth
        for setting in tried_assistant_tokens(results)
        if setting > 0 and (worth := setting_worth(results, setting)) is not None
    ]
    whole_set = max((worth.prompts for worth in worths), default=0)
    worths = [worth for worth in worths if worth.prompts == whole_set]
    paying = [worth for worth in worths if worth.pays]
    if paying:
        best = max(paying, key=lambda worth: worth.speedup)
        return ChosenSetting(best.assistant_tokens, best.speedup, _reason_for(best))
    return ChosenSetting(0, None, _reason_against(worths))


def choose_for_pictures(results: Sequence[PromptResult]) -> ChosenSetting:
    """The same over the questions about pictures, and its reason says so."""
    chosen = choose(results)
    return replace(chosen, reason=f"With pictures: {chosen.reason[:1].lower()}{chosen.reason[1:]}")


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds for the same tokens without the draft and with it."""

    without: float
    with_draft: float


def _times(run: BenchRun) -> _Times | None:
    """Decode times of one run, or None where an answer was too short to have a rate."""
    if not run.baseline_tokens_per_second or not run.tokens_per_second:
        return None
    later = _later_tokens(run)
    return _Times(later / run.baseline_tokens_per_second, later / run.tokens_per_second)


def _later_tokens(run: BenchRun) -> int:
    # The first token comes with the prompt's own pass, before decoding starts.
    return max(1, run.tokens - 1)


def _with_first_token(run: BenchRun, times: _Times) -> _Times:
    return _Times(
        times.without + run.baseline_first_token_seconds,
        times.with_draft + run.first_token_seconds,
    )


def _speedup(times: Iterable[_Times]) -> float:
    summed = tuple(times)
    return sum(t.without for t in summed) / sum(t.with_draft for t in summed)


def _round_speedups(runs: Sequence[BenchRun]) -> tuple[float, ...]:
    """The set's speed-up in each round that all runs have."""
    return tuple(
        _speedup(
            _Times(
                _later_tokens(run) / run.rounds[number].baseline_tokens_per_second,
                _later_tokens(run) / run.rounds[number].tokens_per_second,
            )
            for run in runs
        )
        for number in range(min(len(run.rounds) for run in runs))
    )


def _tokens_per_step(runs: Sequence[BenchRun]) -> float | None:
    """All tokens over all steps, so that a one-step answer does not count like a long one."""
    counted = [(run.tokens, run.tokens_per_step) for run in runs]
    steps = sum(tokens / per_step for tokens, per_step in counted if per_step)
    return sum(tokens for tokens, per_step in counted if per_step) / steps if steps else None


def _has_wrong_token(run: BenchRun) -> bool:
    difference = run.first_difference
    return difference is not None and difference.is_numeric_tie is False


def _reason_for(worth: SettingWorth) -> str:
    words = (
        f"{_tokens_words(worth.assistant_tokens)}: {format_speedup(worth.speedup)} over "
        f"{_prompts_words(worth.prompts)}"
    )
    if len(worth.by_kind) < 2:
        return f"{words}."
    best, worst = worth.by_kind[0], worth.by_kind[-1]
    least = "loses on" if worst.speedup < 1.0 else "least for"
    return f"{words}; best for {best.words}, {least} {worst.words}."


def _reason_against(worths: Sequence[SettingWorth]) -> str:
    if not worths:
        return "Draft off: no answer was long enough to compare."
    right = [worth for worth in worths if worth.wrong_texts == 0]
    if not right:
        worth = min(worths, key=lambda w: w.wrong_texts)
        return (
            f"Draft off: with it the text is not the target's own in {worth.wrong_texts} of "
            f"{_prompts_words(worth.prompts)}, by more than rounding explains."
        )
    best = max(right, key=lambda worth: worth.speedup)
    found = (
        f"Draft off: the best setting, {_tokens_words(best.assistant_tokens)}, gave "
        f"{_below_the_bar(best.speedup)} over {_prompts_words(best.prompts)}"
    )
    if best.speedup < MIN_SPEEDUP:
        return f"{found}; it takes {format_speedup(MIN_SPEEDUP)} to be worth having."
    if best.slowest_round < 1.0:
        return (
            f"{found}, but repeats of it ranged from {format_speedup(best.slowest_round)} to "
            f"{format_speedup(best.fastest_round)}, so it may be noise."
        )
    return (
        f"{found}, but whole answers, with the wait for their first word, took longer "
        f"({format_speedup(best.answer_speedup)})."
    )


def _below_the_bar(speedup: float) -> str:
    """A speed-up, with one more digit where it would read as the bar that it misses."""
    words = format_speedup(speedup)
    if speedup < MIN_SPEEDUP and words == format_speedup(MIN_SPEEDUP):
        return f"{significant(speedup, 4)}x"
    return words


def _tokens_words(count: int) -> str:
    return f"{count} assistant token{'' if count == 1 else 's'}"


def _prompts_words(count: int) -> str:
    return f"{count} prompt{'' if count == 1 else 's'}"
