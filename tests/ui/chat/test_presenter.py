"""The chat page on a real engine process that is scripted."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from dflash_desktop.domain.conversation import Conversation, Message
from dflash_desktop.domain.generation import DraftState, FinishReason, Role, SamplingParams
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.services.chat import Chat
from dflash_desktop.services.conversation_store import ConversationStore
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.pictures import Pictures
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.chat.message_view import AnswerView, QuestionView
from dflash_desktop.ui.chat.pane import ChatPane
from dflash_desktop.ui.chat.presenter import ChatPresenter
from dflash_desktop.ui.pictures.picture_row import PictureRow
from dflash_desktop.ui.pictures.thumbnail import PictureThumbnail
from tests.fakes.engine import PATIENCE_SECONDS, EngineUnderTest, engine_under_test
from tests.fakes.fake_worker import (
    DEFAULT_ANSWER,
    PICTURE_TOKENS,
    Mishap,
    Script,
    Trouble,
    When,
)
from tests.fakes.picture_corpus import saved, scene

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

SLOWLY = Script(answers=("word " * 2000,), chunks_per_second=100)


@dataclass
class Page:
    pane: ChatPane
    chat: Chat
    presenter: ChatPresenter
    settings: SettingsStore
    engine: EngineUnderTest
    remedies: list[Remedy]

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition():  # what is waited for sets no event
                QApplication.processEvents()
                await asyncio.sleep(0.002)
        QApplication.processEvents()

    async def answered(self) -> None:
        await self.until(lambda: not self.presenter._answers.is_busy)
        await self.until(lambda: self.pane.transcript.drawing.clock.is_idle)

    @property
    def answer(self) -> AnswerView:
        found = self.pane.transcript.answer
        assert found is not None
        return found

    @property
    def is_writing(self) -> bool:
        answer = self.pane.transcript.answer
        return answer is not None and len(answer.text) > 40

    @property
    def questions(self) -> list[str]:
        views = self.pane.transcript._messages()
        return [view.text for view in views if isinstance(view, QuestionView)]

    @property
    def words(self) -> list[str]:
        labels = self.pane.findChildren(QLabel)
        return [label.text() for label in labels if label.isVisibleTo(self.pane)]

    def press(self, text: str) -> None:
        buttons = self.pane.findChildren(QPushButton)
        next(b for b in buttons if b.text() == text and b.isVisibleTo(self.pane)).click()


@asynccontextmanager
async def open_page(
    tmp_path: Path, theme: Theme, script: Script | None = None
) -> AsyncIterator[Page]:
    async with engine_under_test(tmp_path, script) as engine:
        measurements = MeasurementStore(tmp_path / "measurements.json")
        settings = SettingsStore(tmp_path / "settings.json")
        pictures = Pictures(launcher=engine.launcher, folder=tmp_path / "pictures")
        chat = Chat(
            engine=engine.engine,
            measurements=measurements,
            conversations=ConversationStore(tmp_path / "conversations"),
            settings=settings,
            pictures=pictures,
        )
        pane = ChatPane(
            theme=theme, report=lambda problem: problem.headline, picture_files=pictures
        )
        pane.resize(1180, 700)
        remedies: list[Remedy] = []
        presenter = ChatPresenter(
            pane=pane,
            chat=chat,
            engine=engine.engine,
            measurements=measurements,
            settings=settings,
            pictures=pictures,
            theme=theme,
            on_remedy=remedies.append,
        )
        await engine.load()
        pane.show()
        page = Page(pane, chat, presenter, settings, engine, remedies)
        await page.until(lambda: "Ask Fake pair" in page.words)
        try:
            yield page
        finally:
            await presenter.close()
            await pictures.close()
            pane.close()
            pane.deleteLater()


async def test_a_question_is_answered_with_numbers(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme) as page:
        assert "Ask Fake pair" in page.words
        page.pane.composer._field.setPlainText("Why is the sky blue?")
        page.pane.composer.send()
        assert page.pane.composer.text == ""
        await page.answered()
        assert page.answer.text == DEFAULT_ANSWER
        assert any("tok/s" in text and "tokens" in text for text in page.words)
        assert "On · 3 tokens ahead" in page.words
        assert page.pane.composer._send.accessibleName() != "Stop (Esc)"
        assert [m.role for m in page.chat.conversation.messages] == [Role.USER, Role.ASSISTANT]


async def test_stop_keeps_what_was_written(qtbot: QtBot, tmp_path: Path, theme: Theme) -> None:
    async with open_page(tmp_path, theme, SLOWLY) as page:
        page.presenter.send("Go on forever.")
        await page.until(lambda: page.is_writing)
        page.pane.stop_requested.emit()
        await page.answered()
        assert "You stopped this answer." in page.words
        assert page.chat.conversation.messages[-1].finish is FinishReason.CANCELLED
        assert page.answer.text == page.chat.conversation.messages[-1].text


async def test_a_second_message_waits_until_the_first_is_answered(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme, SLOWLY) as page:
        page.presenter.send("first")
        await page.until(lambda: page.is_writing)
        page.presenter.send("second")
        assert page.questions == ["first"]
        page.presenter.stop()
        await page.answered()


async def test_a_crash_keeps_the_text_and_offers_to_try_again(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    once = str(tmp_path / "once")
    script = Script(
        mishaps=(Mishap(Trouble.KILLED, When.GENERATE, after_chunks=3, only_once_file=once),)
    )
    async with open_page(tmp_path, theme, script) as page:
        page.presenter.send("Why?")
        await page.answered()
        assert any(text.startswith("Cut:") for text in page.words)
        assert DEFAULT_ANSWER.startswith(page.answer.text)
        await page.until(lambda: page.pane._problem.isVisibleTo(page.pane))
        problem = page.pane._problem.problem
        assert problem is not None
        assert Remedy.RETRY in problem.remedies
        page.presenter._on_remedy_chosen(Remedy.RETRY)
        await page.answered()
        assert page.answer.text == DEFAULT_ANSWER
        assert page.questions == ["Why?"]
        assert not page.pane._problem.isVisibleTo(page.pane)


async def test_trying_again_while_no_model_comes_back_loses_nothing(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme) as page:
        page.presenter.send("Why?")
        await page.answered()
        unloading = asyncio.create_task(page.engine.engine.unload())
        await page.until(unloading.done)
        before = page.chat.conversation
        page.presenter.retry()
        await page.answered()
        assert page.chat.conversation == before
        assert page.questions == ["Why?"]
        assert page.answer.text == DEFAULT_ANSWER
        assert page.pane.composer.text == ""


async def test_a_full_context_gives_the_message_back_with_the_choice(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    failure = Mishap(
        Trouble.FAIL,
        When.GENERATE,
        after_chunks=0,
        code="context_full",
        facts={"prompt_tokens": 9000, "context_tokens": 2048},
        only_once_file=str(tmp_path / "once"),
    )
    async with open_page(tmp_path, theme, Script(mishaps=(failure,))) as page:
        page.presenter.send("a long story")
        await page.answered()
        assert page.pane.composer.text == "a long story"
        assert page.questions == []
        assert page.chat.conversation.messages == ()
        await page.until(lambda: page.pane._problem.isVisibleTo(page.pane))
        page.press("Leave out the oldest messages")
        await page.answered()
        assert page.questions == ["a long story"]
        assert page.answer.text == DEFAULT_ANSWER
        assert page.pane.composer.text == ""


async def test_a_failure_before_the_first_word_leaves_the_question(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    failure = Mishap(Trouble.FAIL, When.GENERATE, after_chunks=0, code="no_text")
    async with open_page(tmp_path, theme, Script(mishaps=(failure,))) as page:
        page.presenter.send("Why?")
        await page.answered()
        assert page.questions == ["Why?"]
        assert page.pane.transcript.answer is None
        await page.until(lambda: page.pane._problem.isVisibleTo(page.pane))


async def test_retry_replaces_the_last_answer(qtbot: QtBot, tmp_path: Path, theme: Theme) -> None:
    script = Script(answers=("one answer", "another answer"))
    async with open_page(tmp_path, theme, script) as page:
        page.presenter.send("Why?")
        await page.answered()
        page.pane.retry_requested.emit()
        await page.answered()
        assert page.answer.text == "another answer"
        assert page.questions == ["Why?"]
        assert len(page.chat.conversation.messages) == 2


async def test_sampling_lets_the_draft_rest_and_says_so(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme) as page:
        page.pane.sampling_changed.emit(SamplingParams(temperature=0.7))
        assert "Resting" in page.words
        assert any("works only with greedy" in text for text in page.words)
        page.presenter.send("Why?")
        await page.answered()
        draft = page.chat.conversation.messages[-1].draft
        assert draft is not None
        assert draft.state is DraftState.RESTING


async def test_the_draft_is_switched_off_and_on_again(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme) as page:
        page.pane.draft_toggled.emit(False)
        assert "Off" in page.words
        page.pane.draft_toggled.emit(True)
        assert "On · 3 tokens ahead" in page.words


async def test_the_words_of_the_draft_can_be_marked_from_now_on(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme) as page:
        page.pane.show_draft_tokens_toggled.emit(True)
        assert page.settings.value.show_draft_tokens
        page.presenter.send("Why?")
        await page.answered()
        assert page.answer._marked is not None
        assert page.answer._marked.toPlainText().strip() == DEFAULT_ANSWER.strip()


async def test_the_system_prompt_counts_from_the_next_message_on(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme) as page:
        page.pane.system_prompt_changed.emit("Be brief.")
        assert page.chat.conversation.system_prompt == "Be brief."
        assert page.settings.value.system_prompt == "Be brief."


async def test_an_earlier_conversation_is_shown_and_stops_what_runs(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme, SLOWLY) as page:
        page.presenter.send("Go on forever.")
        await page.until(lambda: page.is_writing)
        running = page.chat.conversation
        earlier = Conversation(
            "id", running.created_at, messages=(Message(Role.USER, "an old question"),)
        )
        opening = asyncio.create_task(page.presenter.open(earlier))
        await page.until(opening.done)
        assert page.presenter.conversation_id == "id"
        assert page.questions == ["an old question"]
        starting = asyncio.create_task(page.presenter.new())
        await page.until(starting.done)
        assert page.questions == []
        assert page.presenter.conversation_id != "id"


async def test_ways_out_that_lead_elsewhere_are_handed_on(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme) as page:
        page.pane.measure_requested.emit()
        page.pane.remedy_chosen.emit(Remedy.CHOOSE_MODEL)
        assert page.remedies == [Remedy.MEASURE, Remedy.CHOOSE_MODEL]


async def test_leaving_the_page_in_the_middle_ends_quietly(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    async with open_page(tmp_path, theme, SLOWLY) as page:
        page.presenter.send("Go on forever.")
        await page.until(lambda: page.is_writing)
    assert page.chat.conversation.messages[-1].finish is FinishReason.CANCELLED


async def test_pictures_go_with_the_question_also_when_it_is_asked_again(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    path = tmp_path / "street.png"
    path.write_bytes(saved(scene(), "PNG"))
    async with open_page(tmp_path, theme, Script(sees_pictures=True)) as page:
        composer = page.pane.composer
        page.pane.files_given.emit((str(path),))
        assert composer._send.accessibleName() == "The pictures are still being prepared"
        await page.until(lambda: not page.presenter.attachments.is_preparing)
        assert composer._send.isEnabled()  # a picture needs no words
        composer.send()
        assert page.presenter.attachments.count == 0
        await page.answered()
        question, answer = page.chat.conversation.messages
        assert [one.title for one in question.pictures] == ["street.png"]
        assert answer.stats is not None
        assert answer.stats.picture_tokens == PICTURE_TOKENS
        assert any(f"pictures {PICTURE_TOKENS} tok, 0.5" in text for text in page.words)
        (thumbnail,) = page.pane.transcript.findChildren(PictureThumbnail)
        thumbnail.grab()
        assert not thumbnail.is_missing
        page.presenter.retry()
        await page.answered()
        assert page.chat.conversation.messages[0].pictures == question.pictures
        rows = page.pane.transcript.findChildren(PictureRow)
        assert sum(row.isVisibleTo(page.pane) for row in rows) == 1


async def test_a_refused_question_gives_its_pictures_back(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    path = tmp_path / "street.png"
    path.write_bytes(saved(scene(), "PNG"))
    full = Mishap(Trouble.FAIL, When.GENERATE, after_chunks=0, code="context_full")
    async with open_page(tmp_path, theme, Script(sees_pictures=True, mishaps=(full,))) as page:
        page.pane.files_given.emit((str(path),))
        await page.until(lambda: not page.presenter.attachments.is_preparing)
        page.presenter.send("What is it?")
        await page.answered()
        assert page.pane.composer.text == "What is it?"
        assert [one.title for one in page.presenter.attachments.ready] == ["street.png"]
        assert page.chat.conversation.messages == ()


async def test_a_model_without_sight_says_so_and_keeps_the_pictures(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    path = tmp_path / "street.png"
    path.write_bytes(saved(scene(), "PNG"))
    async with open_page(tmp_path, theme) as page:
        page.pane.files_given.emit((str(path),))
        await page.until(lambda: not page.presenter.attachments.is_preparing)
        page.pane.composer._field.setPlainText("What is it?")
        assert "“Fake pair” reads text only and cannot see this picture." in page.words
        page.pane.composer.send()
        assert page.questions == []
        with qtbot.waitSignal(page.pane.models_requested):
            page.press("Choose a model that sees")
        page.engine.launcher.script = Script(sees_pictures=True)
        await page.engine.engine.stop()
        await page.engine.load()
        await page.until(lambda: page.pane.composer._send.isEnabled())
        assert "“Fake pair” reads text only and cannot see this picture." not in page.words
        page.pane.composer.send()
        await page.answered()
        assert len(page.chat.conversation.messages[0].pictures) == 1


async def test_a_file_that_is_no_picture_is_explained_on_the_page(
    qtbot: QtBot, tmp_path: Path, theme: Theme
) -> None:
    path = tmp_path / "drawing.svg"
    path.write_bytes(b"<svg/>")
    async with open_page(tmp_path, theme) as page:
        page.pane.files_given.emit((str(path),))
        await page.until(lambda: page.pane._problem.isVisibleTo(page.pane))
        problem = page.pane._problem.problem
        assert problem is not None
        assert problem.headline.startswith("“drawing.svg” is of the kind “SVG”")
        assert page.presenter.attachments.count == 0
        assert page.pane.composer.attachments.isHidden()
