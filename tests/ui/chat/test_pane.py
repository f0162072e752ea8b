from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QPushButton, QWidget

from dflash_desktop.domain.conversation import Message
from dflash_desktop.domain.draft_policy import NOT_MEASURED
from dflash_desktop.domain.generation import DraftState, DraftUse, Role, SamplingParams
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.ui.chat.empty_view import FIRST_QUESTIONS
from dflash_desktop.ui.chat.pane import PANEL_FROM_WINDOW_WIDTH, ChatPane
from dflash_desktop.ui.chat.speed_line import SpeedLine
from dflash_desktop.ui.chat.speed_meter import SpeedMeter
from dflash_desktop.ui.pictures.thumbnail import PictureThumbnail
from tests.ui.picture_values import NO_PICTURES, FolderOfPictures, picture, write_picture

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

DRAFT_ON = DraftUse(DraftState.ON, "It was fastest.", 3)


@pytest.fixture
def pane(qtbot: QtBot, theme: Theme) -> ChatPane:
    made = ChatPane(
        theme=theme, report=lambda problem: problem.headline, picture_files=NO_PICTURES
    )
    qtbot.addWidget(made)
    made.resize(1180, 700)
    made.show()
    qtbot.waitExposed(made)
    made.show_model("Starter", "")
    made.show_draft(DRAFT_ON, is_attached=True)
    made.show_sampling(SamplingParams(), DRAFT_ON, can_think=True)
    return made


def words(widget: QWidget) -> list[str]:
    labels = [w.text() for w in widget.findChildren(QLabel) if w.isVisibleTo(widget)]
    return labels + [w.text() for w in widget.findChildren(QPushButton) if w.isVisibleTo(widget)]


def button(widget: QWidget, text: str) -> QPushButton:
    return next(b for b in widget.findChildren(QPushButton) if b.text() == text)


def test_the_empty_page_offers_a_way_to_begin(qtbot: QtBot, pane: ChatPane) -> None:
    assert "Ask Starter" in words(pane)
    with qtbot.waitSignal(pane.send_requested) as sent:
        button(pane, FIRST_QUESTIONS[0]).click()
    assert sent.args == [FIRST_QUESTIONS[0]]


def test_without_a_model_the_page_says_why_and_offers_no_question(pane: ChatPane) -> None:
    pane.show_model("", "Loading Starter")
    assert "No model is loaded yet" in words(pane)
    assert "Loading Starter" in words(pane)
    assert FIRST_QUESTIONS[0] not in words(pane)


def test_the_panel_becomes_a_line_in_a_narrow_window(qtbot: QtBot, pane: ChatPane) -> None:
    (panel,) = pane.findChildren(SpeedMeter)
    (line,) = pane.findChildren(SpeedLine)
    assert panel.isVisibleTo(pane)
    assert not line.isVisibleTo(pane)
    pane.resize(PANEL_FROM_WINDOW_WIDTH - 1, 700)
    assert not panel.isVisibleTo(pane)
    assert line.isVisibleTo(pane)
    assert "Draft on" in words(line)
    with qtbot.waitSignal(pane.draft_toggled) as toggled:
        button(line, "Draft on").click()
    assert toggled.args == [False]
    with qtbot.waitSignal(pane.measure_requested):
        button(line, "Measure").click()


def test_the_smallest_window_holds_the_page(pane: ChatPane) -> None:
    pane.resize(720, 520)
    assert pane.minimumSizeHint().width() <= 480
    assert pane.minimumSizeHint().height() <= 400


def test_a_problem_stands_above_the_composer_with_its_ways_out(
    qtbot: QtBot, pane: ChatPane
) -> None:
    pane.show_problem(Problem("x", "It broke.", "Try again.", remedies=(Remedy.RETRY,)))
    with qtbot.waitSignal(pane.remedy_chosen) as chosen:
        button(pane, "Try again").click()
    assert chosen.args == [Remedy.RETRY]
    pane.clear_problem()
    assert "It broke." not in words(pane)


def test_before_a_measurement_there_is_an_offer_and_no_ratio(pane: ChatPane) -> None:
    pane.show_verdict(NOT_MEASURED)
    assert "Measure" in words(pane)
    assert not any(text.endswith("x") for text in words(pane))


def test_everything_that_can_be_pressed_has_a_name_and_takes_the_focus(pane: ChatPane) -> None:
    pane.show_question(Message(Role.USER, "hello"))
    pane.begin_answer("Starter")
    for control in pane.findChildren(QAbstractButton):
        if control.isVisibleTo(pane):
            assert control.accessibleName() or control.text(), control
            assert control.focusPolicy().value & 1, control


def test_files_that_are_dropped_on_the_page_are_taken_as_copies(
    qtbot: QtBot, pane: ChatPane
) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/pictures/a.png")])
    both = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction
    arguments = (both, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(pane, QDragEnterEvent(QPoint(9, 9), *arguments))
    assert pane._drop_sheet.isVisibleTo(pane)
    drop = QDropEvent(QPointF(9, 9), *arguments)
    with qtbot.waitSignal(pane.files_given) as given:
        QApplication.sendEvent(pane, drop)
    assert given.args == [(str(Path("/pictures/a.png")),)]
    assert drop.dropAction() is Qt.DropAction.CopyAction
    assert not pane._drop_sheet.isVisibleTo(pane)


def test_a_message_shows_its_pictures_and_says_which_file_is_gone(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    files = FolderOfPictures(tmp_path)
    here, gone = picture("here.png", notes=("The first of 2 frames.",)), picture("gone.png")
    write_picture(files, here, "red")
    pane = ChatPane(theme=theme, report=lambda problem: problem.headline, picture_files=files)
    qtbot.addWidget(pane)
    pane.show_messages((Message(Role.USER, "", pictures=(here, gone)),))
    thumbnails = pane.transcript.findChildren(PictureThumbnail)
    drawn = [one.grab().toImage().pixelColor(60, 60).name() for one in thumbnails]
    assert drawn[0] == "#ff0000"
    assert [one.is_missing for one in thumbnails] == [False, True]
    assert thumbnails[0].accessibleName() == "Picture: here.png"
    assert "The first of 2 frames." in thumbnails[0].toolTip()
