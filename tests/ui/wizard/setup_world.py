"""The setup over a real engine with the fake worker, a recorded machine and made-up downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from dflash_desktop.cli.doctor import devices_of_report
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.starter import STARTER_PAIR_ID
from dflash_desktop.domain.transfer import (
    PlannedFile,
    RepoPlan,
    Transfer,
    TransferPlan,
    TransferRequest,
    TransferState,
)
from dflash_desktop.services.catalogue_store import load_catalogue_with_own, load_known_drivers
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.ui.wizard.pane import WizardPane
from dflash_desktop.ui.wizard.parts import SetupParts
from dflash_desktop.ui.wizard.presenter import WizardPresenter
from tests.machines import machine
from tests.ui.test_starter_page import FakeStarter
from tests.ui.transfers.transfer_values import FakeQueue

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from PySide6.QtCore import Qt

    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.setup import SetupStep
    from dflash_desktop.ui.theme import Theme
    from dflash_desktop.ui.wizard.getting import Transfers
    from tests.fakes.engine import EngineUnderTest

PIN = starter_resources().pin


class FakeProbe:
    """Answers with a recorded machine, or with a problem."""

    def __init__(self, name: str) -> None:
        self.answer: str | Problem = name
        self.looks = 0

    async def look(self) -> tuple[HardwareReport, DeviceReport]:
        self.looks += 1
        if isinstance(self.answer, Problem):
            raise AppError(self.answer)
        report = machine(self.answer)
        return report, devices_of_report(report)

    async def remembered(self) -> tuple[HardwareReport, DeviceReport] | None:
        return None


class FakeDownloads(FakeQueue):
    """Plans what it is told to, and downloads when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.refusal: Problem | None = None
        self.free_bytes = 100_000_000_000
        self.planned: tuple[str, ...] = ()

    async def plan(self, request: TransferRequest) -> TransferPlan:
        self.asked.append(("plan", request.id))
        self.planned = tuple(repo.repo_id for repo in request.repos)
        if self.refusal is not None:
            raise AppError(self.refusal)
        return plan_of(request, free_bytes=self.free_bytes)

    def add(self, request: TransferRequest) -> None:
        self.asked.append(("add", request.id))
        self.change(Transfer(request, TransferState.RUNNING, 1_000_000_000, 3_000_000_000))


def plan_of(request: TransferRequest, *, free_bytes: int) -> TransferPlan:
    repos = tuple(
        RepoPlan(repo.repo_id, "0" * 40, (PlannedFile("openvino_model.bin", 1_500_000_000),))
        for repo in request.repos
    )
    return TransferPlan(repos, 1_500_000_000 * len(repos), free_bytes)


class FakePairs:
    """Loads with the fake engine what the test calls loadable."""

    def __init__(self, under_test: EngineUnderTest) -> None:
        self.chosen: PairFolders | None = None
        self.loads: list[str] = []
        self.here: dict[str, PairFolders] = {}
        self.find: Callable[[str], PairFolders | None] = self.here.get
        self._listeners: list[Callable[[], None]] = []
        under_test.engine.subscribe(lambda _: self.refresh())

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def refresh(self) -> None:
        for listener in self._listeners:
            listener()

    def load(self, pair_id: str, with_draft: bool = True) -> None:
        self.loads.append(pair_id)
        self.chosen = self.find(pair_id)


class SetupWorld:
    """One setup page with everything around it."""

    def __init__(
        self, theme: Theme, folder: Path, under_test: EngineUnderTest, *, opens: bool = True
    ) -> None:
        self.under_test = under_test
        self.probe = FakeProbe("cpu_only")
        self.downloads = FakeDownloads()
        self.starter = FakeStarter()
        self.pairs = FakePairs(under_test)
        self.transfers: Transfers = self.downloads
        self.settings_file = folder / "settings.json"
        self.own_pairs_file = folder / "pairs.json"
        self.settings = SettingsStore(self.settings_file)
        self.problems: list[Problem] = []
        self.exported: list[ExportRequest] = []
        self.left: list[bool] = []
        self.loaded_bytes = 0
        self.whole: set[str] = set()  # repositories in the library
        self._theme = theme
        if opens:
            self.open_anew()

    async def reclaimable_bytes(self, report: HardwareReport) -> int:
        return self.loaded_bytes

    def open_anew(self) -> None:
        """The page as after a new start of the program, with the settings from the disk."""
        self.settings = SettingsStore(self.settings_file)
        self.pane = WizardPane(theme=self._theme, pin=PIN, report=lambda problem: problem.detail)
        self.pane.left.connect(lambda: self.left.append(True))
        self.presenter = WizardPresenter(
            pane=self.pane,
            parts=SetupParts(
                pin=PIN,
                probe=self.probe,
                load_catalogue=lambda: load_catalogue_with_own(self.own_pairs_file),
                load_known_drivers=load_known_drivers,
                starter=self.starter,
                transfers=self.transfers,
                find_loadable=lambda pair_id: self.pairs.find(pair_id),
                all_loadable=lambda: tuple(self.pairs.here.values()),
                is_whole=lambda repo_id: repo_id in self.whole,
                reclaimable_bytes=self.reclaimable_bytes,
                engine=self.under_test.engine,
                settings=self.settings,
            ),
            pairs=self.pairs,  # type: ignore[arg-type]  # only what the setup asks
            export=self.exported.append,
            on_problem=self.problems.append,
        )
        self.pane.resize(900, 700)
        self.pane.show()
        self.pane.activateWindow()
        QApplication.processEvents()
        self.presenter.open()

    def have_starter(self) -> PairFolders:
        """Make the starter pair loadable."""
        folder = self.settings_file.parent
        pair = PairFolders(STARTER_PAIR_ID, PIN.title, folder / "t", folder / "d")
        self.pairs.here[STARTER_PAIR_ID] = pair
        return pair

    def is_at(self, step: SetupStep) -> bool:
        """Whether this page is shown."""
        return self.pane.step is step

    def words(self) -> str:
        """All that can be read now."""
        QApplication.processEvents()
        labels = self.pane.findChildren(QLabel)
        return "\n".join(label.text() for label in labels if label.isVisible())

    def button(self, text: str) -> QPushButton:
        """The button with these words that is shown."""
        shown = [b for b in self.pane.findChildren(QPushButton) if b.isVisible()]
        return next(b for b in shown if text in b.text())

    def can_see(self, text: str) -> bool:
        """Whether a button with these words is shown."""
        return any(text in b.text() for b in self.pane.findChildren(QPushButton) if b.isVisible())

    def focused(self) -> QWidget:
        """What has the keyboard."""
        widget = self.pane.focusWidget()
        assert widget is not None
        return widget

    def press(self, key: Qt.Key) -> None:
        """Press a key where the keyboard is."""
        QApplication.processEvents()
        QTest.keyClick(self.focused(), key)
        QApplication.processEvents()
