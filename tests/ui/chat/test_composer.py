from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QGuiApplication, QImage
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QFileDialog,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
)

from dflash_desktop.domain.generation import DraftState, DraftUse, SamplingParams
from dflash_desktop.domain.messages import MAX_MESSAGE_CHARACTERS
from dflash_desktop.ui.chat.composer import Composer
from dflash_desktop.ui.chat.message_field import MAX_FIELD_CHARACTERS, MAX_LINES
from dflash_desktop.ui.chat.sampling_popover import SamplingPopover, sampling_words
from dflash_desktop.ui.chat.system_prompt_popover import SystemPromptPopover
from tests.ui.chat.conftest import press, type_text

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

DRAFT_ON = DraftUse(DraftState.ON, "measured", 3)
RESTING = DraftUse(DraftState.RESTING, "above 0")
OFF = DraftUse(DraftState.OFF, "no draft")


@pytest.fixture
def composer(qtbot: QtBot, theme: Theme) -> Composer:
    made = Composer(theme=theme)
    qtbot.addWidget(made)
    made.resize(600, 120)
    made.show()
    qtbot.waitExposed(made)
    made.focus_field()
    return made


def field(composer: Composer) -> QPlainTextEdit:
    return next(
        f for f in composer.findChildren(QPlainTextEdit) if f.accessibleName() == "Message"
    )


def send_button(composer: Composer) -> QToolButton:
    return composer._send


def paste(composer: Composer, text: str) -> None:
    data = QMimeData()
    data.setText(text)
    field(composer).insertFromMimeData(data)


