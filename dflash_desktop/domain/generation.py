"""One answer: what is asked of the engine, what it may do today, and what it measured."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

_CLOCK_SECONDS = 1e-6
"""Shorter times are below what the clock can tell, and no rate."""


class Role(StrEnum):
    """Who speaks in a conversation, in the words that chat templates use."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One turn as the model's chat template receives it; `pictures` are prepared PNG files."""

    role: Role
    content: str
    pictures: tuple[Path, ...] = ()


class KvCachePrecision(StrEnum):
    """How the KV cache is stored; the value is what KV_CACHE_PRECISION takes."""

    F32 = "f32"
    F16 = "f16"
    U8 = "u8"


class ThinkingMode(StrEnum):
    """What the chat template is told about thinking; templates are free to ignore it."""

    MODEL_DEFAULT = "model_default"
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class SamplingParams:
    """How the next token is chosen; a temperature of 0 means greedy."""

    temperature: float = 0.0
    top_p: float = 0.95
    top_k: int = 40
    repetition_penalty: float = 1.0
    seed: int = 0
    max_new_tokens: int = 2048
    thinking: ThinkingMode = ThinkingMode.MODEL_DEFAULT

    @property
    def is_greedy(self) -> bool:
        """Greedy decoding: the only kind that DFlash can speed up (facts of 2026.4.1)."""
        return self.temperature <= 0.0


class DraftState(StrEnum):
    """What the draft does for one answer."""

    ON = "on"
    RESTING = "resting"  # attached, but this answer cannot or should not use it
    OFF = "off"


@dataclass(frozen=True, slots=True)
class DraftUse:
    """What the draft did and why; `assistant_tokens` is 0 unless it is on."""

    state: DraftState
    reason: str
    assistant_tokens: int = 0


class FinishReason(StrEnum):
    """Why an answer ended."""

    STOP = "stop"  # the model said it was done
    LENGTH = "length"  # max_new_tokens was reached
    CONTEXT = "context"  # the context is full
    CANCELLED = "cancelled"  # the person stopped it
    FAILED = "failed"  # the engine broke off; what came before is kept


class TextOrigin(StrEnum):
    """Which model proposed a piece of text; every piece was accepted by the target."""

    TARGET = "target"
    DRAFT = "draft"


@dataclass(frozen=True, slots=True)
class TextRun:
    """A piece of streamed text; `step` is the verification step that brought it, from 0."""

    text: str
    origin: TextOrigin
    step: int


@dataclass(frozen=True, slots=True)
class GenerationStats:
    """Counts and times of one answer, live or final; rates are derived, never stored.

    `steps` counts passes of the target that gave tokens, the prompt's own pass included: with a
    draft each brings its accepted tokens plus one of the target's, without one exactly one. So
    accepted = tokens - steps, as openvino-genai's own counters say (facts of 2026.4.1, where its
    acceptance rate is NaN). `decode_seconds` runs from the first step's end to the last step's.
    """

    prompt_tokens: int
    tokens: int
    steps: int
    first_step_tokens: int
    first_token_seconds: float
    decode_seconds: float
    assistant_tokens: int  # asked of the draft in each step; 0 without a draft
    picture_tokens: int = 0  # of the prompt's, those that pictures take
    picture_seconds: float = 0.0  # turning pictures into them

    @property
    def accepted_tokens(self) -> int:
        """Tokens that the draft proposed and the target accepted."""
        return max(0, self.tokens - self.steps) if self.assistant_tokens else 0

    @property
    def tokens_per_step(self) -> float | None:
        """Tokens for each pass of the target; None before the first."""
        return self.tokens / self.steps if self.steps else None

    @property
    def accepted_share(self) -> float | None:
        """Accepted of all proposed tokens, 0 to 1; None when nothing was proposed.

        The prompt's pass proposes nothing; every later step proposes `assistant_tokens`.
        """
        proposed = (self.steps - 1) * self.assistant_tokens
        return min(1.0, self.accepted_tokens / proposed) if proposed > 0 else None

    @property
    def tokens_per_second(self) -> float | None:
        """Decode rate: tokens after the first step over the time since; None before any."""
        later = self.tokens - self.first_step_tokens
        if later <= 0 or self.decode_seconds < _CLOCK_SECONDS:
            return None
        return later / self.decode_seconds


NO_STATS = GenerationStats(0, 0, 0, 0, 0.0, 0.0, 0)


def clamp_assistant_tokens(wanted: int, block_size: int) -> int:
    """Keep the number of assistant tokens inside what the draft was trained for.

    openvino-genai 2026.4.1 turns 0 into 5 and accepts more than the draft's block holds, both
    without a word, so neither may reach it.
    """
    return max(1, min(wanted, block_size - 1))


def draft_rests_because(params: SamplingParams) -> str | None:
    """Why an attached draft cannot take part in an answer with these settings, or None."""
    if not params.is_greedy:
        return (
            f"The draft rests: it works only with greedy decoding, and the temperature is "
            f"{params.temperature:g}. Set it to 0 to use the draft."
        )
    return None
