"""Answers whose times may be compared: warm, greedy, whole, and all from the same pair."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.engine_state import loaded_pair
from dflash_desktop.domain.generation import FinishReason, PromptMessage, Role, SamplingParams
from dflash_desktop.domain.pair import measurement_key
from dflash_desktop.domain.problems import AppError, CancelledByPersonError, Problem, Remedy
from dflash_desktop.workers.protocol import Finished

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair import LoadedPair
    from dflash_desktop.services.engine import Engine

WARM_UP_TOKENS: Final = 16
WARM_UP_ANSWERS: Final = 2
"""The first answer of a pipeline, and the first with each number of tokens a step, pays for what
is compiled or allocated then (19.6 ms, then 3.4, then 2.6 to the first token, measured)."""


class TimedAnswers:
    """Asks the engine; a setting that is cold is warmed up before its answer is timed."""

    def __init__(self, *, engine: Engine, pair: LoadedPair, warm_up: str) -> None:
        self._engine = engine
        self._pair = pair
        self._warm_up_messages = question(warm_up)
        self._warm: set[int] = set()

    async def warm_up(self, assistant_tokens: int) -> Finished:
        """Make this setting warm; the last warm-up answer tells how fast this machine is."""
        if not self._pair.keeps_both:
            # The other pipeline had to go, and everything that was warm in it.
            self._warm = {s for s in self._warm if bool(s) == bool(assistant_tokens)}
        for _ in range(WARM_UP_ANSWERS - 1):
            await self._ask(self._warm_up_messages, assistant_tokens, WARM_UP_TOKENS)
        self._warm.add(assistant_tokens)
        return await self._ask(self._warm_up_messages, assistant_tokens, WARM_UP_TOKENS)

    async def answer(
        self, messages: tuple[PromptMessage, ...], assistant_tokens: int, max_new_tokens: int
    ) -> Finished:
        """A whole, warm, greedy answer.

        Raises `AppError` when the engine fails or another pair was loaded meanwhile, and
        `CancelledByPersonError` when the engine was told to stop.
        """
        if assistant_tokens not in self._warm:
            await self.warm_up(assistant_tokens)
        return await self._ask(messages, assistant_tokens, max_new_tokens)

    async def _ask(
        self, messages: tuple[PromptMessage, ...], assistant_tokens: int, max_new_tokens: int
    ) -> Finished:
        params = SamplingParams(max_new_tokens=max_new_tokens)
        events = self._engine.generate(messages, params, assistant_tokens=assistant_tokens)
        finished: Finished | None = None
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Finished):
                    finished = event
        if finished is None or finished.reason is FinishReason.CANCELLED:
            raise CancelledByPersonError
        now = loaded_pair(self._engine.state)
        if now is not None and measurement_key(now) != measurement_key(self._pair):
            raise AppError(_OTHER_PAIR)
        return finished


def question(text: str, pictures: tuple[Path, ...] = ()) -> tuple[PromptMessage, ...]:
    """The messages of a conversation that begins with this question."""
    return (PromptMessage(Role.USER, text, pictures),)


_OTHER_PAIR: Final = Problem(
    code="measurement_disturbed",
    headline="Another model was loaded while this one was being measured.",
    advice="Nothing was stored. Measure again, and leave the model as it is meanwhile.",
    remedies=(Remedy.MEASURE,),
)
