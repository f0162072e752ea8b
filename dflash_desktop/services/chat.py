"""One conversation: sends a message, streams the answer, and loses nothing on the way."""

from __future__ import annotations

import uuid
from contextlib import aclosing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.conversation import (
    Conversation,
    Message,
    prompt_messages,
    with_message,
    without_last_answer,
)
from dflash_desktop.domain.engine_state import loaded_pair, pair_for_questions
from dflash_desktop.domain.generation import (
    DraftUse,
    FinishReason,
    Role,
    ThinkingMode,
)
from dflash_desktop.domain.messages import clean_message
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.thinking import ThinkingSplitter
from dflash_desktop.services.chat_events import (
    AnswerFinished,
    AnswerStarted,
    ChatEvent,
    PromptRead,
)
from dflash_desktop.services.chat_pictures import HasPictures, PicturesOfPrompt
from dflash_desktop.services.draft_control import DraftControl
from dflash_desktop.services.growing_answer import GrowingAnswer
from dflash_desktop.workers import protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from dflash_desktop.domain.pictures import Picture
    from dflash_desktop.domain.settings import Settings
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.measurement_store import MeasurementStore

_NEARLY_FULL_SHARE: Final = 0.9
_REFUSED_BEFORE_START: Final = frozenset(
    {
        "context_full",
        "message_too_long",
        "engine_busy",
        "no_model",
        "model_sees_no_pictures",
        "picture_refused",
    }
)
"""After these the message was never taken, so it goes back to the composer."""


class KeepsConversations(Protocol):
    """Where a conversation is kept."""

    def save(self, conversation: Conversation) -> None:
        """Keep it as it is now; raises `AppError` when the disk refuses."""


class HasSettings(Protocol):
    """Where the settings are."""

    @property
    def value(self) -> Settings:
        """The settings now."""


