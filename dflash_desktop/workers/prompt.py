"""From messages to the token ids that the target reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.generation import PromptMessage, Role, ThinkingMode
from dflash_desktop.domain.thinking import OPEN_TAG

if TYPE_CHECKING:
    from collections.abc import Sequence

_PIECE_CHARACTERS: Final = 4_000
_PROBE_TEXT: Final = " hello" * 300_000
_RESERVED_ANSWER_TOKENS: Final = 256
"""Room that a prompt must leave for the answer, unless the person asked for a shorter one."""
_FALLBACK_CONTEXT_TOKENS: Final = 4_096


class PromptTooLongError(Exception):
    """The prompt does not fit, and leaving out older turns was not allowed or did not help."""

    def __init__(self, code: str, prompt_tokens: int, context_tokens: int) -> None:
        super().__init__(f"{prompt_tokens} prompt tokens, {context_tokens} fit")
        self.code = code
        self.prompt_tokens = prompt_tokens
        self.context_tokens = context_tokens


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids ready for the target, and what became of the conversation on the way."""

    token_ids: tuple[int, ...]
    left_out_messages: int
    thinking_is_open: bool


class PromptBuilder:
    """Applies the model's own chat template and counts tokens honestly.

    OpenVINO's tokenizers cut every text at the length stored in them without a word (measured:
    `max_length` does not lift it), so long texts are counted in pieces, and that length bounds
    the context.
    """

    def __init__(self, tokenizer: Any, *, config_context_tokens: int | None) -> None:  # noqa: ANN401 - GenAI has no stubs that mypy can use
        self._tokenizer = tokenizer
        self.has_template = bool(str(tokenizer.chat_template or "").strip())
        self.supports_thinking = "enable_thinking" in str(tokenizer.chat_template or "")
        self._cut_at_tokens = self._encode_length(_PROBE_TEXT)
        self.context_tokens = min(
            config_context_tokens or _FALLBACK_CONTEXT_TOKENS, self._cut_at_tokens
        )

    def build(
        self,
        messages: Sequence[PromptMessage],
        *,
        thinking: ThinkingMode,
        max_new_tokens: int,
        leave_out_oldest: bool,
    ) -> Prompt:
        """Raises `PromptTooLongError`: context_full, or message_too_long for one turn alone."""
        room = self.context_tokens - min(_RESERVED_ANSWER_TOKENS, max_new_tokens)
        kept = list(messages)
        while True:
            text = self._templated(kept, thinking)
            tokens = self.count(text)
            if tokens <= room:
                break
            if not _can_leave_out(kept):
                raise PromptTooLongError("message_too_long", tokens, self.context_tokens)
            if not leave_out_oldest:
                raise PromptTooLongError("context_full", tokens, self.context_tokens)
            _leave_out_oldest_turn(kept)
        ids = self._tokenizer.encode(text, add_special_tokens=False).input_ids.data[0]
        return Prompt(
            token_ids=tuple(int(token) for token in ids),
            left_out_messages=len(messages) - len(kept),
            thinking_is_open=text.rstrip().endswith(OPEN_TAG),
        )

    def count(self, text: str) -> int:
        """How many tokens `text` has; texts beyond the tokenizer's own limit slightly over."""
        tokens = self._encode_length(text)
        if tokens < self._cut_at_tokens:
            return tokens
        return sum(
            self._encode_length(text[start : start + _PIECE_CHARACTERS])
            for start in range(0, len(text), _PIECE_CHARACTERS)
        )

    def _encode_length(self, text: str) -> int:
        return int(self._tokenizer.encode(text, add_special_tokens=False).input_ids.shape[1])

    def _templated(self, messages: Sequence[PromptMessage], thinking: ThinkingMode) -> str:
        if not self.has_template:
            return "\n\n".join(message.content for message in messages)
        from openvino_genai import ChatHistory

        history = ChatHistory([{"role": str(m.role), "content": m.content} for m in messages])
        if thinking is not ThinkingMode.MODEL_DEFAULT:
            history.set_extra_context({"enable_thinking": thinking is ThinkingMode.ON})
        return str(self._tokenizer.apply_chat_template(history, add_generation_prompt=True))


def _first_turn(messages: Sequence[PromptMessage]) -> int:
    return 1 if messages and messages[0].role is Role.SYSTEM else 0


def _can_leave_out(messages: Sequence[PromptMessage]) -> bool:
    return len(messages) - _first_turn(messages) > 1


def _leave_out_oldest_turn(messages: list[PromptMessage]) -> None:
    """Drop the oldest question and its answer, so that what is left starts with a question."""
    first = _first_turn(messages)
    del messages[first]
    while _can_leave_out(messages) and messages[first].role is not Role.USER:
        del messages[first]
