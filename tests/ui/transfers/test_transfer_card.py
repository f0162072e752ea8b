"""The card of one transfer, in every state."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QProgressBar, QPushButton, QToolButton, QWidget

from dflash_desktop.domain.transfer import FileProgress, TransferState
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.transfers.file_list import FileList
from dflash_desktop.ui.transfers.transfer_card import TransferCard
from dflash_desktop.ui.transfers.words import numbers_line, summary_line
from tests.ui.transfers.transfer_values import DISK_FULL, EVERY_STATE, files, transfer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.ui.theme import Theme


@pytest.fixture
def card_of(qtbot: QtBot, theme: Theme) -> Callable[[Transfer], TransferCard]:
    def build(shown: Transfer) -> TransferCard:
        card = TransferCard(
            shown, theme=theme, report=lambda problem: problem.detail, has_order=True
        )
        qtbot.addWidget(card)
        card.resize(600, 300)
        with qtbot.waitExposed(card):
            card.show()
        card.activateWindow()
        return card

    return build


def shown_buttons(card: TransferCard) -> dict[str, QPushButton]:
    return {b.text(): b for b in card.findChildren(QPushButton) if b.isVisible()}


def test_the_numbers_say_what_is_known_and_nothing_else() -> None:
    assert numbers_line(transfer()) == "4.10 GB of 6.60 GB · 62 % · 38.2 MB/s · 1 min 5 s left"
    unknown = transfer(bytes_per_second=None, seconds_left=None)
    assert numbers_line(unknown) == "4.10 GB of 6.60 GB · 62 %"
    assert numbers_line(transfer(total_bytes=None)) == "4.10 GB"
    assert numbers_line(transfer(total_bytes=None, done_bytes=0)) == ""


def test_almost_everything_is_not_called_everything() -> None:
    assert "99 %" in numbers_line(transfer(done_bytes=6_599_999_999))


def test_a_transfer_that_does_not_run_promises_no_time() -> None:
    assert "left" not in numbers_line(transfer(TransferState.PAUSED))
    assert "left" not in numbers_line(transfer(TransferState.STALLED))


def test_the_summary_counts_what_is_open() -> None:
    assert summary_line(EVERY_STATE) == "5 open · 16.6 GB still to come"
    assert summary_line(EVERY_STATE[-1:]) == ""


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (TransferState.RUNNING, ["Pause", "Cancel…", "3 of 6 files"]),
        (TransferState.STALLED, ["Pause", "Try now", "Cancel…", "3 of 6 files"]),
        (TransferState.WAITING, ["Pause", "Cancel…", "3 of 6 files"]),
        (TransferState.PAUSED, ["Resume", "Cancel…", "3 of 6 files"]),
        (TransferState.FAILED, ["Try again", "Cancel…", "3 of 6 files"]),
        (TransferState.DONE, ["Show in Models", "Take off this list", "3 of 6 files"]),
    ],
)
def test_each_state_offers_what_can_be_done_in_it(
    card_of: Callable[[Transfer], TransferCard], state: TransferState, expected: list[str]
) -> None:
    assert list(shown_buttons(card_of(transfer(state)))) == expected


def test_the_state_is_told_in_words_to_a_screen_reader(
    card_of: Callable[[Transfer], TransferCard],
) -> None:
    card = card_of(transfer(TransferState.PAUSED))
    assert card.accessibleName().startswith("Qwen3 8B int4 with DFlash draft, paused, 4.10 GB")
    assert card.findChildren(QProgressBar)[0].accessibleName()


def test_progress_moves_the_bar_and_builds_nothing_anew(
    card_of: Callable[[Transfer], TransferCard],
) -> None:
    card = card_of(transfer(done_bytes=0))
    before = card.findChildren(QWidget)
    card.show_transfer(transfer(done_bytes=3_300_000_000))
    bar = card.findChild(QProgressBar)
    assert isinstance(bar, QProgressBar)
    assert bar.value() == bar.maximum() // 2
    assert card.findChildren(QWidget) == before


def test_a_key_that_paused_resumes_next_and_never_cancels(
    card_of: Callable[[Transfer], TransferCard],
) -> None:
    card = card_of(transfer(TransferState.RUNNING))
    shown_buttons(card)["Pause"].setFocus()
    card.show_transfer(transfer(TransferState.PAUSED))
    assert shown_buttons(card)["Resume"].hasFocus()
    card.show_transfer(transfer(TransferState.RUNNING))
    assert shown_buttons(card)["Pause"].hasFocus()


def test_a_stalled_transfer_that_counts_its_seconds_leaves_the_key_where_it_is(
    card_of: Callable[[Transfer], TransferCard],
) -> None:
    card = card_of(transfer(TransferState.STALLED, notice="Next attempt in 9 s."))
    for name in ("Try now", "Pause"):
        shown_buttons(card)[name].setFocus()
        card.show_transfer(transfer(TransferState.STALLED, notice="Next attempt in 8 s."))
        assert shown_buttons(card)[name].hasFocus()
    card.show_transfer(transfer(TransferState.RUNNING))
    assert shown_buttons(card)["Pause"].hasFocus()


def test_cancelling_asks_what_becomes_of_the_bytes(
    card_of: Callable[[Transfer], TransferCard], qtbot: QtBot
) -> None:
    card = card_of(transfer())
    shown_buttons(card)["Cancel…"].click()
    buttons = shown_buttons(card)
    assert list(buttons) == ["Keep what arrived", "Delete 4.10 GB", "Do not cancel"]
    assert buttons["Keep what arrived"].hasFocus()
    with qtbot.waitSignal(card.removed) as removed:
        buttons["Keep what arrived"].click()
    assert removed.args == ["one", True]
    with qtbot.waitSignal(card.removed) as removed:
        buttons["Delete 4.10 GB"].click()
    assert removed.args == ["one", False]


def test_escape_takes_the_question_back(
    card_of: Callable[[Transfer], TransferCard], qtbot: QtBot
) -> None:
    card = card_of(transfer())
    shown_buttons(card)["Cancel…"].click()
    QTest.keyClick(shown_buttons(card)["Keep what arrived"], Qt.Key.Key_Escape)
    assert "Pause" in shown_buttons(card)


def test_nothing_is_asked_about_bytes_that_never_arrived(
    card_of: Callable[[Transfer], TransferCard], qtbot: QtBot
) -> None:
    card = card_of(transfer(TransferState.WAITING, done_bytes=0))
    with qtbot.waitSignal(card.removed):
        shown_buttons(card)["Cancel…"].click()


def test_a_problem_is_shown_with_its_ways_out_and_cannot_be_waved_away(
    card_of: Callable[[Transfer], TransferCard], qtbot: QtBot
) -> None:
    card = card_of(transfer(TransferState.FAILED, problem=DISK_FULL))
    view = card.findChild(ProblemView)
    assert isinstance(view, ProblemView)
    assert view.isVisible()
    assert not [b for b in view.findChildren(QToolButton) if b.isVisible()]
    with qtbot.waitSignal(card.remedy_chosen):
        shown_buttons(card)["Try again"].click()
    card.show_transfer(transfer())
    assert not view.isVisible()


def test_files_are_shown_when_asked_for_and_follow(
    card_of: Callable[[Transfer], TransferCard],
) -> None:
    card = card_of(transfer())
    assert card.findChild(FileList) is None
    shown_buttons(card)["3 of 6 files"].click()
    view = card.findChild(FileList)
    assert isinstance(view, FileList)
    model = view.model()
    assert model.rowCount() == 6
    assert model.index(4, 1).data() == "1.60 GB of 4.80 GB"
    card.show_transfer(replace(transfer(), files=files(verified=5)))
    assert model.index(4, 1).data() == "4.80 GB, checked"


def test_files_of_the_same_name_tell_their_repositories(
    card_of: Callable[[Transfer], TransferCard],
) -> None:
    name = "openvino_model.bin"
    for owners, told in (
        (("OpenVINO/target", "z-lab/draft"), [f"target/{name}", f"draft/{name}"]),
        (("one/same", "two/same"), [f"one/same/{name}", f"two/same/{name}"]),
        (("one/alone",), [name]),
    ):
        of = tuple(FileProgress(owner, name, 0, 5) for owner in owners)
        card = card_of(replace(transfer(), files=of))
        shown_buttons(card)["1 file" if len(of) == 1 else "2 files"].click()
        view = card.findChild(FileList)
        assert isinstance(view, FileList)
        rows = [view.model().index(row, 0) for row in range(len(of))]
        assert [row.data() for row in rows] == told
        spoken = rows[0].data(Qt.ItemDataRole.AccessibleTextRole)
        assert spoken.startswith(told[0])


def test_the_order_is_changed_by_buttons_and_keys(
    card_of: Callable[[Transfer], TransferCard], qtbot: QtBot
) -> None:
    card = card_of(transfer())
    card.show_order(is_first=False, is_last=True)
    up, down = card.findChildren(QToolButton)[:2]
    assert up.isEnabled()
    assert not down.isEnabled()
    with qtbot.waitSignal(card.moved) as moved:
        up.click()
    assert moved.args == ["one", -1]
    shown_buttons(card)["Pause"].setFocus()
    with qtbot.waitSignal(card.moved) as moved:
        QTest.keyClick(
            shown_buttons(card)["Pause"], Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier
        )
    assert moved.args == ["one", -1]
