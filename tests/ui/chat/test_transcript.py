from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from dflash_desktop.domain.conversation import Message
from dflash_desktop.domain.generation import (
    FinishReason,
    GenerationStats,
    Role,
    TextOrigin,
    TextRun,
)
from dflash_desktop.ui.chat.message_view import (
    MORE_QUESTION_CHARACTERS,
    SHOWN_QUESTION_CHARACTERS,
    AnswerView,
    QuestionView,
)
from dflash_desktop.ui.chat.plain_view import PlainView
from dflash_desktop.ui.chat.transcript import SHOWN_MESSAGES, Transcript
from dflash_desktop.ui.colours import LIGHT
from tests.ui.chat.conftest import draw, press
from tests.ui.picture_values import NO_PICTURES

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

STATS = GenerationStats(42, 312, 87, 1, 0.21, 6.47, 3)


@pytest.fixture
def transcript(qtbot: QtBot, theme: Theme) -> Transcript:
    made = Transcript(theme=theme, picture_files=NO_PICTURES)
    qtbot.addWidget(made)
    made.resize(700, 400)
    made.show()
    qtbot.waitExposed(made)
    return made


def say(answer: AnswerView, text: str, origin: TextOrigin = TextOrigin.TARGET) -> None:
    answer.append((TextRun(text, origin, 0),), "")


def message(text: str, finish: FinishReason = FinishReason.STOP) -> Message:
    return Message(Role.ASSISTANT, text, stats=STATS, finish=finish, model_title="M")


def conversation(turns: int) -> tuple[Message, ...]:
    return tuple(
        m
        for turn in range(turns)
        for m in (Message(Role.USER, f"question {turn}"), message(f"answer {turn}"))
    )


def labels(view: AnswerView) -> list[str]:
    return [label.text() for label in view.findChildren(QLabel) if not label.isHidden()]


def icon_button(view: AnswerView | QuestionView, name: str) -> QToolButton:
    return next(b for b in view.findChildren(QToolButton) if b.accessibleName() == name)


def at_end(transcript: Transcript) -> bool:
    bar = transcript.verticalScrollBar()
    return bar.value() == bar.maximum() > 0


def test_new_text_keeps_the_end_in_view(transcript: Transcript) -> None:
    transcript.add_question(Message(Role.USER, "Tell me much."))
    answer = transcript.begin_answer("M")
    for _ in range(40):
        say(answer, "A paragraph of some words.\n\n")
        draw(transcript.drawing)
        assert transcript.follows_end
    assert at_end(transcript)


def test_someone_who_scrolled_up_is_left_in_peace(qtbot: QtBot, transcript: Transcript) -> None:
    transcript.add_question(Message(Role.USER, "Tell me much."))
    answer = transcript.begin_answer("M")
    say(answer, "words\n\n" * 60)
    draw(transcript.drawing)
    transcript.verticalScrollBar().setValue(100)
    say(answer, "more words\n\n" * 60)
    draw(transcript.drawing)
    assert transcript.verticalScrollBar().value() == 100
    (jump,) = [b for b in transcript.findChildren(QPushButton) if b.text() == "Jump to latest"]
    assert not jump.isHidden()
    jump.click()
    assert at_end(transcript)
    assert jump.isHidden()


def test_keys_reach_both_ends(qtbot: QtBot, transcript: Transcript) -> None:
    transcript.show_messages((message("words\n\n" * 80),))
    draw(transcript.drawing)
    transcript.setFocus()
    press(transcript, Qt.Key.Key_Home)
    assert transcript.verticalScrollBar().value() == 0
    assert not transcript.follows_end
    press(transcript, Qt.Key.Key_PageDown)
    assert transcript.verticalScrollBar().value() > 0
    press(transcript, Qt.Key.Key_End)
    assert at_end(transcript)


def test_of_a_long_conversation_the_last_messages_come_first(transcript: Transcript) -> None:
    transcript.show_messages(conversation(30))
    draw(transcript.drawing)
    assert len(transcript._messages()) == SHOWN_MESSAGES
    assert at_end(transcript)
    (earlier,) = [b for b in transcript.findChildren(QPushButton) if "earlier" in b.text()]
    transcript.verticalScrollBar().setValue(0)
    seen = transcript._messages()[0]
    before = seen.mapTo(transcript, QPoint()).y()
    earlier.click()
    draw(transcript.drawing)
    assert len(transcript._messages()) == 2 * SHOWN_MESSAGES
    assert seen.mapTo(transcript, QPoint()).y() == before
    earlier.click()
    draw(transcript.drawing)
    first = transcript._messages()[0]
    assert isinstance(first, QuestionView)
    assert first.text == "question 0"
    assert earlier.isHidden()


def test_only_the_last_answer_can_be_asked_for_again(qtbot: QtBot, transcript: Transcript) -> None:
    transcript.show_messages(conversation(2))
    views = [v for v in transcript._messages() if isinstance(v, AnswerView)]
    assert icon_button(views[0], "Try again").isHidden()
    with qtbot.waitSignal(transcript.retry_requested):
        icon_button(views[1], "Try again").click()
    transcript.add_question(Message(Role.USER, "next"))
    transcript.begin_answer("M")
    assert icon_button(views[1], "Try again").isHidden()


