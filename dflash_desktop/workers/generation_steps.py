"""What an answer is made of: pieces of the prompt, verification steps, and their counts."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

from dflash_desktop.domain.generation import FinishReason, GenerationStats


@dataclass(frozen=True, slots=True)
class PrefillStep:
    """A piece of the prompt was read."""

    done_tokens: int


@dataclass(frozen=True, slots=True)
class TokenStep:
    """One verification step: its tokens, of which the first `drafted` were the draft's."""

    tokens: tuple[int, ...]
    drafted: int
    stats: GenerationStats


@dataclass(frozen=True, slots=True)
class LastStep:
    """The job is over."""

    reason: FinishReason
    stats: GenerationStats


GenerationStep = PrefillStep | TokenStep | LastStep


class StepClock:
    """Counts steps and tokens of one job and keeps their times."""

    def __init__(
        self, prompt_tokens: int, assistant_tokens: int, *, picture_tokens: int = 0
    ) -> None:
        self._prompt_tokens = prompt_tokens
        self._picture_tokens = picture_tokens
        self._assistant_tokens = assistant_tokens
        self._started_at = perf_counter()
        self._first_at = 0.0
        self._last_at = 0.0
        self._tokens = 0
        self._first_step_tokens = 0
        self.picture_seconds = 0.0
        self.steps = 0
        self.prefill_steps = 0

    def note_pictures(self) -> None:
        """The pictures have been turned into tokens just now."""
        self.picture_seconds = perf_counter() - self._started_at

    def count(self, tokens: int) -> None:
        """One step has brought `tokens` tokens just now."""
        self._last_at = perf_counter()
        if not self.steps:
            self._first_at = self._last_at
            self._first_step_tokens = tokens
        self.steps += 1
        self._tokens += tokens

    def stats(self) -> GenerationStats:
        """The counts up to now."""
        return GenerationStats(
            prompt_tokens=self._prompt_tokens,
            tokens=self._tokens,
            steps=self.steps,
            first_step_tokens=self._first_step_tokens,
            first_token_seconds=self._first_at - self._started_at if self.steps else 0.0,
            decode_seconds=self._last_at - self._first_at,
            assistant_tokens=self._assistant_tokens,
            picture_tokens=self._picture_tokens,
            picture_seconds=self.picture_seconds,
        )
