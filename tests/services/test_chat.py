"""A conversation over a real child process: nothing that was said or streamed is ever lost."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.benchmark import ChosenSetting
from dflash_desktop.domain.draft_policy import MIN_WINDOW_TURNS
from dflash_desktop.domain.engine_state import Loaded, loaded_pair
from dflash_desktop.domain.generation import (
    DraftState,
    FinishReason,
    Role,
    SamplingParams,
    TextOrigin,
    ThinkingMode,
)
from dflash_desktop.domain.pair import measurement_key
from dflash_desktop.domain.pictures import Picture
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.chat import Chat
from dflash_desktop.services.chat_events import (
    AnswerFinished,
    AnswerStarted,
    AnswerText,
    ChatEvent,
    PromptRead,
)
from dflash_desktop.services.conversation_store import ConversationStore
from dflash_desktop.services.draft_control import SWITCHED_OFF_BY_PERSON
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.pictures import Pictures
from dflash_desktop.services.settings_store import SettingsStore
from tests.domain.measurements import bench_run, report, result
from tests.fakes.engine import EngineUnderTest, engine_under_test
from tests.fakes.fake_worker import PICTURE_TOKENS, Mishap, Script, Trouble

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.conversation import Conversation
    from dflash_desktop.domain.pair import MeasurementKey


ENDLESS = Script(answers=("word " * 20_000,), chunks_per_second=200)
FIVE = ChosenSetting(5, 1.2, "because")


class ChatUnderTest:
    """A chat over a fake engine, with its stores."""

    def __init__(self, under_test: EngineUnderTest, folder: Path) -> None:
        self.under_test = under_test
        self.conversations = ConversationStore(folder / "conversations")
        self.measurements = MeasurementStore(folder / "measurements.json")
        self.settings = SettingsStore(folder / "settings.json")
        self.pictures = Pictures(launcher=under_test.launcher, folder=folder / "pictures")
        self.chat = Chat(
            engine=under_test.engine,
            measurements=self.measurements,
            conversations=self.conversations,
            settings=self.settings,
            pictures=self.pictures,
        )

    @property
    def key(self) -> MeasurementKey:
        pair = loaded_pair(self.under_test.engine.state)
        assert pair is not None
        return measurement_key(pair)

    def kept(self) -> Conversation:
        """The open conversation as the disk has it."""
        return self.conversations.load(self.chat.conversation.id)

    async def ask(self, text: str = "Why?") -> list[ChatEvent]:
        return [event async for event in self.chat.send(text)]

    async def finish(self, text: str = "Why?") -> AnswerFinished:
        last = (await self.ask(text))[-1]
        assert isinstance(last, AnswerFinished)
        return last


@asynccontextmanager
async def chat_under_test(
    folder: Path, script: Script | None = None, *, load: bool = True
) -> AsyncIterator[ChatUnderTest]:
    async with engine_under_test(folder, script) as under_test:
        if load:
            await under_test.load()
        yield ChatUnderTest(under_test, folder)


async def first_text(stream: AsyncGenerator[ChatEvent]) -> str:
    async for event in stream:
        if isinstance(event, AnswerText) and event.runs:
            return "".join(run.text for run in event.runs)
    raise AssertionError("no text came")


async def test_an_answer_streams_and_is_kept_with_its_figures(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path, Script(answers=("Because of the air.",))) as t:
        events = await t.ask("Why is the sky blue?")
        kinds = [type(event) for event in events]
        assert kinds[:2] == [AnswerStarted, PromptRead]
        assert set(kinds[2:-1]) == {AnswerText}
        question, answer = t.kept().messages
        assert (question.role, question.text) == (Role.USER, "Why is the sky blue?")
        assert answer.text == "Because of the air."
        assert answer.finish is FinishReason.STOP
        assert answer.stats is not None
        texts = [event for event in events if isinstance(event, AnswerText)]
        assert texts[-1].stats == answer.stats
        assert answer.draft is not None
        assert answer.draft.state is DraftState.ON
        assert {run.origin for run in answer.runs} == {TextOrigin.DRAFT, TextOrigin.TARGET}
        assert answer.model_title == "Fake pair"
        assert t.kept().title == "Why is the sky blue?"


async def test_the_question_is_on_disk_as_soon_as_the_engine_fails(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.ABORT, after_chunks=0),))
    async with chat_under_test(tmp_path, script) as t:
        with pytest.raises(AppError):
            await t.ask("A question worth keeping")
        assert [m.text for m in t.kept().messages] == ["A question worth keeping"]


async def test_the_question_is_on_disk_before_the_answer_is_complete(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path, ENDLESS) as t:
        stream = t.chat.send("What if the power goes now?")
        await first_text(stream)
        assert [m.text for m in t.kept().messages] == ["What if the power goes now?"]
        await stream.aclose()


async def test_what_was_streamed_before_a_crash_is_kept_and_marked(tmp_path: Path) -> None:
    script = Script(
        answers=("One two three four five six.",),
        mishaps=(Mishap(Trouble.KILLED, after_chunks=2),),
    )
    async with chat_under_test(tmp_path, script) as t:
        with pytest.raises(AppError) as error:
            await t.ask()
        answer = t.kept().messages[-1]
        assert answer.text == "One two three fo"
        assert answer.finish is FinishReason.FAILED
        assert answer.problem_headline == error.value.problem.headline
        assert not t.chat.is_answering


async def test_after_a_crash_the_next_question_is_answered(tmp_path: Path) -> None:
    once = str(tmp_path / "once")
    script = Script(mishaps=(Mishap(Trouble.ABORT, only_once_file=once),))
    async with chat_under_test(tmp_path, script) as t:
        with pytest.raises(AppError):
            await t.ask()
        assert (await t.finish()).message.finish is FinishReason.STOP


async def test_stop_keeps_what_has_arrived(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path, ENDLESS) as t:
        stream = t.chat.send("Why?")
        begun = await first_text(stream)
        stopping = asyncio.create_task(t.chat.stop())
        rest = [event async for event in stream]
        await stopping
        last = rest[-1]
        assert isinstance(last, AnswerFinished)
        assert last.message.finish is FinishReason.CANCELLED
        assert t.kept().messages[-1].text.startswith(begun)


async def test_closing_the_stream_early_keeps_what_has_arrived(tmp_path: Path) -> None:
    async with chat_under_test(
        tmp_path, Script(answers=("word " * 400,), chunks_per_second=200)
    ) as t:
        stream = t.chat.send("Why?")
        begun = await first_text(stream)
        await stream.aclose()
        assert t.kept().messages[-1].text.startswith(begun)
        assert t.kept().messages[-1].finish is FinishReason.CANCELLED
        await t.under_test.reach(Loaded)
        assert (await t.finish()).message.finish is FinishReason.STOP


async def test_a_second_message_waits_its_turn_in_words(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path, ENDLESS) as t:
        stream = t.chat.send("one")
        await first_text(stream)
        for refused in (t.chat.send("two"), t.chat.retry()):
            with pytest.raises(AppError) as error:
                await anext(refused)
            assert error.value.problem.code == "answer_running"
        with pytest.raises(AppError):
            t.chat.new()
        await stream.aclose()


@pytest.mark.parametrize("text", ["", "  \n", "\0"])
async def test_a_blank_message_changes_nothing(tmp_path: Path, text: str) -> None:
    async with chat_under_test(tmp_path) as t:
        before = t.chat.conversation
        with pytest.raises(AppError):
            await t.ask(text)
        assert t.chat.conversation == before


async def test_without_a_model_the_way_out_is_said(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path, load=False) as t:
        with pytest.raises(AppError) as error:
            await t.ask()
        assert error.value.problem.code == "no_model"
        assert t.chat.conversation.messages == ()


@pytest.mark.parametrize("code", ["context_full", "message_too_long"])
async def test_a_refused_message_goes_back_to_the_person(tmp_path: Path, code: str) -> None:
    facts = {"prompt_tokens": 9000, "context_tokens": 8192}
    script = Script(mishaps=(Mishap(Trouble.FAIL, after_chunks=0, code=code, facts=facts),))
    async with chat_under_test(tmp_path, script) as t:
        with pytest.raises(AppError) as error:
            await t.ask("too much")
        assert error.value.problem.code == code
        assert t.chat.conversation.messages == ()


@pytest.mark.parametrize("answer", ["", "   \n"])
async def test_an_answer_without_text_is_an_error_not_an_answer(
    tmp_path: Path, answer: str
) -> None:
    async with chat_under_test(tmp_path, Script(answers=(answer,))) as t:
        with pytest.raises(AppError) as error:
            await t.ask()
        assert error.value.problem.code == "no_text"
        assert [m.role for m in t.kept().messages] == [Role.USER]


async def test_retry_replaces_the_last_answer(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path, Script(answers=("first", "second"))) as t:
        await t.ask()
        events = [event async for event in t.chat.retry()]
        assert isinstance(events[-1], AnswerFinished)
        assert [m.text for m in t.kept().messages] == ["Why?", "second"]


async def test_thinking_is_kept_apart_and_out_of_the_next_prompt(tmp_path: Path) -> None:
    script = Script(
        answers=("I wonder.</think>\n\nBlue.",), thinking_is_open=True, chunk_characters=3
    )
    async with chat_under_test(tmp_path, script) as t:
        t.settings.change(sampling=SamplingParams(thinking=ThinkingMode.OFF))
        message = (await t.finish()).message
        assert (message.thinking, message.text) == ("I wonder.", "Blue.")
        assert "asked not to think" in message.notice
        assert "".join(run.text for run in message.runs) == "Blue."


async def test_sampling_makes_the_draft_rest_and_the_answer_says_so(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path) as t:
        t.settings.change(sampling=SamplingParams(temperature=0.8))
        assert t.chat.draft_plan().state is DraftState.RESTING
        draft = (await t.finish()).message.draft
        assert draft is not None
        assert (draft.state, draft.assistant_tokens) == (DraftState.RESTING, 0)
        assert "0.8" in draft.reason


async def test_no_speed_up_is_shown_before_it_was_measured_here(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path) as t:
        speed = (await t.finish()).speed
        assert speed.speedup is None
        assert speed.baseline_tokens_per_second is None
        assert "not measured" in t.chat.draft_plan().reason


async def test_the_measured_setting_is_used_and_compared_with(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path, Script(chunks_per_second=100)) as t:
        t.measurements.put(report(key=t.key, chosen=FIVE))
        finished = await t.finish()
        assert finished.message.draft is not None
        assert finished.message.draft.assistant_tokens == 5
        assert finished.speed.baseline_tokens_per_second is not None
        assert finished.speed.speedup is not None


async def test_a_stored_measurement_of_other_conditions_is_not_used(tmp_path: Path) -> None:
    async with chat_under_test(tmp_path) as t:
        other = replace(t.key, driver="another driver")
        t.measurements.put(report(key=other, chosen=FIVE))
        assert (await t.finish()).speed.speedup is None
        assert t.chat.draft_plan().assistant_tokens == 3


async def test_a_draft_that_costs_is_switched_off_and_comes_back_when_asked(
    tmp_path: Path,
) -> None:
    slow = Script(answers=("word " * 200,), chunk_characters=8, chunks_per_second=60)
    async with chat_under_test(tmp_path, slow) as t:
        fast_baseline = bench_run(3, 6_000.0, baseline=5_000.0)
        t.measurements.put(
            replace(report(result(fast_baseline), key=t.key), power_source=_power_source())
        )
        notices = [(await t.finish()).notice for _ in range(MIN_WINDOW_TURNS)]
        assert "switched off" in notices[-1]
        assert t.chat.draft_plan().state is DraftState.OFF
        after = (await t.finish()).message.draft
        assert after is not None
        assert after.state is DraftState.OFF
        t.chat.set_draft_enabled(True)
        assert t.chat.draft_plan().state is DraftState.ON
        t.chat.set_draft_enabled(False)
        assert t.chat.draft_plan().reason == SWITCHED_OFF_BY_PERSON


async def test_a_full_disk_loses_nothing_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chat_under_test(tmp_path, Script(answers=("kept",))) as t:

        def refuse(conversation: Conversation) -> None:
            raise AppError(Problem("disk_full", "The disk is full.", "Free some space."))

        monkeypatch.setattr(t.conversations, "save", refuse)
        finished = await t.finish()
        assert "disk is full" in finished.notice
        assert t.chat.conversation.messages[-1].text == "kept"


async def test_a_nearly_full_context_is_said_and_a_roomy_one_is_not(tmp_path: Path) -> None:
    script = Script(prompt_tokens=950, context_tokens=1000)
    async with chat_under_test(tmp_path / "full", script) as t:
        assert "95%" in (await t.finish()).message.notice
    async with chat_under_test(tmp_path / "roomy") as t:
        assert (await t.finish()).message.notice == ""


def _power_source() -> str:
    from dflash_desktop.services.power_source import power_source

    return power_source()


@pytest.fixture
def picture(tmp_path: Path) -> Picture:
    """A picture whose file is where the chat looks for it."""
    made = Picture("a" * 64, "street.png", 80, 48, 80, 48)
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / f"{made.id}.png").write_bytes(b"x")
    return made


async def test_a_question_keeps_its_pictures_and_asks_with_them_again(
    tmp_path: Path, picture: Picture
) -> None:
    async with chat_under_test(tmp_path, Script(sees_pictures=True)) as t:
        [event async for event in t.chat.send("", (picture,))]
        question, answer = t.kept().messages
        assert (question.text, question.pictures) == ("", (picture,))
        assert t.kept().title == "street.png"
        assert answer.stats is not None
        assert answer.stats.picture_tokens == PICTURE_TOKENS
        events = [event async for event in t.chat.retry()]
        assert isinstance(events[-1], AnswerFinished)
        question, answer = t.kept().messages
        assert question.pictures == (picture,)
        assert answer.stats is not None
        assert answer.stats.picture_tokens == PICTURE_TOKENS
        await t.ask("And now?")  # the first question's picture is still in the prompt
        last = t.kept().messages[-1].stats
        assert last is not None
        assert last.picture_tokens == PICTURE_TOKENS


async def test_a_model_that_reads_only_text_is_not_asked_about_a_picture(
    tmp_path: Path, picture: Picture
) -> None:
    async with chat_under_test(tmp_path) as t:
        before = t.chat.conversation
        with pytest.raises(AppError) as caught:
            [event async for event in t.chat.send("What is it?", (picture,))]
        assert caught.value.problem.code == "model_sees_no_pictures"
        assert Remedy.CHOOSE_MODEL in caught.value.problem.remedies
        assert t.chat.conversation == before
        assert not t.chat.is_answering


async def test_a_question_whose_picture_was_deleted_is_not_answered_without_it(
    tmp_path: Path, picture: Picture
) -> None:
    async with chat_under_test(tmp_path, Script(sees_pictures=True)) as t:
        [event async for event in t.chat.send("What is it?", (picture,))]
        before = t.chat.conversation
        t.pictures.path(picture).unlink()
        for asked in (t.chat.send("And in colour?", (picture,)), t.chat.retry()):
            with pytest.raises(AppError) as caught:
                [event async for event in asked]
            assert caught.value.problem.code == "picture_missing"
            assert "street.png" in caught.value.problem.headline
            assert t.chat.conversation == before
            assert not t.chat.is_answering


async def test_what_a_model_is_not_shown_of_earlier_pictures_is_said(
    tmp_path: Path, picture: Picture
) -> None:
    async with chat_under_test(tmp_path, Script(sees_pictures=True)) as t:
        [event async for event in t.chat.send("What is it?", (picture,))]
        t.pictures.path(picture).unlink()
        finished = await t.finish("And now?")
        assert "A picture was left out, because the file is no longer there." in (
            finished.message.notice
        )
        t.under_test.launcher.script = Script()
        await t.under_test.engine.stop()
        await t.under_test.load()
        finished = await t.finish("And now?")
        assert "this model sees no pictures" in finished.message.notice
        assert t.kept().messages[0].pictures == (picture,)
