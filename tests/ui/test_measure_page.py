from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton

from dflash_desktop.domain.engine_state import Loaded, Ready
from dflash_desktop.domain.generation import DraftState, DraftUse
from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.services.benchmark import BenchProgress
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.ui.measure.pane import MeasurePane
from dflash_desktop.ui.measure.presenter import MeasurePresenter
from dflash_desktop.ui.measure.report_table import COLUMNS, ReportModel, setting_rows
from dflash_desktop.ui.measure.words import conditions, identical_line, verdict_line
from dflash_desktop.ui.widgets.switch import Switch
from tests.fakes.engine import until
from tests.ui.shell_values import LOADED, PAIR, PROBLEM, bench_report

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.engine_state import EngineState
    from dflash_desktop.domain.pair import LoadedPair, PairFolders
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.theme import Theme


class FakeEngine:
    def __init__(self) -> None:
        self.state: EngineState = Loaded(LOADED)


class FakeBenchmark:
    """Hands out what the test puts in."""

    def __init__(self) -> None:
        self.events: asyncio.Queue[BenchProgress | BenchReport | Problem] = asyncio.Queue()
        self.asked: list[bool] = []
        self.was_closed = False

    async def run(
        self, pair: LoadedPair, folders: PairFolders, *, fast: bool
    ) -> AsyncGenerator[BenchProgress | BenchReport]:
        self.asked.append(fast)
        try:
            while True:
                event = await self.events.get()
                if not isinstance(event, BenchProgress) and not hasattr(event, "prompts"):
                    raise AppError(PROBLEM)
                yield event  # type: ignore[misc]  # a report, as the line above found out
                if not isinstance(event, BenchProgress):
                    return
        finally:
            self.was_closed = True


class FakePairs:
    def __init__(self, engine: FakeEngine, measurements: MeasurementStore) -> None:
        self.chosen = PAIR
        self._engine = engine
        self._measurements = measurements
        self.ways_out: list[Remedy] = []
        self.others: list[str] = []

    def subscribe(self, listener: Callable[[], None]) -> None:
        self._measurements.subscribe(lambda _: listener())

    def other_ways(self) -> list[str]:
        return self.others

    def measured(self) -> BenchReport | None:
        return self._measurements.get(bench_report().key)


class Setup:
    def __init__(self, theme: Theme, folder: Path) -> None:
        self.engine = FakeEngine()
        self.benchmark = FakeBenchmark()
        self.measurements = MeasurementStore(folder / "measurements.json")
        self.pairs = FakePairs(self.engine, self.measurements)
        self.plan = DraftUse(DraftState.ON, "", 3)
        self.switched: list[bool] = []
        self.pane = MeasurePane(theme=theme, report=lambda problem: problem.detail)
        self.presenter = MeasurePresenter(
            pane=self.pane,
            engine=self.engine,  # type: ignore[arg-type]  # only its state is asked
            benchmark=self.benchmark,  # type: ignore[arg-type]  # stands in for minutes of work
            measurements=self.measurements,
            pairs=self.pairs,  # type: ignore[arg-type]  # only what the page asks
            plan=lambda: self.plan,
            set_draft_enabled=self.switched.append,
            on_remedy=self.pairs.ways_out.append,
        )

    @property
    def shown(self) -> str:
        labels = self.pane.findChildren(QLabel)
        return "\n".join(label.text() for label in labels if label.isVisible())

    def click(self, text: str) -> None:
        buttons = self.pane.findChildren(QPushButton)
        next(b for b in buttons if b.text() == text and b.isVisible()).click()


@pytest_asyncio.fixture
async def setup(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Setup]:
    setup = Setup(theme, tmp_path)
    qtbot.addWidget(setup.pane)
    setup.pane.resize(900, 900)
    setup.pane.show()
    yield setup
    await setup.presenter.close()


async def test_without_a_model_or_without_a_draft_it_says_what_to_do(setup: Setup) -> None:
    setup.engine.state = Ready("r")
    setup.presenter.refresh()
    assert "Load a model first" in setup.shown
    setup.engine.state = Loaded(replace(LOADED, draft=None))
    setup.presenter.refresh()
    assert "without a draft" in setup.shown


async def test_another_draft_of_the_target_is_named_with_the_way_to_a_comparison(
    setup: Setup,
) -> None:
    assert "also drafts" not in setup.shown
    setup.pairs.others = ["Own head"]
    setup.presenter.refresh()
    assert "This also drafts for the same target: “Own head”." in setup.shown
    asked: list[bool] = []
    setup.pane.ways_requested.connect(lambda: asked.append(True))
    setup.click("Compare them")
    assert asked == [True]


async def test_no_number_is_shown_before_it_was_measured(setup: Setup) -> None:
    assert "has not been measured" in setup.shown
    assert not re.search(r"\dx", setup.shown)
    setup.measurements.put(bench_report())
    assert re.search(r"\dx", setup.shown)


async def test_a_measurement_is_followed_stored_and_shown(setup: Setup) -> None:
    setup.click("Measure fast")
    setup.benchmark.events.put_nowait(BenchProgress("Code, 3 tokens", 20, 40))
    await until(lambda: "Code, 3 tokens" in setup.shown)
    assert "20 of 40 answers" in setup.shown
    assert " left" in setup.shown
    setup.benchmark.events.put_nowait(bench_report())
    await until(lambda: "1.25x" in setup.shown)
    assert setup.benchmark.asked == [True]
    assert setup.measurements.get(bench_report().key) == bench_report()
    assert "The reason." in setup.shown
    assert "The chat uses the draft with 3 assistant tokens." in setup.shown


