from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtWidgets import QFileDialog, QLabel, QProgressBar, QPushButton

from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.starter import (
    InstallProgress,
    InstallStage,
    StarterState,
    StarterStatus,
)
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.ui.starter.pane import StarterPane
from dflash_desktop.ui.starter.presenter import StarterPresenter
from dflash_desktop.ui.starter.words import bar_share, numbers_line
from tests.fakes.engine import until

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

PIN = starter_resources().pin
LOOKING = InstallProgress(InstallStage.LOOKING, "Looking for the starter model.")
HALF = InstallProgress(InstallStage.DOWNLOADING, "Downloading.", 50_000_000, 100_000_000, 2.5e6)
DONE = InstallProgress(InstallStage.DONE, "Installed.")
OFFLINE = Problem("starter_needs_file", "There is no connection.", "Check it.", detail="pip text")
WRONG = Problem("starter_check_failed", "It does not work here.", "", remedies=(Remedy.RETRY,))


class FakeStarter:
    """Installs in steps that the test lets through."""

    def __init__(self) -> None:
        self.state = StarterState.MISSING
        self.steps: asyncio.Queue[InstallProgress | Problem] = asyncio.Queue()
        self.files: list[Path | None] = []
        self.was_closed = False

    def status(self) -> StarterStatus:
        return StarterStatus(self.state, Path("/t"), Path("/d"), 2.63)

    async def install(self, *, file: Path | None = None) -> AsyncGenerator[InstallProgress]:
        self.files.append(file)
        try:
            while True:
                step = await self.steps.get()
                if isinstance(step, Problem):
                    raise AppError(step)
                if step is DONE:
                    self.state = StarterState.READY
                    yield step
                    return
                yield step
        finally:
            self.was_closed = True


@pytest.fixture
def pane(qtbot: QtBot, theme: Theme) -> StarterPane:
    pane = StarterPane(theme=theme, pin=PIN, report=lambda problem: f"report: {problem.detail}")
    qtbot.addWidget(pane)
    pane.resize(900, 700)
    pane.show()
    return pane


@pytest.fixture
def starter() -> FakeStarter:
    return FakeStarter()


@pytest.fixture
def changes() -> list[StarterState]:
    return []


@pytest_asyncio.fixture
async def presenter(
    pane: StarterPane, starter: FakeStarter, changes: list[StarterState]
) -> AsyncIterator[StarterPresenter]:
    presenter = StarterPresenter(
        pane=pane, starter=starter, on_change=lambda: changes.append(starter.state)
    )
    presenter.refresh()
    yield presenter
    await presenter.close()


def shown(pane: StarterPane) -> str:
    """All words that can be read now."""
    return "\n".join(label.text() for label in pane.findChildren(QLabel) if label.isVisible())


def button(pane: StarterPane, text: str) -> QPushButton:
    return next(b for b in pane.findChildren(QPushButton) if text in b.text() and not b.isHidden())


def can_see(pane: StarterPane, text: str) -> bool:
    return any(text in b.text() and b.isVisible() for b in pane.findChildren(QPushButton))


@pytest.mark.usefixtures("presenter")
async def test_the_offer_says_that_the_model_is_small_and_how_much_is_fetched(
    pane: StarterPane,
) -> None:
    assert "small" in shown(pane)
    assert can_see(pane, "98.4 MB")
    assert PIN.licence in shown(pane)


@pytest.mark.usefixtures("presenter")
async def test_an_installation_is_followed_to_its_end(
    pane: StarterPane, starter: FakeStarter, changes: list[StarterState]
) -> None:
    button(pane, "Get the starter model").click()
    starter.steps.put_nowait(LOOKING)
    starter.steps.put_nowait(HALF)
    await until(lambda: "50.0 MB of 100 MB · 2.50 MB/s · 20 s left" in shown(pane))
    bar = pane.findChild(QProgressBar)
    assert isinstance(bar, QProgressBar)
    assert 0.2 < bar.value() / bar.maximum() < 0.5
    starter.steps.put_nowait(DONE)
    await until(lambda: "is ready" in shown(pane))
    assert "2.63 tokens per step" in shown(pane)
    assert changes == [StarterState.READY]