def test_enter_sends_and_shift_enter_begins_a_line(qtbot: QtBot, composer: Composer) -> None:
    type_text(field(composer), "one")
    press(field(composer), Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    type_text(field(composer), "two")
    with qtbot.waitSignal(composer.send_requested) as sent:
        press(field(composer), Qt.Key.Key_Return)
    assert sent.args == ["one\ntwo"]


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_blank_messages_are_not_sent(qtbot: QtBot, composer: Composer, text: str) -> None:
    field(composer).setPlainText(text)
    with qtbot.assertNotEmitted(composer.send_requested):
        press(field(composer), Qt.Key.Key_Return)


def test_stop_stands_in_the_place_of_send(qtbot: QtBot, composer: Composer) -> None:
    field(composer).setPlainText("next question")
    composer.show_answering(True)
    assert send_button(composer).accessibleName() == "Stop (Esc)"
    with qtbot.assertNotEmitted(composer.send_requested):
        press(field(composer), Qt.Key.Key_Return)
    with qtbot.waitSignal(composer.stop_requested):
        press(field(composer), Qt.Key.Key_Escape)
    with qtbot.waitSignal(composer.stop_requested):
        send_button(composer).click()
    composer.show_answering(False)
    assert composer.text == "next question"
    with qtbot.assertNotEmitted(composer.stop_requested):
        press(field(composer), Qt.Key.Key_Escape)


def test_the_button_says_why_nothing_can_be_sent(composer: Composer) -> None:
    assert not send_button(composer).isEnabled()
    assert send_button(composer).toolTip() == "Write something to send"
    field(composer).setPlainText("x")
    assert send_button(composer).isEnabled()
    composer.show_blocked("The model is loading")
    assert not send_button(composer).isEnabled()
    assert send_button(composer).toolTip() == "The model is loading"


def test_the_field_grows_to_eight_lines(qtbot: QtBot, composer: Composer) -> None:
    heights = []
    for lines in (1, 4, MAX_LINES, MAX_LINES + 20):
        field(composer).setPlainText("\n".join(["x"] * lines))
        qtbot.wait(1)
        heights.append(field(composer).height())
    assert heights[0] < heights[1] < heights[2] == heights[3]


def test_a_long_paste_becomes_a_chip_that_is_sent_too(qtbot: QtBot, composer: Composer) -> None:
    type_text(field(composer), "Sum this up:")
    paste(composer, "x" * 1_000_000)
    assert field(composer).toPlainText() == "Sum this up:"
    assert any("1,000,000 characters" in x.text() for x in composer.findChildren(QLabel))
    with qtbot.waitSignal(composer.send_requested) as sent:
        press(field(composer), Qt.Key.Key_Return)
    assert sent.args == ["Sum this up:\n\n" + "x" * 1_000_000]
    composer.clear()
    assert composer.text == ""


def test_a_chip_can_be_removed(composer: Composer) -> None:
    paste(composer, "y" * (MAX_FIELD_CHARACTERS + 1))
    remove = next(
        b for b in composer.findChildren(QToolButton) if b.accessibleName() == "Remove pasted text"
    )
    remove.click()
    assert composer.text == ""


def test_what_no_model_takes_is_refused_in_words(composer: Composer) -> None:
    paste(composer, "z" * (MAX_MESSAGE_CHARACTERS + 1))
    assert composer.text == ""
    assert any(
        "too many for any model" in label.text()
        for label in composer.findChildren(QLabel)
        if not label.isHidden()
    )


def test_only_plain_text_is_pasted(composer: Composer) -> None:
    data = QMimeData()
    data.setHtml("<b>bold</b><img src='file:///x'>")
    data.setText("<b>bold</b>")
    field(composer).insertFromMimeData(data)
    assert composer.text == "<b>bold</b>"


def test_typing_goes_on_after_a_short_paste(qtbot: QtBot, composer: Composer) -> None:
    QGuiApplication.clipboard().setText("pasted ")
    field(composer).paste()
    type_text(field(composer), "typed")
    assert composer.text == "pasted typed"


def test_a_refused_message_comes_back_unless_a_new_one_was_begun(composer: Composer) -> None:
    composer.restore("refused")
    assert composer.text == "refused"
    composer.restore("older")
    assert composer.text == "refused"
    composer.clear()
    composer.restore("w" * 50_000)
    assert field(composer).toPlainText() == ""
    assert composer.text == "w" * 50_000


@pytest.mark.parametrize(
    ("params", "draft", "words"),
    [
        (SamplingParams(), DRAFT_ON, "Greedy · draft on"),
        (SamplingParams(temperature=0.7), RESTING, "Temperature 0.7 · draft rests"),
        (SamplingParams(), OFF, "Greedy"),
    ],
)
def test_the_line_says_how_words_are_chosen(
    composer: Composer, params: SamplingParams, draft: DraftUse, words: str
) -> None:
    assert sampling_words(params, draft) == words
    composer.show_sampling(params, draft, can_think=False)
    assert words in [b.text() for b in composer.findChildren(QPushButton)]


def test_sampling_is_taken_over_when_the_card_closes(qtbot: QtBot, composer: Composer) -> None:
    composer.show_sampling(SamplingParams(), DRAFT_ON, can_think=True)
    (popover,) = composer.findChildren(SamplingPopover)
    popover.open_above(composer)
    assert any(
        "Above a temperature of 0 it rests" in x.text() for x in popover.findChildren(QLabel)
    )
    temperature = next(
        f for f in popover.findChildren(QDoubleSpinBox) if f.objectName() == "temperature"
    )
    top_p = next(f for f in popover.findChildren(QDoubleSpinBox) if f.objectName() == "top_p")
    assert not top_p.isEnabled()
    assert "Greedy" in top_p.toolTip()
    temperature.setValue(0.7)
    assert top_p.isEnabled()
    with qtbot.waitSignal(composer.sampling_changed) as changed:
        popover.close()
    assert changed.args == [SamplingParams(temperature=0.7)]
    popover.open_above(composer)
    with qtbot.assertNotEmitted(composer.sampling_changed):
        popover.close()


def test_the_system_prompt_is_taken_over_when_the_card_closes(
    qtbot: QtBot, composer: Composer
) -> None:
    composer.show_system_prompt("Be brief.")
    assert "System prompt · on" in [b.text() for b in composer.findChildren(QPushButton)]
    (popover,) = composer.findChildren(SystemPromptPopover)
    popover.open_above(composer)
    (text,) = popover.findChildren(QPlainTextEdit)
    assert text.toPlainText() == "Be brief."
    text.setPlainText("Be long.")
    with qtbot.waitSignal(composer.system_prompt_changed) as changed:
        popover.close()
    assert changed.args == ["Be long."]


def paste_data(composer: Composer, data: QMimeData) -> None:
    field(composer).insertFromMimeData(data)


def test_a_copied_picture_and_copied_files_are_attached_and_not_written(
    qtbot: QtBot, composer: Composer
) -> None:
    given: list[object] = []
    composer.picture_pasted.connect(given.append)
    composer.files_given.connect(given.append)
    screenshot = QMimeData()
    image = QImage(8, 8, QImage.Format.Format_RGB32)
    screenshot.setImageData(image)
    paste_data(composer, screenshot)
    as_file = QMimeData()
    as_file.setImageData(image)
    as_file.setData("image/png", b"the bytes of a PNG")
    paste_data(composer, as_file)
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile("/a b/ü.png"), QUrl.fromLocalFile("/c.jpg")])
    paste_data(composer, files)
    assert isinstance(given[0], QImage)
    assert given[1:] == [b"the bytes of a PNG", (str(Path("/a b/ü.png")), str(Path("/c.jpg")))]
    assert composer.text == ""
    assert field(composer).canInsertFromMimeData(screenshot)


def test_text_that_an_office_program_copied_with_a_picture_of_it_stays_text(
    qtbot: QtBot, composer: Composer
) -> None:
    data = QMimeData()
    data.setText("a cell")
    data.setImageData(QImage(8, 8, QImage.Format.Format_RGB32))
    paste_data(composer, data)
    assert composer.text == "a cell"


def test_links_of_other_machines_are_text(qtbot: QtBot, composer: Composer) -> None:
    data = QMimeData()
    data.setUrls([QUrl("https://example.org/a.png")])
    paste_data(composer, data)
    assert composer.text == "https://example.org/a.png"


def test_files_are_left_to_the_page_and_never_moved_by_the_field(
    qtbot: QtBot, composer: Composer
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/a.png")])
    over = QDragEnterEvent(
        QPoint(4, 4),
        Qt.DropAction.MoveAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    field(composer).dragEnterEvent(over)
    assert not over.isAccepted()


def test_the_button_asks_for_pictures(
    qtbot: QtBot, composer: Composer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: (["/a.png", "/b.jpg"], ""))
    began: list[bool] = []
    composer.picking_began.connect(lambda: began.append(True))
    with qtbot.waitSignal(composer.files_given) as given:
        composer._attach.click()
    assert given.args == [("/a.png", "/b.jpg")]
    assert began == [True]
