"""Room on the disk on the models page, over the real upkeep of a library."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest_asyncio
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from dflash_desktop.domain.library import CacheSize, Leftover, LeftoverKind
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.library_upkeep import LibraryUpkeep
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.model_store import install_folder
from dflash_desktop.ui.models.storage_card import StorageCard
from dflash_desktop.ui.models.storage_presenter import StoragePresenter
from dflash_desktop.ui.models.storage_words import removable, storage_content
from dflash_desktop.ui.problem_view import ProblemView
from tests.fakes.engine import EngineUnderTest, engine_under_test, until
from tests.fakes.library_world import app_paths, arrive
from tests.ui.library_values import LIBRARY, MODELS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest
    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


class Setup:
    def __init__(self, theme: Theme, folder: Path, under_test: EngineUnderTest) -> None:
        self.under_test = under_test
        self.paths = app_paths(folder)
        self.held: list[str] = []
        self.loads = 0
        arrived = arrive(folder / "incoming")
        install_folder(arrived.folder, arrived.manifest(), models_dir=self.paths.models_dir)
        arrive(self.paths.incoming_dir / "transfers" / "forgotten")
        arrive(self.paths.compile_cache_dir, {"a.blob": b"b" * 1200})
        self.library = ModelLibrary(paths=self.paths)
        self.upkeep = LibraryUpkeep(paths=self.paths, library=self.library)
        self.card = StorageCard(theme=theme, report=lambda problem: problem.detail)
        self.presenter = StoragePresenter(
            card=self.card,
            upkeep=self.upkeep,
            engine=under_test.engine,
            library_dir=lambda: self.paths.library_dir,
            models=self.library.models,
            hold_downloads=self._hold,
            load_again=self._load_again,
            open_folder=lambda _: None,
        )

    @asynccontextmanager
    async def _hold(self) -> AsyncIterator[None]:
        self.held.append("held")
        yield
        self.held.append("free")

    def _load_again(self) -> None:
        self.loads += 1

    def press(self, label: str) -> None:
        next(b for b in self.offers() if b.text() == label).click()

    def offers(self) -> list[QPushButton]:
        return [b for b in self.card.findChildren(QPushButton) if b.isVisible()]

    def says(self, words: str) -> bool:
        labels = self.card.findChildren(QLabel)
        return any(words in label.text() for label in labels if label.isVisible())


@pytest_asyncio.fixture
async def setup(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Setup]:
    async with engine_under_test(tmp_path / "logs") as under_test:
        setup = Setup(theme, tmp_path, under_test)
        qtbot.addWidget(setup.card)
        setup.card.show()
        setup.presenter.refresh()
        await until(lambda: setup.says("in 1 model"))
        yield setup
        await setup.presenter.close()


async def test_the_card_says_what_takes_room(setup: Setup) -> None:
    assert setup.says(str(setup.paths.library_dir))
    assert setup.says("free")
    assert setup.says("1.20 kB")
    assert "Clear 1.20 kB" in [b.text() for b in setup.offers()]


async def test_the_compile_cache_is_cleared(setup: Setup) -> None:
    setup.press("Clear 1.20 kB")
    await until(lambda: setup.says("Empty"))
    assert not list(setup.paths.compile_cache_dir.iterdir())


async def test_leftovers_are_named_and_removed_only_after_the_question(setup: Setup) -> None:
    folder = setup.paths.incoming_dir / "transfers" / "forgotten"
    assert setup.says("forgotten: an interrupted download")
    remove = next(b for b in setup.offers() if b.text().startswith("Remove "))
    remove.click()
    assert setup.says("Remove the leftovers?")
    setup.press("Keep them")
    assert folder.exists()
    remove.click()
    setup.press(remove.text().removesuffix("…"))
    await until(lambda: setup.says("None"))
    assert not folder.exists()


async def test_the_library_moves_with_downloads_held_and_the_model_unloaded(
    setup: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = setup.library.known("owner/name")
    await setup.under_test.engine.load(PairFolders("p", "P", model.path, None), device="CPU")
    place = tmp_path / "large disk"
    place.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(place))
    setup.press("Move…")
    await until(lambda: setup.says("The library is in"))
    assert setup.held == ["held", "free"]
    assert setup.loads == 1
    assert place in setup.library.known("owner/name").path.parents
    assert not model.path.exists()
    await until(lambda: setup.says(str(setup.paths.library_dir)))


async def test_a_move_that_is_cancelled_leaves_everything_where_it_was(
    setup: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def forever(*_: object, **__: object) -> Path:
        await asyncio.Event().wait()
        return tmp_path

    monkeypatch.setattr(setup.upkeep, "move", forever)
    setup.card.place_chosen.emit(str(tmp_path / "elsewhere"))
    await until(lambda: "Cancel" in [b.text() for b in setup.offers()])
    setup.press("Cancel")
    await until(lambda: "Cancel" not in [b.text() for b in setup.offers()])
    assert next(b for b in setup.offers() if b.text() == "Move…").isEnabled()
    assert setup.library.known("owner/name").path.exists()


async def test_a_place_that_cannot_be_used_is_refused_in_words(setup: Setup) -> None:
    setup.card.place_chosen.emit(str(setup.paths.models_dir / "inside"))
    view = setup.card.findChildren(ProblemView)[0]
    await until(lambda: view.problem is not None)
    assert view.isVisible()
    setup.card.retry_requested.emit()
    await until(lambda: setup.held == ["held", "held"])
    assert setup.library.known("owner/name").path.exists()


def test_what_may_be_a_persons_own_is_told_and_never_removed() -> None:
    strange = Leftover(LIBRARY / "holiday", LeftoverKind.UNKNOWN, 3_000_000_000, True)
    moved = Leftover(LIBRARY / "old", LeftoverKind.MOVED, 1_000_000_000)
    assert removable((strange, moved)) == [moved]
    content = storage_content(
        LIBRARY,
        models=MODELS,
        free_bytes=None,
        leftovers=(strange, moved),
        cache=CacheSize(LIBRARY, 0, 0),
    )
    assert content.leftover_label == "Remove 1.00 GB"
    assert "add it as a folder" in content.leftover_names
    assert content.cache_words == ""