def test_a_refused_turn_leaves_no_trace(transcript: Transcript) -> None:
    transcript.show_messages(conversation(1))
    transcript.add_question(Message(Role.USER, "refused"))
    transcript.begin_answer("M")
    transcript.remove_last_turn()
    assert len(transcript._messages()) == 2


def test_the_line_under_an_answer_tells_its_numbers(transcript: Transcript) -> None:
    answer = transcript.begin_answer("M")
    say(answer, "words")
    answer.finish(message("words"), 2.4)
    assert "48.1 tok/s · 2.40x · first word 0.210 s · 312 tokens" in labels(answer)


def test_unknown_numbers_are_left_out_never_nan(transcript: Transcript) -> None:
    answer = transcript.begin_answer("M")
    stats = GenerationStats(5, 1, 1, 1, 0.3, 0.0, 3)
    answer.show_speed(stats, None)
    assert "first word 0.300 s · 1 token" in labels(answer)


@pytest.mark.parametrize(
    ("finish", "words"),
    [
        (FinishReason.CANCELLED, "You stopped this answer."),
        (FinishReason.LENGTH, "longest allowed length"),
        (FinishReason.CONTEXT, "context is full"),
        (FinishReason.FAILED, "Cut: the engine broke off."),
    ],
)
def test_a_cut_answer_says_why(transcript: Transcript, finish: FinishReason, words: str) -> None:
    answer = transcript.begin_answer("M")
    say(answer, "half a sent")
    answer.finish(message("half a sent", finish), None)
    assert any(words in text for text in labels(answer))


def test_answers_and_questions_are_copied_as_they_were_written(transcript: Transcript) -> None:
    transcript.add_question(Message(Role.USER, "<b>a</b> **b**"))
    answer = transcript.begin_answer("M")
    say(answer, "**bold** `x`")
    answer.finish(message("**bold** `x`"), None)
    question = transcript._messages()[0]
    assert isinstance(question, QuestionView)
    icon_button(question, "Copy message").click()
    assert QGuiApplication.clipboard().text() == "<b>a</b> **b**"
    icon_button(answer, "Copy answer").click()
    assert QGuiApplication.clipboard().text() == "**bold** `x`"


def test_markup_in_a_question_is_shown_as_it_is(transcript: Transcript) -> None:
    text = "<img src='file:///x'> **not bold** <script>"
    transcript.add_question(Message(Role.USER, text))
    draw(transcript.drawing)
    (view,) = transcript.findChildren(PlainView)
    assert view.toPlainText() == text


def test_of_a_megabyte_only_the_beginning_is_drawn(transcript: Transcript) -> None:
    transcript.add_question(Message(Role.USER, "word " * 200_000))
    draw(transcript.drawing)
    (view,) = transcript.findChildren(PlainView)
    assert len(view.toPlainText()) < SHOWN_QUESTION_CHARACTERS + 10
    (more,) = [b for b in transcript.findChildren(QPushButton) if "more characters" in b.text()]
    more.click()
    draw(transcript.drawing)
    shown = SHOWN_QUESTION_CHARACTERS + MORE_QUESTION_CHARACTERS
    assert abs(len(view.toPlainText()) - shown) < 20
    question = transcript._messages()[0]
    assert isinstance(question, QuestionView)
    assert len(question.text) == 1_000_000


def test_ten_thousand_short_lines_are_all_there(transcript: Transcript) -> None:
    answer = transcript.begin_answer("M")
    say(answer, "".join(f"- line {i}\n" for i in range(10_000)))
    answer.finish(message("x"), None)
    draw(transcript.drawing)
    assert at_end(transcript)
    assert transcript.verticalScrollBar().maximum() > 10_000 * 15


def test_thinking_is_folded_and_says_how_long_it_took(transcript: Transcript) -> None:
    answer = transcript.begin_answer("M")
    answer.append((), "Let me see.")
    (fold,) = [b for b in answer.findChildren(QPushButton) if "Think" in b.text()]
    assert fold.text() == "Thinking…"
    assert not answer.findChildren(PlainView)
    say(answer, "Done.")
    assert fold.text() == "Thought for 1 s"
    fold.click()
    draw(transcript.drawing)
    (view,) = answer.findChildren(PlainView)
    assert view.toPlainText() == "Let me see."


def test_the_words_of_the_draft_are_tinted_and_tell_their_step(transcript: Transcript) -> None:
    answer = transcript.begin_answer("M")
    answer.append(
        (
            TextRun("from the draft ", TextOrigin.DRAFT, 11),
            TextRun("own", TextOrigin.TARGET, 11),
        ),
        "",
    )
    transcript.mark_draft(True)
    draw(transcript.drawing)
    (view,) = answer.findChildren(PlainView)
    assert view.toPlainText() == "from the draft own"
    tinted = view.document().find("draft").charFormat()
    assert tinted.background().color().name().upper() == LIGHT.draft_tint
    assert tinted.toolTip() == "Step 12: proposed by the draft, accepted"
    plain = view.document().find("own").charFormat()
    assert plain.background().style() == Qt.BrushStyle.NoBrush
    assert plain.toolTip() == "Step 12: from the target itself"
    transcript.mark_draft(False)
    assert view.isHidden()


def test_an_answer_without_kept_words_stays_as_it_is(transcript: Transcript) -> None:
    transcript.show_messages((message("kept text"),))
    transcript.mark_draft(True)
    draw(transcript.drawing)
    answer = transcript.answer
    assert answer is not None
    assert not answer._markdown.isHidden()
