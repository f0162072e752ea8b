"""The export page and its presenter over exports that only note what is asked."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_asyncio
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QLineEdit,
    QPushButton,
)

from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)
from dflash_desktop.domain.export_run import ExportResult, ExportState
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.export.pane import ExportPane
from dflash_desktop.ui.export.presenter import ExportPresenter
from dflash_desktop.ui.export.results_presenter import ExportResults
from dflash_desktop.ui.export.status import ExportStatus
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.sidebar import Sidebar
from dflash_desktop.ui.status_line import StatusLine
from tests.fakes.engine import until
from tests.ui.export.export_values import (
    CANNOT,
    DONE,
    FAILED,
    PAUSED,
    PLAN,
    REQUEST,
    RESULT,
    RUNNING,
    SMALLER,
    TIGHT,
    WARNED,
    FakeExports,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from PySide6.QtWidgets import QWidget
    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.export_plan import ExportPlan
    from dflash_desktop.ui.theme import Theme

NO_REPO = Problem(
    "hub_no_such_repo",
    "The hub has no such repository.",
    "Look whether the name is right.",
    remedies=(Remedy.RETRY, Remedy.ENTER_TOKEN),
)


class FakePlanning:
    """Answers with the plan that it was given, or refuses."""

    def __init__(self) -> None:
        self.asked: list[ExportRequest] = []
        self.plan_made: ExportPlan = PLAN
        self.refusal: Problem | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def plan(self, request: ExportRequest) -> ExportPlan:
        self.asked.append(request)
        await self.gate.wait()
        if self.refusal is not None:
            raise AppError(self.refusal)
        return replace(self.plan_made, request=request)


class FakeShelf:
    def __init__(self) -> None:
        self.added: list[tuple[str, Path, Path | None]] = []

    async def add(self, title: str, target_dir: Path, draft_dir: Path | None) -> PairFolders:
        self.added.append((title, target_dir, draft_dir))
        return PairFolders("new", title, target_dir, draft_dir)


class Setup:
    def __init__(self, theme: Theme, settings: SettingsStore) -> None:
        self.settings = settings
        self.planning = FakePlanning()
        self.exports = FakeExports()
        self.shelf = FakeShelf()
        self.led: list[tuple[object, ...]] = []
        self.pane = ExportPane(theme=theme, report=lambda problem: problem.detail, cores=4)
        self.presenter = ExportPresenter(
            pane=self.pane,
            planning=self.planning,
            exports=self.exports,
            settings=settings,
            load_pairs=lambda: (REQUEST,),
            role_of=lambda path: ExportRole.DRAFT if "draft" in path.name else ExportRole.TARGET,
            get_pair=lambda pair_id: self.led.append(("get", pair_id)),
            open_file=lambda path: self.led.append(("open", path)),
            on_remedy=lambda remedy, repos: self.led.append((remedy, *repos)),
        )
        self.results = ExportResults(
            pane=self.pane,
            runs=self.exports.runs,
            shelf=self.shelf,
            chat=lambda pair_id: self.led.append(("chat", pair_id)),
            look_at=lambda title, target, draft: self.led.append(("pair", title, target, draft)),
            show_model=lambda model_id: self.led.append(("model", model_id)),
            open_path=lambda path: self.led.append(("path", path)),
        )

    def button(self, words: str, within: QWidget | None = None) -> QPushButton:
        QApplication.processEvents()
        buttons = (within or self.pane).findChildren(QPushButton)
        shown = [b for b in buttons if b.text() == words and b.isVisible()]
        assert shown, [b.text() for b in buttons if b.isVisible()]
        return shown[0]

    def has_button(self, words: str) -> bool:
        buttons = self.pane.findChildren(QPushButton)
        return any(b.text() == words and b.isVisible() for b in buttons)

    def says(self, words: str) -> bool:
        labels = self.pane.findChildren(QLabel)
        return any(words in label.text() for label in labels if label.isVisible())

    def field(self, name: str) -> QLineEdit:
        return next(f for f in self.pane.findChildren(QLineEdit) if f.accessibleName() == name)

    def box(self, name: str) -> QComboBox:
        return next(b for b in self.pane.findChildren(QComboBox) if b.accessibleName() == name)

    async def shows_plan(self) -> None:
        await until(lambda: self.pane.is_at_plan)


@pytest_asyncio.fixture
async def setup(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Setup]:
    setup = Setup(theme, SettingsStore(tmp_path / "settings.json"))
    qtbot.addWidget(setup.pane)
    setup.pane.resize(900, 1400)
    setup.pane.show()
    await until(lambda: setup.box("Pair").count() == 2)
    yield setup
    await setup.presenter.close()
    await setup.results.close()


async def test_names_and_choices_become_a_wish_whose_plan_is_shown(setup: Setup) -> None:
    assert not setup.button("See what it takes").isEnabled()
    setup.field("Model").setText("Qwen/Qwen3-8B")
    setup.field("Draft").setText("/models/draft.gguf")
    box = setup.box("Draft: weights")
    box.setCurrentIndex(box.findData(WeightFormat.INT8.value))
    setup.button("More").click()
    group = setup.box("Group size of the model")
    group.setCurrentIndex(group.findData(32))
    assert not setup.box("Group size of the draft").isEnabled()  # int8 has none
    cores = setup.box("Processor cores")
    cores.setCurrentIndex(cores.findData(2))
    setup.button("See what it takes").click()
    await setup.shows_plan()
    hub = ExportSource(SourceKind.HUB, repo_id="Qwen/Qwen3-8B")
    gguf = ExportSource(SourceKind.GGUF, path=Path("/models/draft.gguf"))
    assert setup.planning.asked == [
        ExportRequest(
            "Qwen3-8B int4 with draft int8",
            (
                ExportItem(ExportRole.TARGET, hub, WeightFormat.INT4, 32),
                ExportItem(ExportRole.DRAFT, gguf, WeightFormat.INT8),
            ),
            threads=2,
        )
    ]


async def test_what_an_export_may_take_is_a_setting(setup: Setup) -> None:
    setup.button("More").click()
    limit = setup.pane.findChild(QDoubleSpinBox)
    assert limit is not None
    assert limit.text() == "Nine tenths of it"
    limit.setValue(12.5)
    await until(lambda: setup.settings.value.export_memory_limit_bytes == 12_500_000_000)
    limit.setValue(0)
    await until(lambda: setup.settings.value.export_memory_limit_bytes is None)


async def test_a_pair_of_the_catalogue_fills_the_fields(setup: Setup) -> None:
    box = setup.box("Pair")
    box.setCurrentIndex(1)
    box.activated.emit(1)
    assert setup.field("Model").text() == "Qwen/Qwen3-8B"
    assert setup.field("Draft").text() == "z-lab/Qwen3-8B-DFlash-b16"
    setup.button("See what it takes").click()
    await setup.shows_plan()
    assert setup.planning.asked == [REQUEST]


async def test_a_name_that_cannot_be_is_told_at_its_field_and_nothing_is_asked(
    setup: Setup,
) -> None:
    setup.field("Model").setText("Qwen3")
    setup.button("See what it takes").click()
    assert setup.says("Write the name as owner/name")
    assert not setup.planning.asked


async def test_a_plan_can_be_given_up_while_it_is_made(setup: Setup) -> None:
    setup.planning.gate.clear()
    setup.presenter.show_request(REQUEST)
    await until(lambda: bool(setup.planning.asked))
    assert not setup.button("Working it out…").isEnabled()
    setup.button("Cancel").click()
    setup.planning.gate.set()
    await asyncio.sleep(0)
    assert setup.button("See what it takes").isEnabled()
    assert not setup.pane.is_at_plan


async def test_why_there_is_no_plan_is_said_with_ways_out(setup: Setup) -> None:
    setup.planning.refusal = NO_REPO
    setup.presenter.show_request(REQUEST)
    await until(lambda: setup.says(NO_REPO.headline))
    setup.button(Remedy.ENTER_TOKEN.label).click()
    assert setup.led == [(Remedy.ENTER_TOKEN, "Qwen/Qwen3-8B", "z-lab/Qwen3-8B-DFlash-b16")]
    setup.planning.refusal = None
    setup.button(Remedy.RETRY.label).click()
    await setup.shows_plan()


async def test_dropped_folders_and_files_go_where_they_belong(setup: Setup) -> None:
    setup.pane.dropped.emit(("/models/qwen3", "/models/draft.gguf"))
    await until(lambda: bool(setup.field("Draft").text()))
    assert setup.field("Model").text() == str(Path("/models/qwen3"))
    assert setup.field("Draft").text() == str(Path("/models/draft.gguf"))
    setup.pane.dropped.emit(("/a", "/b"))
    await until(lambda: setup.says("more files than an export takes"))


async def test_a_plan_says_what_is_run_fetched_and_taken(setup: Setup) -> None:
    setup.presenter.show_request(REQUEST)
    await setup.shows_plan()
    for words in (
        "This machine can do it",
        "It takes about 21.3 GB at its peak",
        "16.4 GB from the hub",
        "Apache-2.0",
        "on this disk already",
        "24.3 GB while it runs",
        "stay, the export tools among them",
        "Convert Qwen3-8B to int4",
    ):
        assert setup.says(words), words
    assert not setup.says("2.5 bytes x 8.19 billion")
    setup.button("How this was worked out").click()
    assert setup.says("2.5 bytes x 8.19 billion")
    setup.button("Commands").click()
    setup.button("Copy").click()
    copied = QGuiApplication.clipboard().text().splitlines()
    assert len(copied) == 2
    assert copied[0].endswith("--group-size 128 'Qwen3 8B int4'")


async def test_the_start_leads_to_the_run(setup: Setup) -> None:
    setup.presenter.show_request(REQUEST)
    await setup.shows_plan()
    setup.button("Fetch 16.4 GB and export").click()
    await until(lambda: setup.pane.shown_run_id == "started")
    assert setup.exports.asked == [("start", REQUEST)]


async def test_what_cannot_work_has_ways_out_instead_of_a_start(setup: Setup) -> None:
    setup.planning.plan_made = CANNOT
    setup.presenter.show_request(REQUEST)
    await setup.shows_plan()
    assert setup.says("This machine cannot do it now")
    assert not setup.has_button("Fetch 16.4 GB and export")
    setup.button("Copy the commands").click()
    assert "optimum-cli" in QGuiApplication.clipboard().text()
    setup.button("Get it").click()
    assert setup.led == [("get", "Qwen3-8B-Base-int4+Qwen3-8B-DFlash-int4")]
    setup.button("See what that takes").click()
    renamed = replace(SMALLER, title="Qwen3-8B int8")
    await until(lambda: setup.planning.asked[-1] == renamed)
    await setup.shows_plan()


async def test_a_tight_plan_can_be_looked_at_again(setup: Setup) -> None:
    setup.planning.plan_made = TIGHT
    setup.presenter.show_request(REQUEST)
    await setup.shows_plan()
    assert setup.says("It is tight")
    assert setup.says("Swap is in use already")
    setup.planning.plan_made = PLAN
    setup.button("Look again").click()
    await until(lambda: setup.says("This machine can do it"))
    assert setup.planning.asked == [REQUEST, REQUEST]


async def test_a_refused_start_is_said_on_the_plan(setup: Setup) -> None:
    setup.exports.refusal = Problem("busy", "Another window runs exports.", "Close it.")
    setup.presenter.show_request(REQUEST)
    await setup.shows_plan()
    setup.button("Fetch 16.4 GB and export").click()
    await until(lambda: setup.says("Another window runs exports."))
    assert setup.button("Fetch 16.4 GB and export").isEnabled()


async def test_a_run_shows_its_stages_memory_and_log_and_is_held_and_ended(setup: Setup) -> None:
    setup.exports.change(RUNNING)
    await until(lambda: setup.has_button("Show"))
    setup.button("Show").click()
    assert setup.says("Step 3 of 7: Convert Qwen3-8B to int4 · 42 %")
    assert setup.says("Compressing weights: 121 of 288 layers")
    assert "layer 39" in setup.pane.run.log.text.toPlainText()
    setup.button("Pause").click()
    setup.exports.change(replace(PAUSED, id=RUNNING.id))
    await until(lambda: setup.has_button("Resume"))
    assert setup.has_button("Discard…")
    setup.button("Resume").click()
    setup.exports.change(RUNNING)
    await until(lambda: setup.has_button("Cancel…"))
    setup.button("Cancel…").click()
    assert setup.button("Keep it").hasFocus()
    setup.button("Cancel the export").click()
    await until(lambda: len(setup.exports.asked) == 3)
    assert setup.exports.asked == [(w, RUNNING.id) for w in ("pause", "resume", "cancel")]


async def test_many_changes_are_shown_at_once(setup: Setup) -> None:
    setup.exports.change(RUNNING)
    await until(lambda: setup.has_button("Show"))
    setup.button("Show").click()
    shown: list[int] = []
    show = setup.pane.run.show_run
    setup.pane.run.show_run = lambda run: (shown.append(run.log_count), show(run))  # type: ignore[method-assign, assignment, func-returns-value]
    for count in range(41, 141):
        line = (*RUNNING.log_lines, *(f"line {n}" for n in range(40, count)))
        setup.exports.change(replace(RUNNING, log_lines=line, log_count=count))
    await until(lambda: 140 in shown)
    assert len(shown) < 5


async def test_what_the_guard_does_is_said(setup: Setup) -> None:
    setup.pane.show_run(WARNED)
    assert setup.says("Memory becomes scarce")
    setup.pane.show_run(RUNNING)
    assert not setup.says("Memory becomes scarce")


async def test_a_stopped_export_says_why_and_goes_on(setup: Setup) -> None:
    setup.exports.change(FAILED)
    await until(lambda: setup.says("3.10 GB of memory were missing"))
    setup.button("Show").click()
    assert not setup.has_button("Resume")  # the problem has the button
    setup.button(Remedy.RETRY.label).click()
    await until(lambda: setup.exports.asked == [("resume", FAILED.id)])


async def test_one_that_was_cut_off_is_removed_only_after_a_question(setup: Setup) -> None:
    setup.exports.change(PAUSED)
    await until(lambda: setup.has_button("Remove…"))
    setup.button("Remove…").click()
    assert not setup.exports.asked
    assert setup.button("Keep it").hasFocus()
    setup.button("Delete it").click()
    await until(lambda: setup.exports.asked == [("remove", PAUSED.id)])


async def test_the_keyboard_stays_on_a_card_whose_export_goes_on(setup: Setup) -> None:
    setup.exports.change(PAUSED)
    await until(lambda: setup.has_button("Resume"))
    setup.pane.activateWindow()
    setup.button("Resume").setFocus()
    setup.button("Resume").click()
    setup.exports.change(replace(RUNNING, id=PAUSED.id))
    await until(lambda: not setup.has_button("Resume"))
    assert setup.button("Show").hasFocus()


async def test_a_result_leads_to_the_chat_the_pair_and_the_files(setup: Setup) -> None:
    setup.exports.change(DONE)
    await until(lambda: setup.has_button("Show"))
    setup.button("Show").click()
    assert setup.says("The draft works. 2.41x of the speed without it, measured here.")
    target, draft = RESULT.models[0].path, RESULT.models[1].path
    title = DONE.plan.request.title
    setup.button("Open the pair's page").click()
    setup.button("Show in Models").click()
    setup.button("Model card").click()
    setup.button("Record").click()
    setup.button("Open folder").click()
    assert setup.led == [
        ("pair", title, target, draft),
        ("model", RESULT.models[0].model_id),
        ("path", target / "README.md"),
        ("path", target / "export_source.json"),
        ("path", target),
    ]
    setup.button("Chat with it").click()
    await until(lambda: setup.led[-1] == ("chat", "new"))
    assert setup.shelf.added == [(title, target, draft)]


async def test_no_speed_is_told_that_was_not_measured(setup: Setup) -> None:
    setup.exports.change(replace(DONE, result=ExportResult(RESULT.models)))
    await until(lambda: setup.has_button("Show"))
    setup.button("Show").click()
    assert setup.says("was not measured")
    assert not any("x of the speed" in b.text() for b in setup.pane.findChildren(QLabel))


async def test_a_blocked_model_is_not_offered_for_a_chat(setup: Setup) -> None:
    blocked = replace(RESULT.models[0], contract_verdict="blocked")
    setup.exports.change(replace(DONE, result=ExportResult((blocked,))))
    await until(lambda: setup.has_button("Show"))
    setup.button("Show").click()
    assert setup.says("It cannot run")
    assert not setup.has_button("Chat with it")


async def test_a_run_that_was_removed_leads_back_to_the_list(setup: Setup) -> None:
    setup.exports.change(RUNNING)
    setup.presenter.show_running()
    assert setup.pane.shown_run_id == RUNNING.id
    setup.exports.change()
    await until(lambda: setup.pane.is_at_start)


async def test_the_frame_tells_of_an_export_while_one_looks_elsewhere(
    qtbot: QtBot, theme: Theme
) -> None:
    sidebar, line = Sidebar(theme=theme), StatusLine(theme=theme)
    for widget in (sidebar, line):
        qtbot.addWidget(widget)
        widget.show()
    exports = FakeExports(RUNNING, DONE, replace(PAUSED, state=ExportState.WAITING))
    status = ExportStatus(sidebar=sidebar, status_line=line, exports=exports)
    texts = [b.text() for b in sidebar.findChildren(QPushButton)]
    assert f"{Page.EXPORT.value} 2" in texts
    work = next(b for b in line.findChildren(QPushButton) if b.isVisible())
    assert work.text() == "Exporting: Convert Qwen3-8B to int4, 42 %"
    with qtbot.waitSignal(line.work_requested):
        work.click()
    exports.change(DONE, FAILED)
    assert not work.isVisible()
    assert f"{Page.EXPORT.value} 1" in [b.text() for b in sidebar.findChildren(QPushButton)]
    exports.change(DONE)
    assert Page.EXPORT.value in [b.text() for b in sidebar.findChildren(QPushButton)]
    await status.close()
