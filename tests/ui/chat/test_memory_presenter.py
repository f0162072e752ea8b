"""The memory block over a real engine with the fake worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest_asyncio
from PySide6.QtWidgets import QApplication, QLabel

from dflash_desktop.domain.memory_pool import PoolKind
from dflash_desktop.domain.memory_use import MemoryUse
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.ui.chat.memory_presenter import MemoryPresenter
from dflash_desktop.ui.chat.pane import ChatPane
from tests.fakes.engine import EngineUnderTest, engine_under_test, until
from tests.ui.picture_values import NO_PICTURES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.ui.theme import Theme

USE = MemoryUse(PoolKind.SYSTEM, "", 16_000_000_000, 700_000_000, 3_000_000_000, 0, None, False)


class FakeMemory:
    def __init__(self) -> None:
        self.asked = 0
        self.problem: Problem | None = None

    async def use(self, report: HardwareReport) -> MemoryUse:
        self.asked += 1
        if self.problem is not None:
            raise AppError(self.problem)
        return USE


class NoProbe:
    """On a processor nobody needs to be asked for the machine."""

    async def look(self) -> tuple[HardwareReport, DeviceReport]:
        raise AssertionError

    async def remembered(self) -> tuple[HardwareReport, DeviceReport] | None:
        raise AssertionError


class World:
    def __init__(self, theme: Theme, under_test: EngineUnderTest) -> None:
        self.under_test = under_test
        self.memory = FakeMemory()
        self.pane = ChatPane(
            theme=theme, report=lambda problem: problem.detail, picture_files=NO_PICTURES
        )
        self.pane.resize(1180, 760)
        self.pane.show()
        QApplication.processEvents()
        self.presenter = MemoryPresenter(
            pane=self.pane,
            engine=under_test.engine,
            memory=self.memory,
            machine=NoProbe(),
            pause_seconds=0.01,
        )

    def words(self) -> list[str]:
        labels = self.pane.meter.findChildren(QLabel)
        return [label.text() for label in labels if label.isVisible()]


@pytest_asyncio.fixture
async def world(theme: Theme, tmp_path: Path, qtbot: QtBot) -> AsyncIterator[World]:
    async with engine_under_test(tmp_path) as under_test:
        world = World(theme, under_test)
        qtbot.addWidget(world.pane)
        yield world
        await world.presenter.close()


async def test_the_block_comes_with_the_model_and_goes_with_it(world: World) -> None:
    assert world.memory.asked == 0
    await world.under_test.load()
    await until(lambda: "3.70 GB of 16.0 GB of the system" in world.words())
    await until(lambda: world.memory.asked > 2)  # it stays true
    await world.under_test.engine.stop()
    assert "MEMORY" not in world.words()


async def test_nobody_is_asked_for_what_is_not_in_view(world: World) -> None:
    world.pane.hide()
    await world.under_test.load()
    assert world.memory.asked == 0
    world.pane.show()
    await until(lambda: world.memory.asked > 0)


async def test_a_block_that_cannot_be_filled_is_not_there(world: World) -> None:
    world.memory.problem = Problem("code", "It is not known.", "")
    await world.under_test.load()
    await until(lambda: world.memory.asked > 0)
    assert "MEMORY" not in world.words()
