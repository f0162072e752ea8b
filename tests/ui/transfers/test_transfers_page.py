"""The transfers page and its presenter over a queue that only notes what is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton

from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.problem_view import ProblemView
from dflash_desktop.ui.sidebar import Sidebar
from dflash_desktop.ui.transfers.pane import TransfersPane
from dflash_desktop.ui.transfers.presenter import TransferCount, TransfersPresenter
from dflash_desktop.ui.transfers.transfer_card import TransferCard
from tests.fakes.engine import until
from tests.ui.transfers.transfer_values import DISK_FULL, EVERY_STATE, FakeQueue, transfer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.ui.theme import Theme


class Setup:
    def __init__(self, theme: Theme) -> None:
        self.queue = FakeQueue(*EVERY_STATE)
        self.ways_out: list[tuple[str, Remedy]] = []
        self.pane = TransfersPane(theme=theme, report=lambda problem: problem.detail)
        self.presenter = TransfersPresenter(
            pane=self.pane,
            queue=self.queue,
            on_remedy=lambda one, remedy: self.ways_out.append((one.id, remedy)),
        )

    def cards(self) -> list[TransferCard]:
        """From top to bottom."""
        QApplication.processEvents()
        shown = [c for c in self.pane.findChildren(TransferCard) if c.isVisible()]
        return sorted(shown, key=lambda card: card.mapTo(self.pane, card.pos() * 0).y())

    def ids(self) -> list[str]:
        return [card.id for card in self.cards()]

    def press(self, transfer_id: str, label: str) -> None:
        card = next(card for card in self.cards() if card.id == transfer_id)
        buttons = [*card.findChildren(QPushButton), *card.findChildren(QToolButton)]
        named = [b for b in buttons if b.isVisible() and label in (b.text(), b.accessibleName())]
        named[0].click()

    async def asked(self, *what: object) -> None:
        await until(lambda: what in self.queue.asked)


@pytest_asyncio.fixture
async def setup(qtbot: QtBot, theme: Theme) -> AsyncIterator[Setup]:
    setup = Setup(theme)
    qtbot.addWidget(setup.pane)
    setup.pane.resize(700, 1600)
    setup.pane.show()
    yield setup
    await setup.presenter.close()


async def test_what_is_done_stands_below_what_is_open(setup: Setup) -> None:
    assert setup.ids() == ["one", "stalled", "failed", "paused", "waiting", "done"]
    setup.queue.change(EVERY_STATE[-1], *EVERY_STATE[:-1])
    assert setup.ids() == ["one", "stalled", "failed", "paused", "waiting", "done"]


async def test_a_new_order_moves_the_cards_and_builds_none(setup: Setup) -> None:
    before = {card.id: card for card in setup.cards()}
    setup.queue.change(*reversed(EVERY_STATE))
    assert setup.ids() == ["waiting", "paused", "failed", "stalled", "one", "done"]
    assert {card.id: card for card in setup.cards()} == before


async def test_each_wish_reaches_the_queue(setup: Setup) -> None:
    setup.press("one", "Pause")
    await setup.asked("pause", "one")
    setup.press("paused", "Resume")
    await setup.asked("resume", "paused")
    setup.press("failed", "Try again")
    await setup.asked("resume", "failed")
    setup.press("stalled", "Try now")
    await setup.asked("resume", "stalled")
    setup.press("one", "Cancel…")
    setup.press("one", "Keep what arrived")
    await setup.asked("remove", "one", True)
    setup.press("done", "Take off this list")
    await setup.asked("remove", "done", True)


async def test_moving_takes_the_place_of_the_open_neighbour(setup: Setup) -> None:
    # A finished one in between must not swallow the step.
    setup.queue.change(EVERY_STATE[0], EVERY_STATE[-1], EVERY_STATE[1])
    setup.press("stalled", "Download earlier (Alt+Up)")
    await setup.asked("move", "stalled", 0)
    setup.press("one", "Download later (Alt+Down)")
    await setup.asked("move", "one", 2)


async def test_other_ways_out_are_passed_on_with_their_transfer(setup: Setup) -> None:
    setup.pane.remedy_chosen.emit("failed", Remedy.OPEN_LOG)
    assert setup.ways_out == [("failed", Remedy.OPEN_LOG)]


async def test_the_list_of_what_is_done_can_be_cleared(setup: Setup) -> None:
    clear = next(b for b in setup.pane.findChildren(QPushButton) if b.text() == "Clear list")
    clear.click()
    await setup.asked("remove", "done", True)
    assert len(setup.queue.asked) == 1


async def test_an_empty_page_offers_the_one_next_step(setup: Setup, qtbot: QtBot) -> None:
    setup.queue.change()
    assert setup.ids() == []
    get = next(b for b in setup.pane.findChildren(QPushButton) if b.text() == "Get models")
    assert get.isVisible()
    with qtbot.waitSignal(setup.pane.models_requested):
        get.click()


async def test_what_the_queue_refuses_is_said_on_the_page(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(transfer_id: str) -> None:
        raise AppError(DISK_FULL)

    monkeypatch.setattr(setup.queue, "pause", refuse)
    setup.press("one", "Pause")
    own = [v for v in setup.pane.findChildren(ProblemView) if not in_a_card(v)]
    await until(lambda: [v.problem for v in own] == [DISK_FULL])
    monkeypatch.undo()
    next(b for b in own[0].findChildren(QPushButton) if b.text() == "Try again").click()
    await setup.asked("pause", "one")
    assert own[0].problem is None


def in_a_card(view: ProblemView) -> bool:
    return isinstance(view.parent(), TransferCard)


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (EVERY_STATE, "Transfers 5"),
        ((transfer(TransferState.DONE),), "Transfers"),
        ((), "Transfers"),
    ],
)
async def test_the_navigation_counts_what_is_open(
    qtbot: QtBot, theme: Theme, shown: tuple[Transfer, ...], text: str
) -> None:
    sidebar = Sidebar(theme=theme)
    qtbot.addWidget(sidebar)
    queue = FakeQueue()
    count = TransferCount(sidebar=sidebar, queue=queue)
    queue.change(*shown)
    words = [b.text() for b in sidebar.findChildren(QPushButton)]
    assert text in words
    assert Page.MEASURE.value in words
    await count.close()
