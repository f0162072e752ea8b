"""The page of a pair over the real engine and the starter pair, without its locators at first."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from dflash_desktop.domain.check_numbers import TextVerdict
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.check_history import CheckHistory
from dflash_desktop.services.diagnostics import private_facts
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.fastest_way import fastest_way, measured_ways
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.pair_check import PairCheck
from dflash_desktop.services.pair_loading import PairLoading
from dflash_desktop.services.pair_repair import PairRepair
from dflash_desktop.services.repair import ModelRepair
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.way_measurement import WayMeasurement
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.ui.pair.pane import PairPane
from dflash_desktop.ui.pair.presenter import PairPagePresenter, PairServices
from tests.fakes.damaged_pairs import strip_locators
from tests.fakes.few_questions import ask_little
from tests.fakes.ir_models import ModelFiles
from tests.fakes.vision_models import vision_pair

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.ui.theme import Theme

pytestmark = [pytest.mark.openvino, pytest.mark.timeout(180)]


class _NoPairs:
    def __init__(self) -> None:
        self.loaded: list[str] = []

    def load_fastest(self, pair_id: str) -> None:
        self.loaded.append(pair_id)

    def follow(self, pair: PairFolders) -> None:
        """Nothing else is shown here."""

    def take_way_out(self, remedy: Remedy) -> bool:
        return False


@pytest.fixture(autouse=True)
def few_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the draft is accepted shows in two answers."""
    ask_little(monkeypatch, assistant_tokens=3)


@pytest.mark.starter
async def test_a_target_without_locators_is_repaired_by_a_button_and_its_draft_accepted(
    qtbot: QtBot, theme: Theme, tmp_path: Path, starter_pair: PairFolders
) -> None:
    target = tmp_path / "target"
    shutil.copytree(starter_pair.target_dir, target)
    strip_locators(ModelFiles(target))
    pair = PairFolders("starter-copy", "Starter", target, starter_pair.draft_dir)
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    history = CheckHistory(tmp_path / "checks.json")
    settings = SettingsStore(tmp_path / "settings.json")
    settings.change(device="CPU")
    pane = PairPane(theme=theme, report=lambda problem: problem.detail)
    qtbot.addWidget(pane)
    pane.show()
    presenter = PairPagePresenter(
        pane=pane,
        services=PairServices(
            checks=PairCheck(
                engine=engine,
                loading=PairLoading(engine=engine, compile_cache_dir=tmp_path / "cache"),
            ),
            repair=PairRepair(repair=ModelRepair(added_dir=tmp_path / "added")),
            history=history,
            measurements=MeasurementStore(tmp_path / "measurements.json"),
            settings=settings,
            private=private_facts,
        ),
        pairs=_NoPairs(),
    )
    try:
        presenter.show(pair)
        await _press(pane, "Repair")
        async with asyncio.timeout(150):
            while presenter.is_busy:  # noqa: ASYNC110  # what is waited for sets no event
                await asyncio.sleep(0.05)
        (check,) = history.of_pair(pair.id)
        assert check.verdict in {CheckVerdict.WORKING, CheckVerdict.SLOWER}
        assert (check.tokens_per_step or 0) > 1.2
        assert check.text is TextVerdict.IDENTICAL
        assert check.baseline_tokens_per_second
        QApplication.processEvents()
        shown = [x.text() for x in pane.findChildren(QLabel) if x.isVisible()]
        assert any(text.startswith("Nothing speaks against it.") for text in shown)
    finally:
        await presenter.close()
        await engine.stop()


async def test_a_draft_and_the_targets_own_head_are_measured_and_the_faster_one_loaded(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    dflash = replace(vision_pair(tmp_path, "qwen3_5"), title="DFlash")
    own_head = replace(dflash, id="own", title="Own head", draft_dir=dflash.target_dir)
    engine = Engine(launcher=WorkerLauncher(log_dir=tmp_path / "logs"))
    loading = PairLoading(engine=engine, compile_cache_dir=tmp_path / "cache")
    measurements = MeasurementStore(tmp_path / "measurements.json")
    settings = SettingsStore(tmp_path / "settings.json")
    settings.change(device="CPU")
    pairs = _NoPairs()
    pane = PairPane(theme=theme, report=lambda problem: problem.detail)
    qtbot.addWidget(pane)
    pane.show()
    presenter = PairPagePresenter(
        pane=pane,
        services=PairServices(
            checks=PairCheck(engine=engine, loading=loading),
            repair=PairRepair(repair=ModelRepair(added_dir=tmp_path / "added")),
            history=CheckHistory(tmp_path / "checks.json"),
            measurements=measurements,
            settings=settings,
            private=private_facts,
            ways=WayMeasurement(engine=engine, loading=loading, measurements=measurements),
            pairs=lambda: (dflash, own_head),
        ),
        pairs=pairs,
    )
    try:
        presenter.show(dflash)
        await _press(pane, "Measure both")
        async with asyncio.timeout(150):
            while not pairs.loaded:  # noqa: ASYNC110  # what is waited for sets no event
                await asyncio.sleep(0.05)
        compared = measured_ways((dflash, own_head), measurements)
        assert compared is not None
        assert [report.pair_title for report in compared.reports] == ["DFlash", "Own head"]
        for report in compared.reports:
            runs = [run for result in report.prompts for run in result.runs]
            assert max(run.tokens_per_step or 0 for run in runs) > 1, "some were accepted"
        QApplication.processEvents()
        shown = [x.text() for x in pane.findChildren(QLabel) if x.isVisible()]
        assert any(text.startswith(compared.statement) for text in shown)
        assert pairs.loaded == [dflash.id]
        fastest = fastest_way(dflash, (dflash, own_head), measurements).pair
        assert fastest.title == compared.fastest.pair_title
    finally:
        await presenter.close()
        await engine.stop()


async def _press(pane: PairPane, text: str) -> None:
    async with asyncio.timeout(20):
        while True:
            found = [b for b in pane.findChildren(QPushButton) if b.text() == text]
            if found and found[0].isVisible() and found[0].isEnabled():
                found[0].click()
                return
            await asyncio.sleep(0.02)
