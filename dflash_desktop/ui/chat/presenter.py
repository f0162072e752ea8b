"""Connects the chat page with the conversation, the engine and what was measured."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from dflash_desktop.domain.conversation import Message, last_question
from dflash_desktop.domain.draft_policy import speed_verdict
from dflash_desktop.domain.engine_state import MakingPicture, pair_for_questions, will_hold_pair
from dflash_desktop.domain.generation import NO_STATS, Role
from dflash_desktop.domain.pair import measurement_key
from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.services.chat_events import (
    AnswerFinished,
    AnswerStarted,
    AnswerText,
    ChatEvent,
    PromptRead,
)
from dflash_desktop.ui.engine_words import state_words
from dflash_desktop.ui.pictures.attachments import Attachments
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from pathlib import Path

    from dflash_desktop.domain.conversation import Conversation
    from dflash_desktop.domain.engine_state import EngineState
    from dflash_desktop.domain.generation import SamplingParams
    from dflash_desktop.services.chat import Chat
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.services.pictures import Pictures
    from dflash_desktop.services.settings_store import SettingsStore
    from dflash_desktop.ui.chat.pane import ChatPane
    from dflash_desktop.ui.theme import Theme


class ChatPresenter:
    """`on_remedy` takes the ways out that lead away from this page, measuring among them."""

    def __init__(
        self,
        *,
        pane: ChatPane,
        chat: Chat,
        engine: Engine,
        measurements: MeasurementStore,
        settings: SettingsStore,
        pictures: Pictures,
        theme: Theme,
        on_remedy: Callable[[Remedy], None],
        lead: Callable[[Remedy, tuple[Path, ...]], None] = lambda _remedy, _paths: None,
    ) -> None:
        self._pane = pane
        self._chat = chat
        self._engine = engine
        self._measurements = measurements
        self._settings = settings
        self._on_remedy = on_remedy
        composer = pane.composer
        self.attachments = Attachments(
            bar=composer.attachments,
            pictures=pictures,
            theme=theme,
            on_problem=pane.show_problem,
            lead=lead,
        )
        self.attachments.changed.connect(pane.show_pictures)
        self.attachments.changed.connect(self._show_draft)
        composer.picking_began.connect(self.attachments.warm_up)
        composer.picture_pasted.connect(self.attachments.attach_pasted)
        pane.files_given.connect(self.attachments.attach_files)
        self._answers = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._stops = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._refused: Message | None = None
        self._context_tokens: int | None = None
        self._engine_changed = asyncio.Event()
        pane.send_requested.connect(self.send)
        pane.stop_requested.connect(self.stop)
        pane.retry_requested.connect(self.retry)
        pane.measure_requested.connect(lambda: on_remedy(Remedy.MEASURE))
        pane.draft_toggled.connect(self._on_draft_toggled)
        pane.show_draft_tokens_toggled.connect(self._on_show_draft_tokens_toggled)
        pane.system_prompt_changed.connect(self._on_system_prompt_changed)
        pane.sampling_changed.connect(self._on_sampling_changed)
        pane.remedy_chosen.connect(self._on_remedy_chosen)
        self._ends = [
            engine.subscribe(self._on_engine_state),
            measurements.subscribe(lambda _key: self.refresh()),
            settings.subscribe(lambda _settings: self.refresh()),
        ]
        self._show_conversation()
        self.refresh()

    @property
    def conversation_id(self) -> str:
        """The conversation that the page shows."""
        return self._chat.conversation.id

    async def open(self, conversation: Conversation) -> None:
        """Show another conversation; an answer that still runs is stopped and kept."""
        await self._stop_and_wait()
        self._chat.open(conversation)
        self._show_conversation()

    async def new(self) -> None:
        """Show a blank conversation, in the same way."""
        await self._stop_and_wait()
        self._chat.new()
        self._show_conversation()
        self._pane.focus_composer()

    def send(self, text: str) -> None:
        """Send a message, unless an answer is on its way."""
        if not self._chat.is_answering and not self._answers.is_busy:
            self._ask(Message(Role.USER, text, pictures=self.attachments.take()))

    def retry(self, leave_out_oldest: bool = False) -> None:
        """Ask the last question again, or the one that was refused, with its pictures."""
        if self._chat.is_answering or self._answers.is_busy:
            return
        if self._refused is not None:
            pictures = self.attachments.take()  # those that came back with it, or were added
            refused = replace(self._refused, pictures=pictures)
            self._ask(refused, leave_out_oldest=leave_out_oldest)
            return
        question = last_question(self._chat.conversation.messages)
        if question is not None:
            self._pane.remove_last_turn()
            self._pane.show_question(question)
            events = self._chat.retry(leave_out_oldest=leave_out_oldest)
            self._answers.start(self._answer(events, question))

    def _ask(self, question: Message, *, leave_out_oldest: bool = False) -> None:
        self._pane.show_question(question)
        events = self._chat.send(
            question.text, question.pictures, leave_out_oldest=leave_out_oldest
        )
        self._answers.start(self._answer(events, question))

    def stop(self) -> None:
        """Stop the answer that is on its way."""
        if self._chat.is_answering:
            if not self._stops.is_busy:
                self._pane.show_waiting("Stopping…")
                self._stops.start(self._chat.stop())
        elif self._answers.is_busy:  # it still waits for the engine
            self._answers.cancel_all()
            self._show_conversation()

    def refresh(self) -> None:
        """Show anew what the engine, the settings and the measurements say."""
        self._on_engine_state(self._engine.state)
        self._pane.show_draft_tokens(self._settings.value.show_draft_tokens)

    async def close(self) -> None:
        """Start nothing more, end what runs, and wait for it."""
        for end in self._ends:
            end()
        for scope in (self._answers, self._stops):
            scope.close()
            await scope.wait()
        await self.attachments.close()

    async def _stop_and_wait(self) -> None:
        if self._answers.is_busy:
            self.stop()
            await self._stops.wait()
            await self._answers.wait()

    async def _answer(self, events: AsyncGenerator[ChatEvent], question: Message) -> None:
        self._refused = None
        before = self._chat.conversation
        pair = pair_for_questions(self._engine.state)
        self._pane.begin_answer(pair.title if pair else "")
        is_finished = False
        try:
            await self._wait_while_engine_returns()
            async with aclosing(events):
                async for event in events:
                    is_finished = self._show(event)
        except AppError:
            is_finished = True
            self._show_failed(question, before)
            raise
        finally:
            if not is_finished:
                self._pane.end_answer()
                await events.aclose()
            self._show_draft()

    async def _wait_while_engine_returns(self) -> None:
        """After a crash the engine comes back by itself; "Try again" need not fail before that."""
        while will_hold_pair(self._engine.state):
            is_drawing = isinstance(self._engine.state, MakingPicture)
            what = "picture that is being made" if is_drawing else "model"
            self._pane.show_waiting(f"Waiting for the {what}…")
            self._engine_changed.clear()
            await self._engine_changed.wait()

    def _show(self, event: ChatEvent) -> bool:
        match event:
            case AnswerStarted():
                self._context_tokens = event.context_tokens
                self._pane.show_context(event.prompt_tokens, event.context_tokens)
                self._pane.show_notice(event.notice)
            case PromptRead(done_tokens=done, total_tokens=total):
                self._pane.show_prompt_read(done, total)
            case AnswerText(runs=runs, thinking=thinking, stats=stats):
                self._pane.append(runs, thinking, stats)
                self._pane.show_context(stats.prompt_tokens + stats.tokens, self._context_tokens)
            case AnswerFinished(message=message, speed=speed, notice=notice):
                both = " ".join(filter(None, (message.notice, notice)))
                self._pane.finish_answer(replace(message, notice=both), speed)
                return True
            case _:
                assert_never(event)
        return False

    def _show_failed(self, question: Message, before: Conversation) -> None:
        """After an error: a cut answer stays, a refused question goes back to the composer."""
        messages = self._chat.conversation.messages
        if messages == before.messages:
            self._pane.end_answer()
            self._show_conversation()
            if last_question(messages) is not question:  # else it was asked again, and stands
                self._pane.restore_question(question)
                self.attachments.restore(question.pictures)
                self._refused = question
        elif messages[-1].role is Role.ASSISTANT:
            self._pane.finish_answer(messages[-1], None)
        else:
            self._pane.drop_answer()

    def _show_conversation(self) -> None:
        conversation = self._chat.conversation
        self._refused = None
        self._pane.show_messages(conversation.messages)
        self._pane.show_system_prompt(conversation.system_prompt)
        last = conversation.messages[-1].stats if conversation.messages else None
        used = last.prompt_tokens + last.tokens if last else None
        self._pane.show_context(used, self._context_tokens)

    def _on_engine_state(self, state: EngineState) -> None:
        self._engine_changed.set()
        pair = pair_for_questions(state)
        if pair is None:
            self._pane.show_model("", state_words(state).text)
            return
        self._context_tokens = pair.context_tokens
        self._pane.show_model(pair.title, "", sees_pictures=pair.sees_pictures)
        report = self._measurements.get(measurement_key(pair))
        if not self._chat.is_answering:
            self._pane.show_verdict(speed_verdict(NO_STATS, report))
        self._show_draft()

    def _show_draft(self) -> None:
        pair = pair_for_questions(self._engine.state)
        plan = self._chat.draft_plan(with_pictures=self.attachments.count > 0)
        self._pane.show_draft(plan, is_attached=pair is not None and pair.draft is not None)
        can_think = pair is not None and pair.supports_thinking
        self._pane.show_sampling(self._settings.value.sampling, plan, can_think=can_think)

    def _on_draft_toggled(self, is_on: bool) -> None:
        self._changing(lambda: self._chat.set_draft_enabled(is_on))
        self._show_draft()

    def _on_show_draft_tokens_toggled(self, is_shown: bool) -> None:
        self._changing(lambda: self._settings.change(show_draft_tokens=is_shown))

    def _on_sampling_changed(self, params: SamplingParams) -> None:
        self._changing(lambda: self._settings.change(sampling=params))

    def _on_system_prompt_changed(self, text: str) -> None:
        self._changing(lambda: self._settings.change(system_prompt=text))
        self._changing(
            lambda: self._chat.open(replace(self._chat.conversation, system_prompt=text))
        )
        self._pane.show_system_prompt(self._chat.conversation.system_prompt)

    def _changing(self, change: Callable[[], object]) -> None:
        """Do something that may be refused, and show why."""
        try:
            change()
        except AppError as error:
            self._pane.show_problem(error.problem)

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        self._pane.clear_problem()
        match remedy:
            case Remedy.RETRY:
                self.retry()
            case Remedy.LEAVE_OUT_OLDEST:
                self.retry(leave_out_oldest=True)
            case Remedy.NEW_CHAT:
                self._stops.start(self.new())
            case _:
                self._on_remedy(remedy)