async def test_the_full_measurement_can_be_chosen(setup: Setup) -> None:
    setup.click("Measure in full")
    await until(lambda: setup.benchmark.asked == [False])


async def test_cancel_keeps_what_was_known_before(setup: Setup) -> None:
    setup.measurements.put(bench_report())
    setup.click("Measure again, fast")
    setup.benchmark.events.put_nowait(BenchProgress("Warming up", 0, 1))
    await until(lambda: "Warming up" in setup.shown)
    setup.click("Cancel")
    await until(lambda: "1.25x" in setup.shown)
    assert setup.benchmark.was_closed


async def test_a_failed_measurement_says_why_and_can_be_tried_again(setup: Setup) -> None:
    setup.click("Measure fast")
    setup.benchmark.events.put_nowait(PROBLEM)
    await until(lambda: PROBLEM.headline in setup.shown)
    setup.click("Try again")
    await until(lambda: setup.benchmark.asked == [True, True])


async def test_what_this_page_cannot_do_is_passed_on(setup: Setup) -> None:
    setup.pane.show_problem(replace(PROBLEM, remedies=(Remedy.OPEN_LOG,)))
    setup.click(Remedy.OPEN_LOG.label)
    assert setup.pairs.ways_out == [Remedy.OPEN_LOG]


async def test_the_switch_turns_the_draft_off_and_on(setup: Setup) -> None:
    setup.measurements.put(bench_report())
    switch = setup.pane.findChild(Switch)
    assert isinstance(switch, Switch)
    assert switch.isChecked()
    setup.plan = DraftUse(DraftState.OFF, "You switched the draft off.")
    switch.click()
    await until(lambda: "You switched the draft off." in setup.shown)
    assert setup.switched == [False]
    assert not switch.isChecked()


async def test_a_reason_is_not_said_twice(setup: Setup) -> None:
    setup.measurements.put(bench_report(chosen_tokens=0, speedup=None))
    setup.plan = DraftUse(DraftState.OFF, "The reason.")
    setup.presenter.refresh()
    assert setup.shown.count("The reason.") == 1
    assert "Draft off" in setup.shown


async def test_copy_and_export_give_the_documented_form(setup: Setup, tmp_path: Path) -> None:
    setup.measurements.put(bench_report())
    setup.click("Copy")
    copied = json.loads(QGuiApplication.clipboard().text())
    assert copied["chosen"] == {"assistant_tokens": 3, "speedup": 1.25, "reason": "The reason."}
    assert copied["prompts"][0]["runs"][1]["first_difference"]["is_numeric_tie"] is True
    file = tmp_path / "out" / "m.json"
    setup.pane.export_requested.emit(str(file))
    await until(file.exists)
    assert json.loads(file.read_text("utf-8")) == copied


async def test_an_export_that_the_disk_refuses_is_told(setup: Setup, tmp_path: Path) -> None:
    setup.measurements.put(bench_report())
    (tmp_path / "file").write_text("", encoding="utf-8")
    setup.pane.export_requested.emit(str(tmp_path / "file" / "m.json"))
    await until(lambda: "could not be saved" in setup.shown)


def test_the_table_has_a_line_for_each_prompt_and_setting(qtbot: QtBot) -> None:
    model = ReportModel()
    model.show_report(bench_report())
    assert (model.rowCount(), model.columnCount()) == (4, len(COLUMNS))
    rows = [[model.index(r, c).data() for c in range(len(COLUMNS))] for r in range(4)]
    assert rows[0] == ["Code", "2", "50.0", "55.0", "1.10x", "2.50", "identical"]
    assert rows[1][0] == ""
    assert rows[1][-1] == "numeric tie at token 38: “bright and” or “clear”"
    assert rows[3][-1] == "differs at token 5: “one” or “two”"
    tip = model.index(3, len(COLUMNS) - 1).data(Qt.ItemDataRole.ToolTipRole)
    assert "2.5 nats apart" in tip
    assert model.data(model.index(9, 9)) is None


def test_each_setting_is_summed_up() -> None:
    two, three = setting_rows(bench_report())
    assert two.speedup == pytest.approx(1.05, abs=0.01)
    assert (two.identical, two.prompts) == (2, 2)
    assert (three.identical, three.prompts) == (0, 2)


def test_words_about_equality_tell_ties_from_wrong_tokens() -> None:
    assert identical_line(bench_report()) == (
        "2 of 4 texts were identical with and without the draft. "
        "1 of the others part at a numeric tie."
    )


def test_the_verdict_names_what_it_compares_with() -> None:
    assert verdict_line(bench_report()) == (
        "with 3 assistant tokens, against 50.0 tok/s without a draft"
    )
    off = bench_report(chosen_tokens=0, speedup=None)
    assert verdict_line(off) == "The target alone is faster here: 50.0 tok/s without a draft."


def test_conditions_name_everything_that_decides_the_numbers() -> None:
    facts = dict(conditions(bench_report()))
    assert facts["Device"] == LOADED.device_name
    assert facts["Driver"] == LOADED.driver
    assert facts["Runtime"] == LOADED.runtime
    assert facts["KV cache"] == "f16"
    assert facts["Power"].startswith("battery")
    assert facts["Kind"] == "Fast: 2 prompts, 2, 3 assistant tokens"