class Chat:
    """The conversation that is open now. One answer at a time."""

    def __init__(
        self,
        *,
        engine: Engine,
        measurements: MeasurementStore,
        conversations: KeepsConversations,
        settings: HasSettings,
        pictures: HasPictures,
    ) -> None:
        self._engine = engine
        self._draft = DraftControl(engine=engine, measurements=measurements)
        self._conversations = conversations
        self._settings = settings
        self._pictures = pictures
        self._is_answering = False
        self._conversation = self._blank()

    @property
    def conversation(self) -> Conversation:
        """The open conversation, up to the last complete or kept message."""
        return self._conversation

    @property
    def is_answering(self) -> bool:
        """True from the moment a message is taken until its answer is kept."""
        return self._is_answering

    def open(self, conversation: Conversation) -> None:
        """Continue an earlier conversation. Raises `AppError` ("answer_running") meanwhile."""
        self._refuse_while_answering()
        self._conversation = conversation

    def new(self) -> Conversation:
        """Begin a blank conversation. Raises `AppError` ("answer_running") meanwhile."""
        self._refuse_while_answering()
        self._conversation = self._blank()
        return self._conversation

    def draft_plan(self, *, with_pictures: bool = False) -> DraftUse:
        """What the draft will do in the next answer, and why.

        `with_pictures` says that the next question has some; those of earlier ones count, too.
        """
        has_pictures = any(message.pictures for message in self._conversation.messages)
        return self._draft.plan(
            self._settings.value.sampling, with_pictures=with_pictures or has_pictures
        )

    def fix_assistant_tokens(self, count: int | None) -> None:
        """Use this many assistant tokens (0: no draft) whatever was measured; None forgets it."""
        self._draft.fix_assistant_tokens(count)

    def set_draft_enabled(self, enabled: bool) -> None:
        """The person's own decision for this pair on this device; it is kept."""
        self._draft.set_enabled(enabled=enabled)

    async def stop(self) -> None:
        """Stop the answer; what has arrived is kept. Returns when the engine is ready again."""
        if self._is_answering:
            await self._engine.cancel()

    async def retry(self, *, leave_out_oldest: bool = False) -> AsyncGenerator[ChatEvent]:
        """Ask the last question again; its earlier answer is replaced."""
        self._refuse_while_answering()
        before = self._conversation
        shortened, question = without_last_answer(before)
        if question is None:
            return
        self._conversation = shortened
        try:
            async for event in self.send(
                question.text, question.pictures, leave_out_oldest=leave_out_oldest
            ):
                yield event
        except AppError:
            # Refused before it was taken, for whatever reason: the earlier answer still stands.
            if self._conversation is shortened:
                self._conversation = before
            raise

    async def send(
        self,
        text: str,
        pictures: tuple[Picture, ...] = (),
        *,
        leave_out_oldest: bool = False,
    ) -> AsyncGenerator[ChatEvent]:
        """Send a message and stream the answer; the last event is `AnswerFinished`.

        Raises `AppError`. A message that was refused (blank, too long, context full, pictures for
        a model that sees none) leaves the conversation as it was; after any later failure the
        question and whatever had arrived of the answer are in it, the answer marked as cut.
        """
        self._refuse_while_answering()
        clean = clean_message(text, may_be_blank=bool(pictures))
        shown = PicturesOfPrompt(pair_for_questions(self._engine.state), self._pictures)
        shown.refuse_unseen(pictures)
        before = self._conversation
        question = Message(Role.USER, clean.text, pictures=pictures)
        self._conversation = with_message(before, question)
        prompt = prompt_messages(self._conversation, shown.files_of)
        plan = self._draft.plan(
            self._settings.value.sampling,
            with_pictures=any(message.pictures for message in prompt),
        )
        answer = GrowingAnswer(draft=plan)
        answer.notice = " ".join(filter(None, (clean.notice, shown.notice)))
        self._is_answering = True
        kept = False
        try:
            events = self._engine.generate(
                prompt,
                self._settings.value.sampling,
                assistant_tokens=answer.draft.assistant_tokens,
                leave_out_oldest=leave_out_oldest,
            )
            async with aclosing(events):
                async for event in events:
                    match event:
                        case protocol.Started():
                            self._save()  # what the disk says is told at the end, if it still does
                            yield self._started(answer, event)
                        case protocol.Prefill():
                            yield PromptRead(event.done_tokens, event.total_tokens)
                        case protocol.Text():
                            yield answer.take(event.runs, event.stats)
                        case protocol.Finished():
                            yield answer.rest()
                            self._refuse_empty(answer, event.reason)
                            kept = True
                            yield self._finish(answer, event.reason)
        except AppError as error:
            kept = True
            self._keep_after(error, answer, before)
            raise
        finally:
            self._is_answering = False
            if not kept:  # the window closed, or whoever listened went away
                self._keep(answer, FinishReason.CANCELLED)

    def _started(self, answer: GrowingAnswer, started: protocol.Started) -> AnswerStarted:
        answer.splitter = ThinkingSplitter(is_open=started.thinking_is_open)
        notices = [answer.notice] if answer.notice else []
        if started.left_out_messages:
            notices.append(
                f"The {started.left_out_messages} oldest messages were left out, because the "
                f"context holds {started.context_tokens:,} tokens."
            )
        elif started.prompt_tokens >= _NEARLY_FULL_SHARE * started.context_tokens:
            share = started.prompt_tokens / started.context_tokens
            notices.append(
                f"This conversation fills {share:.0%} of the context. Soon the oldest messages "
                f"will not fit any more."
            )
        answer.notice = " ".join(notices)
        return AnswerStarted(
            prompt_tokens=started.prompt_tokens,
            context_tokens=started.context_tokens,
            left_out_messages=started.left_out_messages,
            draft=answer.draft,
            notice=answer.notice,
        )

    def _finish(self, answer: GrowingAnswer, reason: FinishReason) -> AnswerFinished:
        if answer.thinking and self._settings.value.sampling.thinking is ThinkingMode.OFF:
            answer.notice = " ".join(filter(None, (answer.notice, _THOUGHT_ANYWAY)))
        message, notice = self._keep(answer, reason)
        speed, switched_off = self._draft.learn(answer.draft, answer.stats)
        return AnswerFinished(message, speed, " ".join(filter(None, (notice, switched_off))))

    def _keep(
        self, answer: GrowingAnswer, reason: FinishReason, problem_headline: str = ""
    ) -> tuple[Message, str]:
        """Add the answer to the conversation and save; returns it and what the disk said."""
        message = answer.message(
            reason, model_title=self._model_title, problem_headline=problem_headline
        )
        if not answer.is_empty:
            self._conversation = with_message(self._conversation, message)
        return message, self._save()

    def _keep_after(self, error: AppError, answer: GrowingAnswer, before: Conversation) -> None:
        if answer.is_empty and error.problem.code in _REFUSED_BEFORE_START:
            self._conversation = before
            return
        self._keep(answer, FinishReason.FAILED, error.problem.headline)

    def _save(self) -> str:
        try:
            self._conversations.save(self._conversation)
        except AppError as error:
            return f"{error.problem.headline} {error.problem.advice}"
        return ""

    @staticmethod
    def _refuse_empty(answer: GrowingAnswer, reason: FinishReason) -> None:
        if answer.is_empty and reason is not FinishReason.CANCELLED:
            raise AppError(_NO_TEXT)

    def _refuse_while_answering(self) -> None:
        if self._is_answering:
            raise AppError(_ANSWER_RUNNING)

    @property
    def _model_title(self) -> str:
        pair = loaded_pair(self._engine.state)
        return pair.title if pair else ""

    def _blank(self) -> Conversation:
        return Conversation(
            id=uuid.uuid4().hex,
            created_at=datetime.now(UTC),
            system_prompt=self._settings.value.system_prompt,
        )


_THOUGHT_ANYWAY: Final = "The model was asked not to think and thought anyway."
_ANSWER_RUNNING: Final = Problem(
    code="answer_running",
    headline="An answer is still on its way.",
    advice="Wait for it, or stop it first.",
)
_NO_TEXT: Final = Problem(
    code="no_text",
    headline="The model ended its answer without a word.",
    advice="Try again, or say the question in other words. In a long conversation, a new chat "
    "often helps.",
    remedies=(Remedy.RETRY, Remedy.NEW_CHAT),
)
