"""The tools of exports are installed, mended and removed from their cards."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest_asyncio
from PySide6.QtWidgets import QApplication, QLabel, QProgressBar, QPushButton

from dflash_desktop.domain.export_environment import (
    EnvironmentProgress,
    EnvironmentStage,
    EnvironmentState,
)
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.ui.export.environments_presenter import EnvironmentsPresenter
from dflash_desktop.ui.export.environments_view import EnvironmentsView
from tests.fakes.engine import until
from tests.ui.export.export_values import ENVIRONMENTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.export_environment import EnvironmentStatus
    from dflash_desktop.ui.theme import Theme

READY, ABSENT, DAMAGED, OLD = ENVIRONMENTS
NO_ROOM = Problem(
    "disk_full",
    "The export tools could not be installed: the disk is full.",
    "Free 1.2 GB.",
    remedies=(Remedy.RETRY, Remedy.OPEN_LOG),
)


class FakeEnvironments:
    """Notes what is asked; an installation waits for `gate`."""

    def __init__(self) -> None:
        self.known: tuple[EnvironmentStatus, ...] = ENVIRONMENTS
        self.asked: list[tuple[str, str]] = []
        self.refusal: Problem | None = None
        self.gate = asyncio.Event()
        self._listeners: list[Callable[[], None]] = []

    def status(self) -> tuple[EnvironmentStatus, ...]:
        return self.known

    def change(self, *known: EnvironmentStatus) -> None:
        self.known = known
        for listener in tuple(self._listeners):
            listener()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def install(
        self, environment_id: str, report: Callable[[EnvironmentProgress], None]
    ) -> None:
        self.asked.append(("install", environment_id))
        if self.refusal is not None:
            raise AppError(self.refusal)
        report(
            EnvironmentProgress(
                EnvironmentStage.PACKAGES,
                "Fetching torch.",
                "torch",
                50_000_000,
                200_000_000,
            )
        )
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.asked.append(("cancelled", environment_id))
            raise

    async def repair(
        self, environment_id: str, report: Callable[[EnvironmentProgress], None]
    ) -> None:
        self.asked.append(("repair", environment_id))

    async def remove(self, environment_id: str) -> None:
        self.asked.append(("remove", environment_id))


class Setup:
    def __init__(self, theme: Theme) -> None:
        self.environments = FakeEnvironments()
        self.led: list[Remedy] = []
        self.view = EnvironmentsView(theme=theme, report=lambda problem: problem.detail)
        self.presenter = EnvironmentsPresenter(
            view=self.view, environments=self.environments, on_remedy=self.led.append
        )

    def button(self, words: str, environment: EnvironmentStatus) -> QPushButton:
        QApplication.processEvents()
        card = self.view.card(environment.id)
        assert card is not None
        shown = [b for b in card.findChildren(QPushButton) if b.isVisible()]
        found = [b for b in shown if b.text() == words]
        assert found, [b.text() for b in shown]
        return found[0]

    def buttons(self, environment: EnvironmentStatus) -> list[str]:
        card = self.view.card(environment.id)
        assert card is not None
        return [b.text() for b in card.findChildren(QPushButton) if b.isVisible()]

    def says(self, words: str) -> bool:
        labels = self.view.findChildren(QLabel)
        return any(words in label.text() for label in labels if label.isVisible())


@pytest_asyncio.fixture
async def setup(qtbot: QtBot, theme: Theme) -> AsyncIterator[Setup]:
    setup = Setup(theme)
    qtbot.addWidget(setup.view)
    setup.view.resize(760, 1200)
    setup.view.show()
    await until(lambda: setup.view.card(READY.id) is not None)
    setup.view.open()
    yield setup
    await setup.presenter.close()


async def test_each_offers_what_can_be_done_with_it(setup: Setup) -> None:
    assert setup.says("3 of 4 installed")
    assert setup.buttons(READY) == ["Check and repair", "Remove…"]
    assert setup.buttons(ABSENT) == ["Install 118 MB"]
    assert setup.buttons(DAMAGED) == ["Repair", "Remove…"]
    assert setup.buttons(OLD) == ["Update", "Remove…"]
    assert setup.says("Development version")


async def test_an_installation_shows_how_far_it_is_and_can_be_cancelled(setup: Setup) -> None:
    setup.button("Install 118 MB", ABSENT).click()
    await until(lambda: setup.says("50.0 MB of 200 MB"))
    card = setup.view.card(ABSENT.id)
    assert card is not None
    bar = card.findChild(QProgressBar)
    assert bar is not None
    assert bar.value() == 250
    assert setup.buttons(ABSENT) == ["Cancel"]
    setup.button("Cancel", ABSENT).click()
    await until(lambda: ("cancelled", ABSENT.id) in setup.environments.asked)
    await until(lambda: setup.buttons(ABSENT) == ["Install 118 MB"])


async def test_what_was_installed_is_shown_as_ready(setup: Setup) -> None:
    setup.button("Install 118 MB", ABSENT).click()
    await until(lambda: setup.says("Fetching torch."))
    setup.environments.gate.set()
    installed = replace(ABSENT, state=EnvironmentState.READY, size_bytes=118_000_000)
    setup.environments.change(READY, installed, DAMAGED, OLD)
    await until(lambda: setup.buttons(ABSENT) == ["Check and repair", "Remove…"])
    assert setup.says("4 of 4 installed")


async def test_why_it_failed_is_said_on_its_card_with_ways_out(setup: Setup) -> None:
    setup.environments.refusal = NO_ROOM
    setup.button("Update", OLD).click()
    await until(lambda: setup.says("the disk is full"))
    setup.button(Remedy.RETRY.label, OLD).click()
    await until(lambda: setup.environments.asked == [("install", OLD.id)] * 2)
    await until(lambda: setup.says("the disk is full"))
    setup.button(Remedy.OPEN_LOG.label, OLD).click()
    assert setup.led == [Remedy.OPEN_LOG]


async def test_a_damaged_one_is_repaired(setup: Setup) -> None:
    setup.button("Repair", DAMAGED).click()
    await until(lambda: setup.environments.asked == [("repair", DAMAGED.id)])


async def test_one_is_removed_only_after_a_question(setup: Setup) -> None:
    setup.button("Remove…", READY).click()
    assert not setup.environments.asked
    assert setup.button("Keep it", READY).hasFocus()
    setup.button("Remove 1.32 GB", READY).click()
    await until(lambda: setup.environments.asked == [("remove", READY.id)])
