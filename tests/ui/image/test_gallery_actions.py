"""What is deleted can be brought back whatever happens meanwhile, and comparing can be left."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.gallery_store import GalleryStore
from dflash_desktop.ui.image.gallery_presenter import GalleryPresenter
from dflash_desktop.ui.image.pane import ImagePane, View
from tests.services.test_gallery_store import add

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme


class StubbornStore(GalleryStore):
    """One picture is held open by another program, as Windows does it."""

    held = ""

    def delete(self, picture_id: str) -> None:
        """Refused for the held one."""
        self._refuse(picture_id)
        super().delete(picture_id)

    def restore(self, picture_id: str) -> None:
        """Refused for the held one."""
        self._refuse(picture_id)
        super().restore(picture_id)

    def _refuse(self, picture_id: str) -> None:
        if picture_id == self.held:
            raise AppError(Problem("folder_not_writable", "It is in use.", "Close the other."))


@dataclass
class Gallery:
    """The gallery of three pictures, the newest first."""

    pane: ImagePane
    store: StubbornStore

    @property
    def ids(self) -> tuple[str, ...]:
        """What is shown."""
        return tuple(entry.id for entry in self.pane.grid.pictures.entries)

    async def has(self, *ids: str) -> None:
        """Wait until it shows these."""
        await until(lambda: self.ids == ids)

    def press(self, words: str) -> None:
        """Press what can be seen."""
        buttons = [b for b in self.pane.findChildren(QPushButton) if b.text() == words]
        (button,) = [b for b in buttons if b.isVisible()]
        button.click()

    def says(self, words: str) -> bool:
        """Whether these words can be seen."""
        labels = self.pane.findChildren(QLabel)
        return any(words in label.text() for label in labels if label.isVisible())


async def until(condition: Callable[[], bool]) -> None:
    """Wait while Qt and asyncio go on."""
    async with asyncio.timeout(20):
        while not condition():
            QApplication.processEvents()
            await asyncio.sleep(0.005)


@pytest_asyncio.fixture
async def gallery(qtbot: QtBot, theme: Theme, tmp_path: Path) -> AsyncIterator[Gallery]:
    store = StubbornStore(tmp_path / "gallery")
    thumbnails = tmp_path / "thumbnails"
    thumbnails.mkdir()
    for number in range(3):
        made = add(store, prompt=f"Picture {number}")
        shutil.copyfile(store.path(made.id), thumbnails / f"{made.id}.png")
    pane = ImagePane(theme=theme, report=lambda _: "")
    qtbot.addWidget(pane)
    pane.resize(1000, 800)
    pane.show_workspace(True)
    pane.show()

    async def copied(picture: Path, thumbnail: Path) -> None:
        shutil.copyfile(picture, thumbnail)

    presenter = GalleryPresenter(
        pane=pane,
        store=store,
        thumbnails_dir=thumbnails,
        make_thumbnail=copied,
        choose_model=lambda _: None,
        ask=lambda _: None,
        on_count=lambda _: None,
        theme=theme,
    )
    shown = Gallery(pane, store)
    await until(lambda: len(shown.ids) == 3)
    yield shown
    pane.hide()
    await presenter.close()


async def test_what_was_deleted_comes_back_though_a_new_picture_was_made_meanwhile(
    gallery: Gallery,
) -> None:
    first, second, third = gallery.ids
    gallery.pane.delete_requested.emit((second,))
    await gallery.has(first, third)
    made = await asyncio.to_thread(add, gallery.store)
    gallery.store.announce()
    await until(lambda: made.id in gallery.ids)
    gallery.press("Undo")
    await until(lambda: second in gallery.ids)


async def test_one_that_cannot_be_deleted_leaves_the_way_back_to_the_others(
    gallery: Gallery,
) -> None:
    first, second, third = gallery.ids
    gallery.store.held = second
    gallery.pane.delete_requested.emit((first, second, third))
    await gallery.has(second, third)
    await until(lambda: gallery.says("It is in use."))
    assert gallery.says("Deleted 1 picture")
    gallery.press("Undo")
    await gallery.has(first, second, third)


async def test_one_that_cannot_be_brought_back_is_offered_again(gallery: Gallery) -> None:
    first, second, third = gallery.ids
    gallery.pane.delete_requested.emit((first, second))
    await gallery.has(third)
    gallery.store.held = first
    gallery.press("Undo")
    await gallery.has(second, third)
    gallery.store.held = ""
    await until(lambda: gallery.says("Deleted 1 picture"))
    gallery.press("Undo")
    await gallery.has(first, second, third)


@pytest.mark.parametrize("leaves_by", ["the same picture", "the gallery"])
async def test_comparing_says_what_it_waits_for_and_is_left_without_a_trace(
    gallery: Gallery, leaves_by: str
) -> None:
    first, second, _ = gallery.ids
    pane = gallery.pane
    pane.grid.opened.emit(first)
    gallery.press("Compare…")
    assert gallery.says("Choose the one to put beside it")
    if leaves_by == "the same picture":
        pane.grid.opened.emit(first)
    else:
        pane.result.back_requested.emit()
    pane.grid.opened.emit(second)
    assert pane.view is View.RESULT
    pane.result.back_requested.emit()
    assert gallery.says("3 pictures")


async def test_making_again_says_that_the_picture_it_began_with_is_missing(
    gallery: Gallery,
) -> None:
    begun = await asyncio.to_thread(add, gallery.store, strength=0.6)  # type: ignore[arg-type]
    gallery.store.announce()
    await until(lambda: begun.id in gallery.ids)
    gallery.pane.grid.opened.emit(begun.id)
    gallery.press("Make again")
    assert gallery.says("It began with a picture that is not in the gallery.")
    gallery.pane.grid.opened.emit(gallery.ids[1])
    gallery.press("Make again")
    assert not gallery.says("It began with a picture")
