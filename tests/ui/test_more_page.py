"""Where one gets more models: recorded machines, a queue that notes, and once a real hub."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QPushButton

from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.transfer import PlannedFile, RepoPlan, TransferPlan, TransferState
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.downloads import open_downloads
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.ui.models.more_pane import MorePane
from dflash_desktop.ui.models.more_presenter import MorePresenter
from dflash_desktop.ui.models.offer_card import OfferCard
from dflash_desktop.ui.models.offer_words import (
    name_error,
    plan_lines,
    repository_name,
    room_error,
)
from dflash_desktop.ui.transfers.pane import TransfersPane
from dflash_desktop.ui.transfers.presenter import TransfersPresenter
from dflash_desktop.workers.fetch_messages import HubAccess
from tests.fakes.download_world import PlainReach
from tests.fakes.engine import until
from tests.fakes.fake_hub import FakeHub, HubRepo, serve, small_repo
from tests.fakes.library_world import app_paths
from tests.machines import machine, pool_of
from tests.ui.library_values import model
from tests.ui.transfers.transfer_values import FakeQueue, transfer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.domain.transfer import TransferRequest
    from dflash_desktop.ui.models.more_presenter import Queue, Shelf
    from dflash_desktop.ui.theme import Theme

GATED = Problem("gated_no_token", "It asks who you are.", "", remedies=(Remedy.ENTER_TOKEN,))
PLAN = TransferPlan(
    (
        RepoPlan(
            "owner/name",
            "1a2b3c4d",
            (PlannedFile("openvino_model.bin", 4_000_000_000, present_bytes=1_000_000_000),),
            "mit",
        ),
    ),
    needed_disk_bytes=3_100_000_000,
    free_disk_bytes=50_000_000_000,
)


class RecordedMachine:
    def __init__(self, name: str) -> None:
        self._report = machine(name)

    async def look(self) -> tuple[HardwareReport, DeviceReport]:
        return self._report, None  # type: ignore[return-value]  # not looked at

    async def remembered(self) -> None:
        return None


class FakeShelf:
    def __init__(self) -> None:
        self.shown: tuple[InstalledModel, ...] = ()

    def models(self) -> tuple[InstalledModel, ...]:
        return self.shown

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        return lambda: None


class PlanningQueue(FakeQueue):
    def __init__(self) -> None:
        super().__init__()
        self.answer: TransferPlan | Problem = PLAN
        self.added: list[TransferRequest] = []

    async def plan(self, request: TransferRequest) -> TransferPlan:
        if isinstance(self.answer, Problem):
            raise AppError(self.answer)
        return self.answer

    def add(self, request: TransferRequest) -> None:
        self.added.append(request)


class Setup:
    def __init__(self, theme: Theme, machine_name: str, shelf: Shelf, queue: Queue) -> None:
        self.asked_for: list[tuple[str, ...]] = []
        self.exports: list[ExportRequest] = []
        self.ways_out: list[tuple[Remedy, tuple[str, ...]]] = []
        self.on_given: Callable[[], None] | None = None
        self.pane = MorePane(theme=theme, report=lambda problem: problem.detail)
        self.presenter = MorePresenter(
            pane=self.pane,
            machine=RecordedMachine(machine_name),
            load_catalogue=load_catalogue,
            pool_of=pool_of,
            shelf=shelf,
            queue=queue,
            ask_token=self._ask_token,
            export=self.exports.append,
            on_remedy=lambda remedy, names: self.ways_out.append((remedy, names)),
        )

    def _ask_token(self, repo_ids: tuple[str, ...], on_given: Callable[[], None]) -> None:
        self.asked_for.append(repo_ids)
        self.on_given = on_given

    def cards(self) -> list[OfferCard]:
        QApplication.processEvents()
        return [c for c in self.pane.findChildren(OfferCard) if not c.isHidden()]

    async def judged(self) -> list[OfferCard]:
        self.presenter.look()
        await until(lambda: bool(self.cards()))
        return self.cards()

    def type_names(self, *names: str) -> None:
        for field, name in zip(self.pane.name_form.findChildren(QLineEdit), names, strict=False):
            field.setText(name)

    def press(self, label: str) -> None:
        next(b for b in self.form_buttons() if b.text() == label).click()

    def form_buttons(self) -> list[QPushButton]:
        buttons = self.pane.name_form.findChildren(QPushButton)
        return [b for b in buttons if not b.isHidden()]

    def says(self, words: str) -> bool:
        labels = self.pane.findChildren(QLabel)
        return any(words in label.text() for label in labels if label.isVisible())


@pytest.fixture
def shelf() -> FakeShelf:
    return FakeShelf()


@pytest.fixture
def queue() -> PlanningQueue:
    return PlanningQueue()


@pytest_asyncio.fixture
async def setup(
    qtbot: QtBot, theme: Theme, shelf: FakeShelf, queue: PlanningQueue
) -> AsyncIterator[Setup]:
    setup = Setup(theme, "arc_140v_32gb", shelf, queue)
    qtbot.addWidget(setup.pane)
    setup.pane.show()
    yield setup
    await setup.presenter.close()


def action(card: OfferCard) -> QPushButton:
    return next(b for b in card.findChildren(QPushButton) if b.text() != "Its page")


def words(card: OfferCard) -> str:
    return "\n".join(label.text() for label in card.findChildren(QLabel))


async def test_pairs_are_judged_for_this_machine_and_the_best_has_the_one_primary_button(
    setup: Setup,
) -> None:
    cards = await setup.judged()
    assert setup.says("are left for a model")
    assert "Fits with" in words(cards[0])
    assert action(cards[0]).text().startswith("Download ")
    kinds = [action(card).property("kind") for card in cards]
    assert kinds == ["primary"] + ["normal"] * (len(cards) - 1)


async def test_speeds_are_called_other_peoples_and_content_is_labelled(setup: Setup) -> None:
    cards = await setup.judged()
    assert any("measured by others" in words(card) for card in cards)
    assert any("uncensored" in words(card) for card in cards)
    assert all("licence" in words(card) for card in cards)


async def test_the_long_list_is_built_in_steps(setup: Setup) -> None:
    cards = await setup.judged()
    more = next(b for b in setup.pane.findChildren(QPushButton) if "more of" in b.text())
    more.click()
    assert len(setup.cards()) > len(cards)


async def test_one_button_starts_the_download_of_target_and_draft(
    setup: Setup, queue: PlanningQueue
) -> None:
    cards = await setup.judged()
    action(cards[0]).click()
    await until(lambda: bool(queue.added))
    assert len(queue.added[0].repos) == 2
    queue.change(transfer(transfer_id=queue.added[0].id))
    assert action(setup.cards()[0]).text() == "Show transfer"
    shown: list[str] = []
    setup.pane.transfer_requested.connect(shown.append)
    action(setup.cards()[0]).click()
    assert shown == [queue.added[0].id]


async def test_a_pair_that_nobody_has_converted_leads_to_its_export(setup: Setup) -> None:
    await setup.judged()
    while more := [b for b in setup.pane.findChildren(QPushButton) if "more of" in b.text()]:
        if not more[0].isVisible():
            break
        more[0].click()
    card = next(c for c in setup.cards() if action(c).text() == "Export…")
    assert action(card).isEnabled()
    action(card).click()
    (request,) = setup.exports
    assert request.title in card.accessibleName()
    assert all(item.source.repo_id for item in request.items)


async def test_what_is_in_the_library_is_not_offered_again(
    setup: Setup, shelf: FakeShelf, queue: PlanningQueue
) -> None:
    cards = await setup.judged()
    action(cards[0]).click()
    await until(lambda: bool(queue.added))
    shelf.shown = tuple(model(repo.repo_id.upper()) for repo in queue.added[0].repos)
    setup.presenter.look()
    await until(lambda: action(setup.cards()[0]).isHidden())
    assert "In your library" in words(setup.cards()[0])


async def test_where_nothing_fits_it_is_said(qtbot: QtBot, theme: Theme) -> None:
    setup = Setup(theme, "laptop_8gb", FakeShelf(), PlanningQueue())
    qtbot.addWidget(setup.pane)
    setup.pane.show()
    await setup.judged()
    assert setup.says("No pair fits into that now")
    await setup.presenter.close()


async def test_a_model_by_its_name_is_planned_before_it_is_downloaded(
    setup: Setup, queue: PlanningQueue
) -> None:
    setup.type_names("owner/name", "owner/draft")
    setup.press("Look it up")
    await until(lambda: setup.says("owner/name at 1a2b3c4: 1 file, 4.00 GB, licence mit"))
    assert queue.added == []
    setup.press("Download 3.00 GB")
    await until(lambda: bool(queue.added))
    assert [repo.repo_id for repo in queue.added[0].repos] == ["owner/name", "owner/draft"]
    assert setup.pane.name_form.names == ("", "")


async def test_a_changed_name_forgets_what_was_found(setup: Setup) -> None:
    setup.type_names("owner/name")
    setup.press("Look it up")
    await until(lambda: "Download 3.00 GB" in [b.text() for b in setup.form_buttons()])
    setup.type_names("owner/other")
    assert "Download 3.00 GB" not in [b.text() for b in setup.form_buttons()]


async def test_what_is_no_name_is_said_without_asking_a_hub(
    setup: Setup, queue: PlanningQueue
) -> None:
    setup.type_names("owner name")
    setup.press("Look it up")
    assert setup.says("Write the name as owner/name")


async def test_a_model_that_asks_who_you_are_is_looked_up_again_with_the_token(
    setup: Setup, queue: PlanningQueue
) -> None:
    queue.answer = GATED
    setup.type_names("owner/name")
    setup.press("Look it up")
    await until(lambda: setup.says(GATED.headline))
    setup.press(Remedy.ENTER_TOKEN.label)
    assert setup.asked_for == [("owner/name",)]
    queue.answer = PLAN
    assert setup.on_given is not None
    setup.on_given()
    await until(lambda: "Download 3.00 GB" in [b.text() for b in setup.form_buttons()])


async def test_a_disk_that_is_too_small_is_said_before_the_first_byte(
    setup: Setup, queue: PlanningQueue
) -> None:
    queue.answer = replace(PLAN, free_disk_bytes=3_000_000_000)
    setup.type_names("owner/name")
    setup.press("Look it up")
    await until(lambda: setup.says("100 MB more than is free"))
    assert "Download 3.00 GB" not in [b.text() for b in setup.form_buttons()]


def test_words_about_a_plan() -> None:
    assert plan_lines(PLAN)[1:] == (
        "1.00 GB are on this disk already",
        "50.0 GB are free on the disk",
    )
    assert room_error(PLAN) == ""


@pytest.mark.parametrize(
    ("pasted", "name"),
    [
        (" owner/name ", "owner/name"),
        ("https://huggingface.co/owner/name", "owner/name"),
        ("https://huggingface.co/owner/name/tree/main?x=1", "owner/name"),
        ("https://huggingface.co/", ""),
    ],
)
def test_the_address_of_a_page_is_as_good_as_a_name(pasted: str, name: str) -> None:
    assert repository_name(pasted) == name


@pytest.mark.parametrize(
    ("name", "is_right"),
    [("owner/name", True), ("name", False), ("a/b/c", False), ("/b", False), ("a b/c", False)],
)
def test_names_of_repositories(name: str, is_right: bool) -> None:
    assert (name_error(name) == "") is is_right


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    repos: list[HubRepo] = [small_repo("team/target"), small_repo("team/draft")]
    with serve(FakeHub(repos)) as hub:
        yield hub


async def test_from_a_name_to_a_verified_model_in_the_library(
    qtbot: QtBot, theme: Theme, tmp_path: Path, hub: FakeHub
) -> None:
    paths = app_paths(tmp_path)
    library = ModelLibrary(paths=paths)
    downloads = open_downloads(
        paths=paths,
        launcher=WorkerLauncher(log_dir=paths.log_dir),
        models=library,
        hub=PlainReach(HubAccess(endpoint=hub.url)),
    )
    setup = Setup(theme, "arc_140v_32gb", library, downloads)
    transfers = TransfersPane(theme=theme, report=lambda problem: problem.detail)
    presenter = TransfersPresenter(pane=transfers, queue=downloads, on_remedy=lambda *_: None)
    for pane in (setup.pane, transfers):
        qtbot.addWidget(pane)
        pane.show()
    setup.type_names("team/target", "team/draft")
    setup.press("Look it up")
    await until(lambda: setup.says("team/draft at c0ffee"))
    next(b for b in setup.form_buttons() if b.text().startswith("Download ")).click()
    await until(
        lambda: [t.state for t in downloads.transfers()] == [TransferState.DONE],
    )
    await until(lambda: {m.id for m in library.models()} == {"team/target", "team/draft"})
    offered = [b.text() for b in transfers.findChildren(QPushButton) if b.isVisible()]
    assert "Show in Models" in offered
    for one in (setup.presenter, presenter, downloads):
        await one.close()
