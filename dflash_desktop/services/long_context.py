"""Whether the chosen setting still pays behind a long conversation (case 27)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle
from statistics import median
from time import monotonic
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.acceptance import Acceptance, acceptance, summed
from dflash_desktop.domain.benchmark import ContextPoint
from dflash_desktop.domain.generation import PromptMessage, Role

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

    from dflash_desktop.services.timed_answers import TimedAnswers

LENGTHS_TOKENS: Final = (1_000, 2_000, 4_000)
ANSWER_TOKENS: Final = 32
BUDGET_SECONDS: Final = 45.0
"""Each length reads its long prompt four times, and that is what takes the time."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One question with its answer, and how many tokens both take."""

    question: str
    answer: str
    tokens: int


async def long_context_points(
    answers: TimedAnswers, turns: Sequence[Turn], *, assistant_tokens: int, context_tokens: int
) -> AsyncGenerator[ContextPoint]:
    """Both rates behind conversations of rising length, made of these turns over and over.

    Lengths that do not fit the context or the time are left out. Raises as `answers` does.
    """
    started_at = monotonic()
    seconds_per_token = 0.0
    for length in LENGTHS_TOKENS:
        expected_seconds = seconds_per_token * length
        if monotonic() - started_at + expected_seconds > BUDGET_SECONDS:
            return
        # The template's own tokens come on top of the turns', some for each.
        if length * 1.25 + ANSWER_TOKENS > context_tokens:
            return
        begun_at = monotonic()
        point = await _point(answers, _conversation(turns, length), assistant_tokens)
        if point is not None:
            yield point
        seconds_per_token = (monotonic() - begun_at) / length


def _conversation(turns: Sequence[Turn], tokens: int) -> tuple[PromptMessage, ...]:
    """Whole turns up to about this many tokens, then the first question once more."""
    messages: list[PromptMessage] = []
    for turn in cycle(turns):
        if tokens <= 0:
            break
        tokens -= max(1, turn.tokens)
        messages += (
            PromptMessage(Role.USER, turn.question),
            PromptMessage(Role.ASSISTANT, turn.answer),
        )
    return (*messages, PromptMessage(Role.USER, turns[0].question))


async def _point(
    answers: TimedAnswers, messages: tuple[PromptMessage, ...], assistant_tokens: int
) -> ContextPoint | None:
    """There and back, as in the rest of the measurement; None if an answer was too short."""
    rates: dict[int, list[float]] = {0: [], assistant_tokens: []}
    context_tokens = 0
    accepted: list[Acceptance] = []
    for setting in (0, assistant_tokens, assistant_tokens, 0):
        finished = await answers.answer(messages, setting, ANSWER_TOKENS)
        stats = finished.stats
        context_tokens = stats.prompt_tokens
        if setting and finished.step_tokens:
            accepted.append(acceptance(finished.step_tokens, setting))
        if stats.tokens_per_second is not None:
            rates[setting].append(stats.tokens_per_second)
    if not rates[0] or not rates[assistant_tokens]:
        return None
    return ContextPoint(
        context_tokens,
        median(rates[0]),
        median(rates[assistant_tokens]),
        acceptance=summed(accepted) if accepted else None,
    )
