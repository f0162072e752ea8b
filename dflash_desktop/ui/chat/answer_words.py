"""Numbers and endings of an answer in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.generation import DraftState, FinishReason
from dflash_desktop.domain.units import format_rate, format_seconds, format_speedup

if TYPE_CHECKING:
    from dflash_desktop.domain.conversation import Message
    from dflash_desktop.domain.generation import GenerationStats

UNKNOWN = "–"

DRAFT_WORDS = {
    DraftState.ON: "on",
    DraftState.RESTING: "resting",
    DraftState.OFF: "off",
}


def speed_line(stats: GenerationStats, speedup: float | None) -> str:
    """The line under an answer: "48.2 tok/s · 2.40x · first word 0.21 s · 312 tokens".

    After a question with pictures, their tokens and the time that making these took stand in it,
    and its words are shorter, so that it still has room under an answer.
    """
    parts = []
    if stats.tokens_per_second is not None:
        parts.append(format_rate(stats.tokens_per_second))
    if speedup is not None:
        parts.append(format_speedup(speedup))
    if stats.picture_tokens:
        seconds = format_seconds(stats.picture_seconds)
        parts.append(f"pictures {stats.picture_tokens:,} tok, {seconds}")
    if stats.tokens:
        parts.append(f"first word {format_seconds(stats.first_token_seconds)}")
        unit = "tok" if stats.picture_tokens else "token" if stats.tokens == 1 else "tokens"
        parts.append(f"{stats.tokens:,} {unit}")
    return " · ".join(parts)


def speed_explanation(stats: GenerationStats, message: Message | None = None) -> str:
    """The tooltip of that line: how the tokens came about, and what the draft did."""
    lines = [f"{stats.prompt_tokens:,} tokens of prompt, {stats.steps:,} steps of the target."]
    if stats.picture_tokens:
        if stats.tokens:
            first = format_seconds(stats.first_token_seconds)
            lines.append(f"{stats.tokens:,} tokens of answer, the first word after {first}.")
        lines.append(
            f"{stats.picture_tokens:,} of the prompt's tokens are pictures; making them took "
            f"{format_seconds(stats.picture_seconds)}."
        )
    if stats.tokens_per_step is not None and stats.assistant_tokens:
        share = stats.accepted_share
        accepted = f", {share:.0%} of the draft's proposals accepted" if share is not None else ""
        lines.append(f"{stats.tokens_per_step:.2f} tokens per step{accepted}.")
    if message is not None and message.draft is not None:
        lines.append(f"Draft {DRAFT_WORDS[message.draft.state]}: {message.draft.reason}")
    return "\n".join(lines)


def cut_words(message: Message) -> str:
    """Why the answer ends where it ends, or "" if the model was done."""
    match message.finish:
        case FinishReason.CANCELLED:
            return "You stopped this answer."
        case FinishReason.LENGTH:
            return "Cut: the answer reached its longest allowed length. Sampling has the limit."
        case FinishReason.CONTEXT:
            return "Cut: the context is full. A new chat has room again."
        case FinishReason.FAILED:
            return f"Cut: {message.problem_headline or 'the engine broke off.'}"
        case FinishReason.STOP | None:
            return ""
