"""What is on this disk, on the models page, over a real library of models."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QLabel, QLineEdit, QPushButton

from dflash_desktop.domain.library import ModelCondition, RemovalPlan, WorkProgress
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.model_store import install_folder
from dflash_desktop.services.model_verification import bad_paths
from dflash_desktop.services.refetch import Repaired
from dflash_desktop.ui.models.library_presenter import LibraryPresenter
from dflash_desktop.ui.models.library_view import LibraryView
from dflash_desktop.ui.models.library_words import (
    SortOrder,
    card_content,
    day_words,
    library_summary,
    model_facts,
    model_row,
    removal_words,
    report_words,
    shown_models,
)
from dflash_desktop.ui.models.model_list import ModelListView
from dflash_desktop.ui.models.pane import ModelsPane
from tests.fakes.engine import EngineUnderTest, engine_under_test, until
from tests.fakes.image_models import QWEN_IMAGE, unpack_image_model
from tests.fakes.ir_models import write_target
from tests.fakes.library_world import app_paths, arrive, many_models
from tests.ui.library_values import MODELS, NOT_WHOLE, NOW, WHOLE, many, model

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.library import VerificationReport
    from dflash_desktop.ui.theme import Theme


class FakeRefetch:
    """Says that it has brought what was bad."""

    async def repair(
        self, report: VerificationReport, on_progress: Callable[[WorkProgress], None]
    ) -> Repaired:
        on_progress(WorkProgress(1, 2))
        return Repaired(bad_paths(report), replace(report, differences=()))


class Setup:
    def __init__(self, theme: Theme, folder: Path, under_test: EngineUnderTest) -> None:
        self.under_test = under_test
        self.paths = app_paths(folder)
        self.loaded: list[str] = []
        self.opened: list[Path] = []
        self.drawing: list[str] = []
        self.refetch = FakeRefetch()
        self.pairs: tuple[PairFolders, ...] = ()
        for name in ("first", "second"):
            arrived = arrive(folder / name)
            install_folder(
                arrived.folder,
                arrived.manifest(repo_id=f"owner/{name}"),
                models_dir=self.paths.models_dir,
            )
        self.library = ModelLibrary(paths=self.paths)
        self.view = LibraryView(theme=theme, report=lambda problem: problem.detail)
        self.presenter = LibraryPresenter(
            view=self.view,
            shelf=self.library,
            engine=under_test.engine,
            pairs=lambda: self.pairs,
            load=lambda pair_id, _: self.loaded.append(pair_id),
            open_folder=self.opened.append,
            refetch=self.refetch,
            make_pictures=self.drawing.append,
        )

    @property
    def list_view(self) -> ModelListView:
        return self.view.findChildren(ModelListView)[0]

    def rows(self) -> list[str]:
        rows = self.list_view.model()
        return [str(rows.index(i, 0).data()) for i in range(rows.rowCount())]

    def press(self, label: str) -> None:
        card = self.view.card
        next(b for b in card.findChildren(QPushButton) if b.text() == label).click()

    def offers(self) -> list[str]:
        buttons = self.view.card.findChildren(QPushButton)
        return [b.text() for b in buttons if b.isVisible()]

    def says(self, words: str) -> bool:
        labels = self.view.findChildren(QLabel)
        return any(words in label.text() for label in labels if label.isVisible())


@pytest_asyncio.fixture
async def setup(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Setup]:
    async with engine_under_test(tmp_path / "logs") as under_test:
        setup = Setup(theme, tmp_path, under_test)
        qtbot.addWidget(setup.view)
        setup.view.resize(700, 700)
        setup.view.show()
        yield setup
        await setup.presenter.close()


async def test_every_model_is_listed_and_the_first_one_shown(setup: Setup) -> None:
    assert setup.rows() == ["first", "second"]
    assert setup.view.chosen_id == "owner/first"
    assert setup.says("owner/first at aaaaaaa")
    assert setup.says("2 models")


async def test_another_model_is_chosen_with_the_keyboard(setup: Setup) -> None:
    setup.list_view.setFocus()
    QTest.keyClick(setup.list_view, Qt.Key.Key_Down)
    assert setup.view.card.model_id == "owner/second"


async def test_enter_loads_and_delete_asks_before_it_removes(setup: Setup) -> None:
    first = setup.library.known("owner/first")
    setup.pairs = (PairFolders("alone", "Alone", first.path, None),)
    setup.presenter.refresh()
    setup.list_view.setFocus()
    QTest.keyClick(setup.list_view, Qt.Key.Key_Return)
    assert setup.loaded == ["alone"]
    setup.view.window().activateWindow()
    QTest.keyClick(setup.list_view, Qt.Key.Key_Delete)
    await until(lambda: "Keep it" in setup.offers())
    assert first.path.exists()


async def test_verifying_says_that_every_byte_is_right(setup: Setup) -> None:
    setup.press("Verify")
    await until(lambda: setup.says("Every byte is right: 4 files"))


async def test_damage_is_named_and_repair_is_offered(setup: Setup) -> None:
    first = setup.library.known("owner/first")
    (first.path / "config.json").write_bytes(b"[]")
    setup.press("Verify")
    await until(lambda: setup.says("config.json has other bytes"))
    await until(lambda: "Repair" in setup.offers())
    assert "Load" not in setup.offers()
    setup.press("Repair")
    await until(lambda: setup.says("config.json was fetched again. Every byte is right"))


async def test_the_keyboard_stays_on_what_was_verified_and_repaired(setup: Setup) -> None:
    def focused() -> str:
        widget = setup.view.focusWidget()
        return widget.text() if isinstance(widget, QPushButton) else ""

    def by_keyboard(label: str) -> None:
        buttons = setup.view.card.findChildren(QPushButton)
        button = next(b for b in buttons if b.text() == label)
        button.setFocus()
        QTest.keyClick(button, Qt.Key.Key_Space)

    setup.view.activateWindow()
    by_keyboard("Verify")
    await until(lambda: setup.says("Every byte is right"))
    assert focused() == "Verify"
    first = setup.library.known("owner/first")
    (first.path / "config.json").write_bytes(b"[]")
    by_keyboard("Verify")
    await until(lambda: setup.says("config.json has other bytes"))
    await until(lambda: "Repair" in setup.offers())
    assert focused() == "Repair"
    by_keyboard("Repair")
    await until(lambda: setup.says("config.json was fetched again"))
    assert focused() in ("Verify", "Repair")


async def test_a_verification_that_is_cancelled_leaves_no_verdict(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forever(*_: object) -> object:
        return await asyncio.Event().wait()

    monkeypatch.setattr(setup.library, "verify", forever)
    setup.press("Verify")
    await until(lambda: setup.offers() == ["Cancel"])
    setup.press("Cancel")
    await until(lambda: "Verify" in setup.offers())
    assert not setup.says("Every byte is right")


async def test_removing_names_what_is_deleted_and_frees_it(setup: Setup) -> None:
    first = setup.library.known("owner/first")
    setup.press("Remove…")
    await until(lambda: setup.says(f"{first.path} is deleted"))
    remove, keep = setup.offers()
    assert remove.startswith("Remove ")
    assert keep == "Keep it"
    setup.press(remove)
    await until(lambda: setup.rows() == ["second"])
    assert not first.path.exists()


async def test_keeping_it_deletes_nothing(setup: Setup) -> None:
    setup.press("Remove…")
    await until(lambda: "Keep it" in setup.offers())
    assert setup.view.focusWidget().property("text") == "Keep it"
    setup.press("Keep it")
    assert "Verify" in setup.offers()
    assert setup.library.known("owner/first").path.exists()


async def test_a_folder_with_something_of_the_persons_is_refused_in_words(setup: Setup) -> None:
    first = setup.library.known("owner/first")
    (first.path / "my thesis.txt").write_text("three years")
    setup.press("Remove…")
    await until(lambda: setup.says("my thesis.txt"))
    assert (first.path / "my thesis.txt").exists()


async def test_trying_again_does_what_was_refused(setup: Setup) -> None:
    in_use = Problem("model_in_use", "It is in use now.", "", remedies=(Remedy.RETRY,))

    async def refuse(_: str) -> RemovalPlan:
        raise AppError(in_use)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup.library, "plan_removal", refuse)
        setup.press("Remove…")
        await until(lambda: setup.says(in_use.headline))
    setup.press("Try again")
    await until(lambda: "Keep it" in setup.offers())
    assert not setup.says(in_use.headline)


async def test_a_folder_is_added_where_it_is_and_hashed(
    setup: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "Märchen Modell"
    write_target(own)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(own))
    add = next(b for b in setup.view.findChildren(QPushButton) if b.text() == "Add a folder…")
    add.click()
    await until(lambda: "Märchen Modell" in setup.rows())
    await until(lambda: setup.says("Every byte is right"))
    assert setup.view.card.model_id == "Märchen Modell"
    added = setup.library.known("Märchen Modell")
    assert (added.path, added.condition) == (own, ModelCondition.VERIFIED)
    assert "Take off the list…" in setup.offers()


async def test_a_folder_that_holds_no_model_is_refused(setup: Setup, tmp_path: Path) -> None:
    (tmp_path / "photos").mkdir()
    setup.view.folder_chosen.emit(str(tmp_path / "photos"))
    await until(lambda: setup.says("photos"))
    assert setup.rows() == ["first", "second"]


async def test_the_model_in_use_says_on_which_device(setup: Setup) -> None:
    first = setup.library.known("owner/first")
    pair = PairFolders("p", "Pair", first.path, None)
    await setup.under_test.engine.load(pair, device="CPU")
    await until(lambda: setup.says("now, on Made-up CPU"))
    load = next(b for b in setup.view.card.findChildren(QPushButton) if b.text() == "Load")
    assert not load.isEnabled()
    assert load.toolTip() == "It is loaded."


async def test_loading_takes_the_pair_with_a_draft_first(setup: Setup) -> None:
    first, second = setup.library.known("owner/first"), setup.library.known("owner/second")
    setup.pairs = (
        PairFolders("alone", "Alone", first.path, None),
        PairFolders("both", "Both", first.path, second.path),
    )
    setup.presenter.refresh()
    setup.press("Load")
    setup.press("Open folder")
    assert setup.loaded == ["both"]
    assert setup.opened == [first.path]


async def test_a_model_for_pictures_leads_to_making_them(setup: Setup, tmp_path: Path) -> None:
    folder = unpack_image_model(QWEN_IMAGE, tmp_path / "qwen image")
    model = await setup.library.add_folder(folder)
    setup.presenter.refresh()
    setup.view.choose(model.id)
    assert setup.says("Image model")
    assert "Load" not in setup.offers()
    setup.press("Make pictures")
    assert setup.drawing == [model.id]
    assert setup.loaded == []


async def test_a_library_whose_disk_is_gone_is_said_and_looked_for_again(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = Problem("library_absent", "The disk is not there.", "", remedies=(Remedy.RETRY,))
    monkeypatch.setattr(setup.library, "absence", lambda: gone)
    setup.presenter.look()
    await until(lambda: setup.says(gone.headline))
    monkeypatch.setattr(setup.library, "absence", lambda: None)
    again = next(b for b in setup.view.findChildren(QPushButton) if b.text() == "Try again")
    again.click()
    await until(lambda: not setup.says(gone.headline))


async def test_search_and_order_find_a_model(setup: Setup, tmp_path: Path) -> None:
    for number in range(6):
        arrived = arrive(tmp_path / f"more{number}")
        install_folder(
            arrived.folder,
            arrived.manifest(repo_id=f"other/more{number}"),
            models_dir=setup.paths.models_dir,
        )
    await setup.library.refresh()
    assert len(setup.rows()) == 8
    fields = [*setup.view.findChildren(QLineEdit), *setup.view.findChildren(QComboBox)]
    named = {field.accessibleName(): field for field in fields}
    search, order = named["Search the models"], named["Order of the models"]
    assert isinstance(search, QLineEdit)
    assert search.isVisible()
    assert order.isVisible()
    search.setText("more3")
    assert setup.rows() == ["more3"]
    search.setText("more3 nothing")
    assert setup.rows() == []
    assert setup.says("No model has all of these words.")
    search.clear()
    assert len(setup.rows()) == 8


def test_an_empty_library_offers_the_next_step(qtbot: QtBot, theme: Theme) -> None:
    view = LibraryView(theme=theme, report=lambda problem: problem.detail)
    qtbot.addWidget(view)
    view.show()
    buttons = {b.text(): b for b in view.findChildren(QPushButton) if b.isVisible()}
    assert not view.card.isVisible()
    with qtbot.waitSignal(view.get_requested):
        buttons["Get models"].click()
    with qtbot.waitSignal(view.export_requested):
        buttons["Make one from a checkpoint…"].click()


def test_a_row_says_what_a_person_looks_for() -> None:
    row = model_row(MODELS[0], in_use_on="", now=NOW)
    assert (row.title, row.size) == ("Qwen3-8B-int4-ov", "4.82 GB")
    assert row.facts == "Target · int4 · 1a2b3c4 · used yesterday"
    assert row.state == "verified"
    assert "4.82 GB" in row.spoken
    used = model_row(MODELS[0], in_use_on="GPU.0 Arc", now=NOW)
    assert (used.state, used.facts) == ("in use", "Target · int4 · 1a2b3c4 · on GPU.0 Arc")


def test_the_facts_name_source_and_verification() -> None:
    facts = dict(model_facts(MODELS[0], in_use_on="", now=NOW))
    assert facts["From"] == "OpenVINO/Qwen3-8B-int4-ov at 1a2b3c4"
    assert facts["Verified"] == "today at 13:04, every byte"
    assert facts["Size"] == "4.82 GB in 2 files"
    added = dict(model_facts(MODELS[4], in_use_on="", now=NOW))
    assert added["From"] == "a folder that you added; it stays where it is"
    assert added["Verified"] == "not yet"


def test_a_damaged_model_is_not_called_verified() -> None:
    damaged = replace(MODELS[0], condition=ModelCondition.DAMAGED)
    facts = dict(model_facts(damaged, in_use_on="", now=NOW))
    assert facts["Verified"] == "checked today at 13:04, damaged"


def test_the_largest_and_the_last_used_come_first_when_asked_for() -> None:
    small = model("a/small", size_bytes=1_000_000, days_since_use=0)
    large = model("b/large", size_bytes=9_000_000, days_since_use=None)
    by_size = shown_models((small, large), words="", order=SortOrder.SIZE)
    by_use = shown_models((large, small), words="", order=SortOrder.LAST_USED)
    assert [m.title for m in by_size] == ["large", "small"]
    assert [m.title for m in by_use] == ["small", "large"]


def test_taking_an_added_folder_off_the_list_frees_nothing() -> None:
    plan = RemovalPlan(MODELS[4], freed_bytes=0, shared_bytes=0, used_by=())
    words, label = removal_words(plan)
    assert "Its files stay" in words
    assert label == "Take off the list"


def test_a_removal_says_what_stays_and_what_no_longer_loads() -> None:
    plan = RemovalPlan(MODELS[0], 4_800_000_000, 20_000_000, ("Qwen3 8B with its draft",))
    words, label = removal_words(plan)
    assert "frees 4.80 GB" in words
    assert "20.0 MB stay" in words
    assert "Qwen3 8B with its draft cannot be loaded afterwards" in words
    assert label == "Remove 4.80 GB"
    assert "other programs use these files" in words


def test_what_stays_for_another_model_is_said_to_be_that_models() -> None:
    plan = RemovalPlan(MODELS[0], 1, 30_000_000, (), (MODELS[1],), 20_000_000)
    words, _ = removal_words(plan)
    assert f"20.0 MB stay: they are files of “{MODELS[1].title}”, too." in words
    assert "10.0 MB stay: other programs" in words
    words, _ = removal_words(replace(plan, shared_bytes=20_000_000))
    assert "other programs" not in words


def test_only_what_the_program_keeps_counts_as_taken_room() -> None:
    assert library_summary(MODELS) == "7 models, 30.0 GB"
    assert library_summary(MODELS[4:5]) == "1 model"


def test_an_outcome_is_told_in_words() -> None:
    assert report_words(WHOLE) == "Every byte is right: 2 files, 4.82 GB."
    assert report_words(NOT_WHOLE).startswith("2 of 12 files are not right: openvino_model.bin")


def test_days_are_told_as_people_say_them() -> None:
    assert day_words(MODELS[0].last_used_at or NOW, NOW) == "yesterday"
    assert day_words(NOW, NOW) == "today at 15:04"


def test_two_hundred_rows_are_drawn_and_not_built(qtbot: QtBot, theme: Theme) -> None:
    view = LibraryView(theme=theme, report=lambda problem: problem.detail)
    qtbot.addWidget(view)
    before = len(view.findChildren(QLabel))
    rows = tuple(model_row(m, in_use_on="", now=NOW) for m in many(200))
    view.show_models(rows, summary="", count=200)
    view.show()
    assert len(view.findChildren(QLabel)) == before


def test_what_there_is_to_read_on_the_card_is_brought_into_view(
    qtbot: QtBot, theme: Theme
) -> None:
    pane = ModelsPane(theme=theme, report=lambda problem: problem.detail)
    qtbot.addWidget(pane)
    rows = tuple(model_row(m, in_use_on="", now=NOW) for m in MODELS)
    pane.library.show_models(rows, summary="", count=len(rows))
    pane.library.card.show_model(card_content(MODELS[0], in_use_on="", now=NOW))
    pane.resize(700, 400)
    pane.show()
    assert pane.verticalScrollBar().value() == 0
    pane.library.card.show_problem(Problem("code", "It was refused.", "For a reason."))
    qtbot.waitUntil(lambda: pane.verticalScrollBar().value() > 0)
    headline = next(
        label for label in pane.findChildren(QLabel) if label.text() == "It was refused."
    )
    assert not headline.visibleRegion().isEmpty()


async def test_a_library_of_two_hundred_models_is_shown_at_once(
    qtbot: QtBot, theme: Theme, tmp_path: Path
) -> None:
    """The bar is 0.2 s, see tests/perf; a crowded machine may take five times that."""
    paths = app_paths(tmp_path)
    many_models(paths, 200)
    async with engine_under_test(tmp_path / "logs") as under_test:
        began = time.perf_counter()
        library = ModelLibrary(paths=paths)
        pane = ModelsPane(theme=theme, report=lambda problem: problem.detail)
        qtbot.addWidget(pane)
        presenter = LibraryPresenter(
            view=pane.library,
            shelf=library,
            engine=under_test.engine,
            pairs=library.pairs,
            load=lambda *_: None,
            open_folder=lambda _: None,
            refetch=FakeRefetch(),
        )
        pane.resize(900, 700)
        pane.show()
        pane.repaint()
        assert time.perf_counter() - began < 1.0
        assert pane.library.findChildren(ModelListView)[0].model().rowCount() == 200
        await presenter.close()