@pytest.mark.usefixtures("presenter")
async def test_cancel_ends_the_installation_and_offers_it_again(
    pane: StarterPane, starter: FakeStarter
) -> None:
    button(pane, "Get the starter model").click()
    starter.steps.put_nowait(HALF)
    await until(lambda: can_see(pane, "Cancel"))
    button(pane, "Cancel").click()
    await until(lambda: can_see(pane, "Get the starter model"))
    assert starter.was_closed


@pytest.mark.usefixtures("presenter")
async def test_without_a_network_the_page_says_which_file_to_bring(
    pane: StarterPane, starter: FakeStarter, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    button(pane, "Get the starter model").click()
    starter.steps.put_nowait(OFFLINE)
    await until(lambda: "One file is needed" in shown(pane))
    words = shown(pane).replace("\u200b", "")
    for fact in (PIN.file_name, PIN.sha256, "98,362,432 bytes", PIN.wheel.package, "stick"):
        assert fact in words
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("/media/stick/x.gguf", ""))
    button(pane, "Choose file").click()
    await until(lambda: starter.files == [None, Path("/media/stick/x.gguf")])


@pytest.mark.usefixtures("presenter")
async def test_another_failure_is_shown_with_its_way_out(
    pane: StarterPane, starter: FakeStarter
) -> None:
    button(pane, "Get the starter model").click()
    starter.steps.put_nowait(WRONG)
    await until(lambda: WRONG.headline in shown(pane))
    button(pane, Remedy.RETRY.label).click()
    await until(lambda: len(starter.files) == 2)


@pytest.mark.usefixtures("presenter")
async def test_the_log_can_be_opened_where_a_problem_offers_it(
    pane: StarterPane, starter: FakeStarter, qtbot: QtBot
) -> None:
    button(pane, "Get the starter model").click()
    starter.steps.put_nowait(Problem("x", "It failed.", "See.", remedies=(Remedy.OPEN_LOG,)))
    await until(lambda: "It failed." in shown(pane))
    with qtbot.waitSignal(pane.log_requested, timeout=1000):
        button(pane, Remedy.OPEN_LOG.label).click()


async def test_a_broken_installation_asks_for_a_repair(
    pane: StarterPane, starter: FakeStarter, presenter: StarterPresenter
) -> None:
    starter.state = StarterState.BROKEN
    presenter.refresh()
    assert can_see(pane, "Repair")


async def test_closing_ends_a_running_installation_and_leaves_the_page_alone(
    pane: StarterPane, starter: FakeStarter, presenter: StarterPresenter
) -> None:
    presenter.install()
    starter.steps.put_nowait(HALF)
    await until(lambda: can_see(pane, "Cancel"))
    await presenter.close()
    assert starter.was_closed
    assert can_see(pane, "Cancel")


async def test_a_second_click_does_not_start_a_second_installation(
    pane: StarterPane, starter: FakeStarter, presenter: StarterPresenter
) -> None:
    presenter.install()
    presenter.install()
    starter.steps.put_nowait(DONE)
    await until(lambda: "is ready" in shown(pane))
    assert len(starter.files) == 1


def test_the_bar_never_goes_back() -> None:
    shares = [
        bar_share(InstallProgress(stage, "", done, 100))
        for stage in InstallStage
        for done in (0, 50, 100)
    ]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize(
    ("progress", "words"),
    [
        (LOOKING, ""),
        (InstallProgress(InstallStage.DOWNLOADING, "", 5, 0), ""),
        (InstallProgress(InstallStage.DOWNLOADING, "", 0, 1000), "0 bytes of 1.00 kB"),
        (InstallProgress(InstallStage.DOWNLOADING, "", 0, 1000, 0.0), "0 bytes of 1.00 kB"),
        (
            InstallProgress(InstallStage.DOWNLOADING, "", 1000, 1000, 10.0),
            "1.00 kB of 1.00 kB · 10 bytes/s",
        ),
    ],
)
def test_numbers_are_shown_as_far_as_they_are_known(progress: InstallProgress, words: str) -> None:
    assert numbers_line(progress) == words
