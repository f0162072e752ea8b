"""A gallery of a thousand pictures opens at once and scrolls without halts."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QPushButton

from dflash_desktop.ui.image.gallery_grid import THUMBNAIL_PX, GalleryGrid
from dflash_desktop.ui.image.mask_editor import MaskEditor
from dflash_desktop.ui.image.thumbnail_shelf import ThumbnailShelf
from tests.ui.image_values import entry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from dflash_desktop.ui.theme import Theme

COUNT = 1000


async def _make_none(picture: Path, thumbnail: Path) -> None:
    """Nothing is missing."""


@pytest.fixture
def thumbnails(tmp_path: Path) -> Path:
    image = QImage(256, 256, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.darkCyan)
    image.save(str(tmp_path / "one.png"))
    for number in range(COUNT):
        (tmp_path / f"p{number:04}.png").hardlink_to(tmp_path / "one.png")
    return tmp_path


@pytest.fixture
def grid(qtbot: QtBot, theme: Theme) -> GalleryGrid:
    grid = GalleryGrid(theme=theme)
    qtbot.addWidget(grid)
    grid.resize(900, 700)
    return grid


@pytest.fixture(autouse=True)
def shelf(grid: GalleryGrid, thumbnails: Path) -> ThumbnailShelf:
    shelf = ThumbnailShelf(
        widget=grid.viewport(), side_px=THUMBNAIL_PX, folder=thumbnails, make=_make_none
    )
    grid.use_shelf(shelf)
    return shelf


def turns(done: Callable[[], bool]) -> list[float]:
    """How long each turn of the window's loop took until something was done."""
    took: list[float] = []
    until = time.perf_counter() + 20
    while not done():
        assert time.perf_counter() < until
        started = time.perf_counter()
        QApplication.processEvents()
        took.append(time.perf_counter() - started)
    return took


def test_a_thousand_open_at_once_and_only_what_is_seen_is_read(
    grid: GalleryGrid, shelf: ThumbnailShelf
) -> None:
    arrived: list[str] = []
    shelf.arrived.connect(arrived.append)
    entries = tuple(entry(number) for number in range(COUNT))
    started = time.perf_counter()
    grid.pictures.show_entries(entries)
    grid.show()
    QApplication.processEvents()
    opened = time.perf_counter() - started
    in_view = 25
    turns(lambda: len(arrived) >= 15)
    assert opened < 1.0, "it took too long, also for a busy machine (60 ms here)"
    turns(lambda: grid.grab().width() > 0)
    assert len(set(arrived)) <= 2 * in_view

    grid.scrollToBottom()
    turns(lambda: "p0999" in arrived)
    assert len(set(arrived)) <= 4 * in_view, "pictures that were scrolled past were read"


def test_several_are_marked_and_one_is_opened(grid: GalleryGrid) -> None:
    opened: list[str] = []
    marked: list[tuple[str, ...]] = []
    grid.opened.connect(opened.append)
    grid.marked.connect(marked.append)
    grid.pictures.show_entries(tuple(entry(number) for number in range(5)))
    grid.show()
    model = grid.selectionModel()
    for row in (3, 1):
        model.select(grid.pictures.index(row, 0), model.SelectionFlag.Select)
    assert marked[-1] == ("p0001", "p0003")
    grid.clicked.emit(grid.pictures.index(1, 0))
    assert opened == []
    grid.choose("p0002")
    grid.clicked.emit(grid.pictures.index(2, 0))
    assert opened == ["p0002"]


def test_a_new_picture_on_top_keeps_the_others_in_place(grid: GalleryGrid) -> None:
    resets: list[bool] = []
    entries = tuple(entry(number) for number in range(50))
    grid.pictures.show_entries(entries[1:])
    grid.pictures.modelReset.connect(lambda: resets.append(True))
    grid.choose("p0030")
    grid.pictures.show_entries(entries)
    assert resets == []
    assert grid.currentIndex().row() == 30


def test_a_mask_is_white_where_it_was_painted(grid: GalleryGrid, theme: Theme) -> None:
    editor = MaskEditor(theme=theme, parent=grid)
    picture = QImage(200, 100, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.red)
    canvas = editor.canvas
    canvas.show_picture(picture)
    (done,) = [b for b in editor.findChildren(QPushButton) if b.text() == "Change this part"]
    assert not done.isEnabled()
    canvas.stroke(QPointF(50, 50), QPointF(150, 50), takes_away=False)
    canvas.stroke(QPointF(150, 50), QPointF(150, 50), takes_away=True)
    assert done.isEnabled()
    mask = QImage.fromData(canvas.png())
    assert mask.size() == picture.size()
    assert mask.pixelColor(60, 50).red() == 255
    assert mask.pixelColor(150, 50).red() == 0
    assert mask.pixelColor(199, 99).red() == 0
    canvas.invert()
    assert QImage.fromData(canvas.png()).pixelColor(60, 50).red() == 0
    canvas.undo()
    assert QImage.fromData(canvas.png()).pixelColor(60, 50).red() == 255


@pytest.mark.parametrize("width", [480, 597, 598, 599, 600, 700, 901])
def test_as_many_columns_as_fit_share_the_width(grid: GalleryGrid, width: int) -> None:
    grid.pictures.show_entries(tuple(entry(number) for number in range(40)))
    grid.resize(width, 500)
    grid.show()
    QApplication.processEvents()
    tops = [grid.visualRect(grid.pictures.index(row, 0)).top() for row in range(40)]
    columns = tops.count(tops[0])
    assert columns == (grid.viewport().width() - 1 + 12) // 160
