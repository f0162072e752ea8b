"""From messages to the token ids that the target reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dflash_desktop.domain.generation import PromptMessage, Role, ThinkingMode
from dflash_desktop.domain.thinking import OPEN_TAG
from dflash_desktop.workers.vision_pipeline import PlainText, picture_tag

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

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


class CannotSeeError(Exception):
    """Pictures were given to a model for text."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the target reads, and what became of the conversation on the way.

    `token_ids` are those of the text, with one for each of `pictures`. A model that sees takes
    `text`, in which a tag stands for each picture; `picture_tokens` are what these become.
    """

    token_ids: tuple[int, ...]
    left_out_messages: int = 0
    thinking_is_open: bool = False
    text: str = ""
    pictures: tuple[Path, ...] = ()
    picture_tokens: int = 0

    @property
    def tokens(self) -> int:
        """The length of the whole."""
        return len(self.token_ids) - len(self.pictures) + self.picture_tokens


class PromptBuilder:
    """Applies the model's own chat template and counts tokens honestly.

    OpenVINO's tokenizers cut every text at the length stored in them without a word (measured:
    `max_length` does not lift it), so long texts are counted in pieces, and that length bounds
    the context.
    """

    def __init__(
        self,
        tokenizer: Any,  # noqa: ANN401 - GenAI has no stubs that mypy can use
        *,
        config_context_tokens: int | None,
        chat_template: str = "",
        picture_tokens: Callable[[Path], int] | None = None,
    ) -> None:
        """`picture_tokens` says what a picture costs; None for a model that sees none.

        `chat_template` is the model's own, which the tokenizer of such a model does not hold.
        """
        self._tokenizer = tokenizer
        self._template = chat_template or str(tokenizer.chat_template or "")
        self._picture_tokens = picture_tokens
        self._plain = None if picture_tokens is None else PlainText(_vocabulary(tokenizer))
        self._mark = str(tokenizer.get_eos_token() or "\n")
        self.has_template = bool(self._template.strip())
        self.supports_thinking = "enable_thinking" in self._template
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
        """Raises `PromptTooLongError`: context_full, or message_too_long for one turn alone.

        Raises `CannotSeeError` for pictures that the model cannot see, and what a picture's file
        gives rise to.
        """
        room = self.context_tokens - min(_RESERVED_ANSWER_TOKENS, max_new_tokens)
        kept = list(messages)
        while True:
            pictures = tuple(path for message in kept for path in message.pictures)
            text = self._templated(kept, thinking)
            of_pictures = self._cost(pictures)
            shown = self._without_tags(text, len(pictures))
            tokens = self.count(shown) - len(pictures) + of_pictures
            if tokens <= room:
                break
            if not _can_leave_out(kept):
                raise PromptTooLongError("message_too_long", tokens, self.context_tokens)
            if not leave_out_oldest:
                raise PromptTooLongError("context_full", tokens, self.context_tokens)
            _leave_out_oldest_turn(kept)
        ids = self._tokenizer.encode(shown, add_special_tokens=False).input_ids.data[0]
        return Prompt(
            token_ids=tuple(int(token) for token in ids),
            left_out_messages=len(messages) - len(kept),
            thinking_is_open=text.rstrip().endswith(OPEN_TAG),
            text=text,
            pictures=pictures,
            picture_tokens=of_pictures,
        )

    def _cost(self, pictures: Sequence[Path]) -> int:
        """Tokens of the pictures, their marks included."""
        if not pictures:
            return 0
        if self._picture_tokens is None:
            raise CannotSeeError(f"{len(pictures)} pictures for a model that reads text only")
        return sum(self._picture_tokens(path) for path in pictures)

    def _without_tags(self, text: str, pictures: int) -> str:
        """The text with one special token for each tag, so that it parts words as pictures do."""
        for index in range(pictures):
            text = text.replace(picture_tag(index), self._mark)
        return text

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
        contents = self._contents(messages)
        if not self.has_template:
            return "\n\n".join(contents)
        from openvino_genai import ChatHistory

        history = ChatHistory(
            [
                {"role": str(message.role), "content": content}
                for message, content in zip(messages, contents, strict=True)
            ]
        )
        if thinking is not ThinkingMode.MODEL_DEFAULT:
            history.set_extra_context({"enable_thinking": thinking is ThinkingMode.ON})
        return str(
            self._tokenizer.apply_chat_template(
                history, add_generation_prompt=True, chat_template=self._template
            )
        )

    def _contents(self, messages: Sequence[PromptMessage]) -> list[str]:
        """Each message with the tags of its pictures before its text, as the models' makers do."""
        contents: list[str] = []
        number = 0
        for message in messages:
            tags = [picture_tag(number + index) for index in range(len(message.pictures))]
            number += len(tags)
            text = message.content if self._plain is None else self._plain.of(message.content)
            contents.append("".join((*tags, text)))
        return contents


def _vocabulary(tokenizer: Any) -> list[str]:  # noqa: ANN401
    return [token.decode("utf-8", "replace") for token in tokenizer.get_vocab()]


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
