"""The models page over a real engine whose worker is the fake one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QToolButton,
)

from dflash_desktop.domain.engine_state import Loaded
from dflash_desktop.domain.generation import KvCachePrecision
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import Remedy
from dflash_desktop.domain.settings import AddedPair
from dflash_desktop.domain.starter import STARTER_PAIR_ID, StarterState, StarterStatus
from dflash_desktop.services.hardware_probe import HardwareProbe
from dflash_desktop.services.own_pairs import OwnPairs
from dflash_desktop.services.pair_library import PairLibrary
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.ui.models.pair_card import PairCard
from dflash_desktop.ui.models.pane import ModelsPane
from dflash_desktop.ui.models.presenter import ModelsPresenter, shown_pairs
from dflash_desktop.ui.models.words import folder_facts, loaded_facts, measured_fact
from dflash_desktop.ui.widgets.switch import Switch
from tests.fakes.engine import EngineUnderTest, engine_under_test, until
from tests.fakes.ir_models import write_target
from tests.machines import machine, pool_of
from tests.ui.library_values import MODELS, NOW
from tests.ui.shell_values import LOADED, bench_report
from tests.ui.wizard.setup_world import FakePairs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.models.own_pair_form import OwnPairForm
    from dflash_desktop.ui.theme import Theme

PIN = starter_resources().pin


class FakeStarter:
    def __init__(self, folder: Path) -> None:
        self.state = StarterState.READY
        self._folder = folder

    def status(self) -> StarterStatus:
        return StarterStatus(self.state, self._folder, self._folder)

    def pair(self) -> PairFolders:
        return PairFolders(STARTER_PAIR_ID, PIN.title, self._folder, self._folder)


class PairsOfThePage(FakePairs):
    """Notes what is to be loaded; nothing is."""

    def __init__(self, under_test: EngineUnderTest) -> None:
        super().__init__(under_test)
        self.asked: list[tuple[str, bool]] = []

    def load(self, pair_id: str, with_draft: bool = True) -> None:
        self.asked.append((pair_id, with_draft))

    def measured(self) -> BenchReport | None:
        return None


class Setup:
    def __init__(self, theme: Theme, folder: Path, under_test: EngineUnderTest) -> None:
        self.target = make_model(folder / "target")
        self.under_test = under_test
        self.starter = FakeStarter(make_model(folder / "starter"))
        self.settings = SettingsStore(folder / "settings.json")
        self.settings.change(
            added_pairs=(
                AddedPair("mine", "Mine", self.target, self.target),
                AddedPair("gone", "Gone", folder / "nowhere", None),
            )
        )
        self.library = PairLibrary(settings=self.settings, starter=self.starter)
        self.pairs = PairsOfThePage(under_test)
        self.problems: list[Problem] = []
        self.pane = ModelsPane(theme=theme, report=lambda problem: problem.detail)
        self.presenter = ModelsPresenter(
            pane=self.pane,
            pin=PIN,
            starter=self.starter,
            library=self.library,
            pairs=self.pairs,  # type: ignore[arg-type]  # only what the page asks
            engine=under_test.engine,
            settings=self.settings,
            own_pairs=OwnPairs(folder / "pairs.json"),
            machine=HardwareProbe(
                launcher=under_test.launcher,
                models_dir=lambda: folder,
                memory_file=folder / "hardware.json",
            ),
            pool_of=lambda _: pool_of(machine("arc_140v_32gb")),
            on_problem=self.problems.append,
        )

    def cards(self) -> dict[str, PairCard]:
        QApplication.processEvents()  # which shows what was added and removes what was dropped
        cards = [c for c in self.pane.findChildren(PairCard) if c.isVisible()]
        return {words(card)[0]: card for card in cards}

    def card(self, title: str) -> PairCard:
        return self.cards()[title]

    @property
    def boxes(self) -> tuple[QComboBox, QComboBox]:
        device, precision = self.pane.run_form.findChildren(QComboBox)
        return device, precision


def make_model(folder: Path) -> Path:
    write_target(folder)
    for weights in folder.glob("*.bin"):
        weights.write_bytes(b"w" * 1500)
    return folder


def words(card: PairCard) -> list[str]:
    return [label.text() for label in card.findChildren(QLabel)]


def buttons(card: PairCard) -> dict[str, QPushButton]:
    return {b.text(): b for b in card.findChildren(QPushButton)}


@pytest_asyncio.fixture
async def setup(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Setup]:
    async with engine_under_test(tmp_path / "logs") as under_test:
        setup = Setup(theme, tmp_path, under_test)
        qtbot.addWidget(setup.pane)
        setup.pane.show()
        yield setup
        await setup.presenter.close()


async def test_each_pair_has_a_card_with_its_folders_and_sizes(setup: Setup) -> None:
    assert list(setup.cards()) == [PIN.title, "Mine", "Gone"]
    assert f"{setup.target} (1.50 kB)" in words(setup.card("Mine"))
    assert any("small, for trying the program" in text for text in words(setup.card(PIN.title)))


async def test_a_pair_can_be_loaded_with_and_without_its_draft(setup: Setup) -> None:
    actions = buttons(setup.card("Mine"))
    actions["Load"].click()
    actions["Load without draft"].click()
    assert setup.pairs.asked == [("mine", True), ("mine", False)]


async def test_a_folder_that_is_gone_is_told_and_cannot_be_loaded(setup: Setup) -> None:
    card = setup.card("Gone")
    assert "folder not found" in words(card)
    assert not buttons(card)["Load"].isEnabled()
    assert "drive" in buttons(card)["Load"].toolTip()


@pytest.mark.parametrize(
    ("state", "label"),
    [
        (StarterState.MISSING, "Get the starter model"),
        (StarterState.BROKEN, "Repair"),
        (StarterState.INSTALLING, "Show progress"),
    ],
)
async def test_the_starter_card_offers_what_its_state_needs(
    setup: Setup, qtbot: QtBot, state: StarterState, label: str
) -> None:
    setup.starter.state = state
    setup.presenter.refresh()
    with qtbot.waitSignal(setup.pane.starter_requested):
        buttons(setup.card(PIN.title))[label].click()


async def test_the_loaded_pair_shows_what_the_engine_found_out(setup: Setup) -> None:
    mine = setup.library.find("mine")
    assert mine is not None
    setup.pairs.chosen = mine
    await setup.under_test.engine.load(mine, device="CPU")
    await until(lambda: isinstance(setup.under_test.engine.state, Loaded))
    await until(lambda: "loaded" in words(setup.card("Mine")))
    text = words(setup.card("Mine"))
    assert "Made-up CPU" in text
    assert "KV cache f32, context 2,048 tokens" in text
    assert "not yet on this device" in text


async def test_taking_a_pair_off_the_list_leaves_its_files(setup: Setup) -> None:
    remove = setup.card("Mine").findChild(QToolButton)
    assert isinstance(remove, QToolButton)
    remove.click()
    await until(lambda: setup.library.find("mine") is None)
    assert (setup.target / "openvino_model.bin").exists()


def named_field(form: OwnPairForm, name: str) -> QLineEdit:
    return next(f for f in form.findChildren(QLineEdit) if f.accessibleName() == name)


async def words_of(form: OwnPairForm, part: str) -> str:
    """What the form says, once it says this."""

    def said() -> str:
        return "\n".join(label.text() for label in form.findChildren(QLabel))

    await until(lambda: part in said())
    return said()


async def test_a_pair_shows_what_it_would_take_of_the_memory(setup: Setup) -> None:
    def words() -> list[str]:
        return [label.text() for label in setup.card("Mine").findChildren(QLabel)]

    await until(lambda: any(text.startswith("target ") for text in words()))
    assert any(text.startswith("free 2") for text in words())


async def test_the_starter_that_is_here_is_not_said_to_be_downloaded(setup: Setup) -> None:
    setup.presenter.refresh()
    assert not any("to download" in text for text in words(setup.card(PIN.title)))
    setup.starter.state = StarterState.MISSING
    setup.presenter.refresh()
    assert any("98.4 MB to download" in text for text in words(setup.card(PIN.title)))


async def test_the_starter_cannot_be_taken_off(setup: Setup) -> None:
    assert setup.card(PIN.title).findChild(QToolButton) is None


async def test_ones_own_pair_is_checked_added_and_shown(
    setup: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_model(tmp_path / "Own model")
    form = setup.pane.own_pair_form
    target, title = named_field(form, "Target"), named_field(form, "Name")
    add = next(b for b in form.findChildren(QPushButton) if b.text() == "Add this pair")
    assert not add.isEnabled()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(folder))
    next(b for b in form.findChildren(QPushButton) if b.text() == "Choose…").click()
    assert target.text() == str(folder)
    title.setText("Named by me")
    add.click()
    await until(lambda: "Named by me" in [p.title for p in setup.library.pairs()])
    await until(lambda: target.text() == "")


async def test_a_pair_of_the_hub_joins_the_list_and_can_be_got(
    setup: Setup, qtbot: QtBot, tmp_path: Path
) -> None:
    form = setup.pane.own_pair_form
    target, parameters = named_field(form, "Target"), named_field(form, "Parameters, billions")
    add = next(b for b in form.findChildren(QPushButton) if b.text() == "Add this pair")
    assert parameters.isHidden() or not parameters.isVisibleTo(form)
    target.setText("ada/My-Model")
    assert parameters.isVisibleTo(form)
    add.click()
    assert "cannot be told without its size" in await words_of(form, "without its size")
    parameters.setText("8,2")
    add.click()
    await words_of(form, "In the setup's list")
    (pair,) = OwnPairs(tmp_path / "pairs.json").pairs()
    assert pair.target.parameters == 8_200_000_000
    get = next(b for b in form.findChildren(QPushButton) if b.text() == "Get it")
    assert form.focusWidget() is get
    with qtbot.waitSignal(form.added.get_requested) as asked:
        get.click()
    assert asked.args == [pair.id]
    (remove,) = form.added.findChildren(QToolButton)
    remove.click()
    await until(lambda: form.added.isHidden())
    assert OwnPairs(tmp_path / "pairs.json").pairs() == ()


async def test_a_folder_and_a_repository_do_not_make_a_pair(setup: Setup, tmp_path: Path) -> None:
    form = setup.pane.own_pair_form
    named_field(form, "Target").setText("ada/My-Model")
    named_field(form, "Draft").setText(str(tmp_path))
    next(b for b in form.findChildren(QPushButton) if b.text() == "Add this pair").click()
    await words_of(form, "One of them is a folder")


async def test_a_folder_that_is_no_model_is_refused_beside_the_form(
    setup: Setup, tmp_path: Path
) -> None:
    form = setup.pane.own_pair_form
    form.add_requested.emit("", tmp_path, None)
    await until(
        lambda: any(
            "cannot be used as a target" in label.text() for label in form.findChildren(QLabel)
        )
    )
    assert setup.problems == []
    assert not any(b.text() == Remedy.CHOOSE_MODEL.label for b in form.findChildren(QPushButton))


async def test_the_devices_of_the_machine_can_be_chosen(setup: Setup) -> None:
    device, precision = setup.boxes
    await until(lambda: device.count() == 3)
    assert device.itemText(0) == "Automatic"
    assert "Intel Arc Made-up Graphics" in device.itemText(2)
    device.setCurrentIndex(2)
    device.activated.emit(2)
    await until(lambda: setup.settings.value.device == "Intel Arc Made-up Graphics")
    assert precision.itemText(0) == "Automatic · f16"
    position = precision.findData(KvCachePrecision.U8)
    precision.setCurrentIndex(position)
    precision.activated.emit(position)
    await until(lambda: setup.settings.value.kv_cache_precision is KvCachePrecision.U8)


async def test_exact_text_takes_the_choice_of_the_precision_over(setup: Setup) -> None:
    (exact,) = setup.pane.run_form.findChildren(Switch)
    _, precision = setup.boxes
    setup.settings.change(kv_cache_precision=KvCachePrecision.U8)
    exact.click()
    await until(lambda: setup.settings.value.exact_text)
    assert setup.settings.value.kv_cache_precision is None
    await until(lambda: not precision.isEnabled())
    assert precision.toolTip()
    exact.click()
    await until(lambda: not setup.settings.value.exact_text)
    await until(precision.isEnabled)


def test_a_pair_with_a_draft_leads_to_whether_it_works(setup: Setup) -> None:
    asked: list[str] = []
    setup.pane.check_requested.connect(asked.append)
    card = setup.card("Mine")
    next(b for b in card.findChildren(QPushButton) if b.text() == "Does this pair work?").click()
    assert asked == ["mine"]


def test_two_folders_can_be_looked_at_before_they_are_added(setup: Setup, tmp_path: Path) -> None:
    form = setup.pane.own_pair_form
    asked: list[tuple[str, Path, Path]] = []
    form.look_requested.connect(lambda *it: asked.append(it))
    look = next(b for b in form.findChildren(QPushButton) if b.text() == "Does it work?")
    named_field(form, "Target").setText(str(tmp_path))
    assert not look.isEnabled()
    named_field(form, "Draft").setText(str(tmp_path))
    look.click()
    assert asked == [("", tmp_path, tmp_path)]


async def test_a_chosen_device_that_is_gone_is_still_shown(setup: Setup) -> None:
    setup.settings.change(device="GPU.3")
    device, _ = setup.boxes
    setup.pane.run_form.show_choices((), setup.settings.value)
    assert device.currentText() == "GPU.3 · not found"


def test_facts_about_a_loaded_pair() -> None:
    facts = dict(loaded_facts(LOADED))
    assert facts["Runs on"] == f"GPU.0 {LOADED.device_name}"
    assert facts["Loaded in"] == "3.21 s"
    assert facts["Proposes"] == "up to 7 tokens a step, from 5 layers of the target"
    assert "Proposes" not in dict(loaded_facts(replace(LOADED, draft=None)))


def test_what_was_measured_is_told_with_its_day() -> None:
    assert measured_fact(bench_report())[1] == "1.25x with 3 assistant tokens (02 Nov 2026)"
    assert "stays off" in measured_fact(bench_report(chosen_tokens=0, speedup=None))[1]


def test_a_pair_of_the_library_says_where_it_came_from_and_when_it_was_verified() -> None:
    target, draft = MODELS[0], MODELS[1]
    pair = PairFolders("p", "Pair", target.path, draft.path)
    facts = dict(folder_facts(pair, 1, 1, {m.path: m for m in MODELS}, NOW))
    assert facts["Target"] == "OpenVINO/Qwen3-8B-int4-ov · int4 · 1a2b3c4 · 4.82 GB"
    assert facts["Draft"] == "z-lab/Qwen3-8B-DFlash-b16 · bf16 · 1a2b3c4 · 1.79 GB"
    assert facts["Verified"] == "today at 13:04"
    assert facts["Last used"] == "yesterday"
    damaged = PairFolders("p", "Pair", target.path, MODELS[3].path)
    facts = dict(folder_facts(damaged, 1, 1, {m.path: m for m in MODELS}, NOW))
    assert facts["Verified"] == "not all of it yet"


def test_a_target_alone_has_no_second_card_above_the_list_unless_it_was_chosen(
    tmp_path: Path,
) -> None:
    both = PairFolders("both", "Both", tmp_path / "t", tmp_path / "d")
    alone = PairFolders("alone", "Alone", tmp_path / "t", None)
    own = PairFolders("own", "Own", tmp_path / "elsewhere", None)
    pairs, folders = (both, alone, own), {tmp_path / "t", tmp_path / "d"}
    assert shown_pairs(pairs, library_folders=folders, chosen_id="") == [both, own]
    shown = shown_pairs(pairs, library_folders=folders, chosen_id="alone")
    assert shown == [alone, both, own]
