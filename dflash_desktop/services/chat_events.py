"""What happens while an answer is on its way, in the order in which it happens."""

from __future__ import annotations

from dataclasses import dataclass

from dflash_desktop.domain.conversation import Message
from dflash_desktop.domain.draft_policy import SpeedVerdict
from dflash_desktop.domain.generation import DraftUse, GenerationStats, TextRun


@dataclass(frozen=True, slots=True)
class AnswerStarted:
    """The prompt was built; `notice` tells what had to be changed or left out, or is empty."""

    prompt_tokens: int
    context_tokens: int
    left_out_messages: int
    draft: DraftUse
    notice: str


@dataclass(frozen=True, slots=True)
class PromptRead:
    """How much of the prompt the model has read."""

    done_tokens: int
    total_tokens: int


@dataclass(frozen=True, slots=True)
class AnswerText:
    """New visible text, new thinking (either may be empty), and the counts up to here."""

    runs: tuple[TextRun, ...]
    thinking: str
    stats: GenerationStats


@dataclass(frozen=True, slots=True)
class AnswerFinished:
    """The whole answer as it is kept, and what its speed compares with.

    `notice` is said once to the person: that the draft was switched off, or that the conversation
    could not be saved.
    """

    message: Message
    speed: SpeedVerdict
    notice: str


ChatEvent = AnswerStarted | PromptRead | AnswerText | AnswerFinished
