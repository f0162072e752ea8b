"""The page of a pair: what it shows, and what it does with real folders and a made-up engine."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QPushButton

from dflash_desktop.domain.benchmark import ChosenSetting
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.draft_rivals import WaysCompared
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.check_history import CheckHistory
from dflash_desktop.services.diagnostics import PrivateFacts
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.pair_check import PairCheck
from dflash_desktop.services.pair_loading import PairLoading
from dflash_desktop.services.pair_repair import PairRepair
from dflash_desktop.services.repair import ModelRepair, can_undo
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.pair.acceptance_bars import AcceptanceBars
from dflash_desktop.ui.pair.contract_view import FindingCard
from dflash_desktop.ui.pair.pane import PairPane
from dflash_desktop.ui.pair.presenter import PairPagePresenter, PairServices
from tests.domain.measurements import report
from tests.fakes.bench_worker import BenchLauncher, Speeds
from tests.fakes.damaged_pairs import strip_locators
from tests.fakes.engine import until
from tests.fakes.ir_models import write_draft, write_target
from tests.ui.pair_values import BLOCKED, GOOD, NO_PLAN, PLAN, TIE, USELESS, WORKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.ui.theme import Theme


class FakePairs:
    def __init__(self) -> None:
        self.followed: list[str] = []
        self.ways_out: list[Remedy] = []

    def follow(self, pair: PairFolders) -> None:
        self.followed.append(pair.id)

    def load_fastest(self, pair_id: str) -> None:
        self.followed.append(pair_id)

    def take_way_out(self, remedy: Remedy) -> bool:
        self.ways_out.append(remedy)
        return True


def words(pane: PairPane) -> str:
    QApplication.processEvents()  # which shows what was added
    return "\n".join(x.text() for x in pane.findChildren(QLabel) if x.isVisible())


def button(pane: PairPane, text: str) -> QPushButton:
    found = [b for b in pane.findChildren(QPushButton) if b.text() == text]
    return next((b for b in found if b.isVisible()), found[0])


def shows(pane: PairPane, text: str) -> bool:
    return any(b.text() == text and b.isVisible() for b in pane.findChildren(QPushButton))


@pytest.fixture
def pane(qtbot: QtBot, theme: Theme) -> PairPane:
    pane = PairPane(theme=theme, report=lambda problem: problem.detail)
    qtbot.addWidget(pane)
    pane.resize(900, 1200)
    pane.show()
    return pane


def test_what_passed_is_folded_with_its_count_and_what_fails_is_open(pane: PairPane) -> None:
    pane.show_pair("A pair")
    pane.show_contract(BLOCKED)
    shown = words(pane)
    for part in ("This cannot work.", "12800", "20480", "openvino_model.xml", "Choose the draft"):
        assert part in shown
    assert "all files are there" not in shown
    button(pane, "4 checks passed").click()
    assert "Target: all files are there" in words(pane)


def test_a_finding_tells_a_screen_reader_what_it_is(pane: PairPane) -> None:
    pane.show_contract(BLOCKED)
    names = [card.accessibleName() for card in pane.findChildren(FindingCard)]
    assert names[0] == "Fails · Pair: 12800"


def test_a_check_is_told_in_words_and_numbers_with_its_causes_in_order(pane: PairPane) -> None:
    pane.show_checks((USELESS,))
    shown = words(pane)
    first, second = shown.index("1. Tokens are accepted"), shown.index("2. A draft that was")
    assert first < second
    for part in ("attached but useless", "1.12", "20.1 tok/s", "17.2 tok/s", "0.860x"):
        assert part in shown
    (bars,) = pane.findChildren(AcceptanceBars)
    assert bars.accessibleName().startswith("Accepted by position: 1: 12%, 2: 0%")


def test_where_texts_part_both_are_shown_and_called_a_tie(pane: PairPane) -> None:
    pane.show_checks((TIE,))
    for part in ("token 38", "“bright and clear, and the”", "“bright, and”", "Numeric tie"):
        assert part in words(pane)


def test_earlier_checks_are_listed_below(pane: PairPane) -> None:
    pane.show_checks((WORKING,))
    assert "Checks of this pair" not in words(pane)
    pane.show_checks((WORKING, USELESS))
    assert "Checks of this pair" in words(pane)
    assert {"Working", "Useless"} <= set(words(pane).splitlines())


def test_nothing_offers_a_repair_where_there_is_none(pane: PairPane) -> None:
    pane.show_contract(GOOD)
    pane.show_plan(NO_PLAN, can_undo=False, is_in_vain=False)
    assert not shows(pane, "Repair")
    pane.show_plan(PLAN, can_undo=False, is_in_vain=False)
    assert shows(pane, "Repair")
    assert "where the hidden states of 36 layers are" in words(pane)
    assert not shows(pane, "Undo the repair")


def test_a_repair_in_vain_offers_the_way_back(pane: PairPane) -> None:
    pane.show_plan(NO_PLAN, can_undo=True, is_in_vain=True)
    assert shows(pane, "Undo the repair")
    assert "not accepted after the repair" in words(pane)


def test_other_ways_to_draft_are_named_and_compared_where_that_was_measured(
    pane: PairPane,
) -> None:
    pane.show_ways(["DFlash"], None)
    assert not pane.ways.isVisible()
    titles = ["DFlash", "Own head"]
    pane.show_ways(titles, None)
    assert "“DFlash”, “Own head”. Nobody has measured yet" in words(pane)
    assert shows(pane, "Measure both")
    reports = tuple(
        replace(report(chosen=ChosenSetting(tokens, speedup, "because")), pair_title=title)
        for title, tokens, speedup in zip(titles, (0, 3), (None, 2.0), strict=True)
    )
    pane.show_ways(titles, WaysCompared(reports))
    shown = words(pane)
    for part in ("“Own head” is faster here (2.00x)", "does not pay", "Own head · fastest"):
        assert part in shown
    assert shows(pane, "Measure both again")
    pane.show_progress("Warming up", "", 0.1)
    assert not button(pane, "Measure both again").isEnabled()


def test_while_something_runs_the_buttons_say_so(pane: PairPane) -> None:
    pane.show_plan(PLAN, can_undo=True, is_in_vain=False)
    pane.show_progress("Warming up", "", 0.1)
    for text in ("Check", "Repair", "Undo the repair"):
        assert not button(pane, text).isEnabled()
        assert button(pane, text).toolTip()
    pane.show_idle()
    assert button(pane, "Check").isEnabled()


class World:
    def __init__(self, theme: Theme, folder: Path, speeds: Speeds) -> None:
        self.folder = folder
        self.target = write_target(folder / "target")
        self.draft = write_draft(folder / "draft")
        self.pair = PairFolders("mine", "Ada's pair", self.target.folder, self.draft.folder)
        self.engine = Engine(launcher=BenchLauncher(speeds=speeds, log_dir=folder))
        loading = PairLoading(engine=self.engine, compile_cache_dir=folder / "cache")
        self.history = CheckHistory(folder / "checks.json")
        self.measurements = MeasurementStore(folder / "measurements.json")
        self.pairs = FakePairs()
        self.drafts: tuple[Path, ...] = ()
        self.pane = PairPane(theme=theme, report=lambda problem: problem.detail)
        self.presenter = PairPagePresenter(
            pane=self.pane,
            services=PairServices(
                checks=PairCheck(engine=self.engine, loading=loading),
                repair=PairRepair(repair=ModelRepair(added_dir=folder / "added")),
                history=self.history,
                measurements=self.measurements,
                settings=SettingsStore(folder / "settings.json"),
                private=lambda: PrivateFacts(folder, "ada", "adas-laptop"),
                drafts=lambda: self.drafts,
            ),
            pairs=self.pairs,
        )

    async def show(self) -> None:
        self.presenter.show(self.pair)
        await until(lambda: shows(self.pane, "Copy report"))

    async def press(self, text: str) -> None:
        button(self.pane, text).click()
        assert self.presenter.is_busy
        await until(lambda: not self.presenter.is_busy)


@pytest_asyncio.fixture
async def world(
    qtbot: QtBot, theme: Theme, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[World]:
    world = World(theme, tmp_path, getattr(request, "param", Speeds()))
    qtbot.addWidget(world.pane)
    world.pane.resize(900, 1200)
    world.pane.show()
    yield world
    await world.presenter.close()
    await world.engine.stop()


async def test_the_files_are_judged_without_loading_anything(world: World) -> None:
    await world.show()
    assert "Nothing speaks against it." in words(world.pane)
    assert world.pairs.followed == []
    assert world.history.of_pair("mine") == ()


async def test_precisions_of_one_draft_are_compared_and_the_pair_s_own_stays_loaded(
    world: World,
) -> None:
    other = write_draft(world.folder / "finer")
    weights = other.folder / "openvino_model.bin"
    weights.write_bytes(weights.read_bytes() + b"more")
    world.drafts = (world.draft.folder, other.folder, world.folder / "gone")
    await world.show()
    await until(lambda: shows(world.pane, "Compare 2 precisions"))

    await world.press("Compare 2 precisions")

    shown = words(world.pane)
    assert "Is it the precision or the draft?" in shown
    assert "All are accepted alike" in shown
    assert {"draft", "finer"} <= set(shown.splitlines())
    assert world.pairs.followed[-1] == "mine"
    assert len(world.pairs.followed) == 2
    assert len(world.history.of_pair("mine")) == 1

    world.drafts = ()
    await world.show()
    assert "Is it the precision or the draft?" not in words(world.pane)
    assert not shows(world.pane, "Compare 2 precisions")


async def test_a_check_is_shown_kept_and_there_again_the_next_time(world: World) -> None:
    await world.show()
    await world.press("Check")
    assert "The draft works." in words(world.pane)
    assert world.pairs.followed == ["mine"]
    (kept,) = world.history.of_pair("mine")
    assert kept.verdict is CheckVerdict.WORKING
    assert kept.baseline_tokens_per_second
    assert kept.tokens_per_second
    ratio = kept.tokens_per_second / kept.baseline_tokens_per_second
    assert kept.speedup == pytest.approx(ratio)
    assert shows(world.pane, "Check again")
    await world.show()
    await until(lambda: "The draft works." in words(world.pane))


async def test_a_check_does_not_replace_a_measurement_that_was_made_in_full(world: World) -> None:
    await world.show()
    await world.press("Check")
    (first,) = world.measurements.of_pair(next(iter(world.measurements._reports)).fingerprint)
    await world.press("Check again")
    assert world.measurements.get(first.key) == first
    assert len(world.history.of_pair("mine")) == 2


@pytest.mark.parametrize("world", [Speeds(differs_from=20, gap_nats=0.5)], indirect=True)
async def test_a_wrong_text_is_told_with_both_continuations(world: World) -> None:
    await world.show()
    await world.press("Check")
    shown = words(world.pane)
    for part in ("not the target's own", "First difference at token 21", "t20 t21", "t1020"):
        assert part in shown
    assert "Wrong token: " in shown
    assert "nats apart" in shown


async def test_a_cancelled_check_leaves_no_trace_but_the_buttons(world: World) -> None:
    await world.show()
    button(world.pane, "Check").click()
    await until(lambda: world.presenter.is_busy and shows(world.pane, "Cancel"))
    button(world.pane, "Cancel").click()
    await until(lambda: not world.presenter.is_busy)
    assert world.history.of_pair("mine") == ()
    assert button(world.pane, "Check").isEnabled()
    assert not shows(world.pane, "Cancel")


async def test_a_blocked_pair_is_checked_by_its_files_alone(world: World) -> None:
    world.draft.edit("dflash_mode", "other")
    await world.show()
    await world.press("Check")
    assert "The draft cannot run with this target." in words(world.pane)


async def test_repair_mends_checks_and_can_be_taken_back(world: World) -> None:
    strip_locators(world.target)
    graph = world.target.folder / "openvino_model.xml"
    weights = world.target.folder / "openvino_model.bin"
    before, weights_before = graph.read_bytes(), hashlib.sha256(weights.read_bytes()).digest()
    await world.show()
    await until(lambda: shows(world.pane, "Repair"))
    assert "Doubtful · Target" in words(world.pane)
    await world.press("Repair")
    assert graph.read_bytes() != before
    assert hashlib.sha256(weights.read_bytes()).digest() == weights_before
    assert "The draft works." in words(world.pane)
    assert "Nothing speaks against it." in words(world.pane)
    await world.press("Undo the repair")
    assert graph.read_bytes() == before
    assert not can_undo(world.target.folder)
    assert shows(world.pane, "Repair")


@pytest.mark.parametrize("world", [Speeds(tokens_per_step=1.0)], indirect=True)
async def test_after_a_repair_in_vain_undo_is_what_is_offered(world: World) -> None:
    strip_locators(world.target)
    await world.show()
    await until(lambda: shows(world.pane, "Repair"))
    await world.press("Repair")
    assert "attached but useless" in words(world.pane)
    assert "not accepted after the repair" in words(world.pane)
    assert shows(world.pane, "Undo the repair")


async def test_the_report_can_be_copied_and_saved_without_private_data(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    strip_locators(world.target)
    await world.show()
    await world.press("Check")
    button(world.pane, "Copy report").click()
    report = QGuiApplication.clipboard().text()
    assert "locators" in report
    assert "## Measured check" in report
    assert "ada" not in report.lower().replace("adas", "")
    assert str(world.folder) not in report
    file = world.folder / "report.md"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    button(world.pane, "Save report…").click()
    await until(file.exists)
    assert file.read_text(encoding="utf-8") == report


async def test_a_folder_that_is_gone_is_said_in_words(world: World) -> None:
    world.pair = PairFolders("gone", "Gone", world.folder / "nowhere", world.draft.folder)
    world.presenter.show(world.pair)
    await until(lambda: "cannot be read" in words(world.pane))
