"""The full view: the next picture, the keys, what is on it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QWidget

from dflash_desktop.ui.pictures.shown_picture import ShownPicture, shown_picture
from dflash_desktop.ui.pictures.viewer import PictureViewer
from tests.fakes.engine import PATIENCE_SECONDS
from tests.ui.picture_values import FolderOfPictures, picture, write_picture

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflash_desktop.ui.theme import Theme

Keys = Qt.Key


@pytest.fixture
def pictures(tmp_path: Path) -> tuple[ShownPicture, ...]:
    files = FolderOfPictures(tmp_path)
    made = [picture("one.png", width=1600, height=900), picture("two.png"), picture("gone.png")]
    for one, colour in zip(made[:2], ("red", "green"), strict=True):
        write_picture(files, one, colour)
    return tuple(shown_picture(one, files) for one in made)


@pytest.fixture
def viewer(qapp: QApplication, theme: Theme) -> Iterator[PictureViewer]:
    window = QWidget()
    window.resize(800, 600)
    window.show()
    made = PictureViewer(theme=theme, parent=window)
    yield made
    window.deleteLater()
    qapp.processEvents()


async def loaded(viewer: PictureViewer) -> None:
    await asyncio.wait_for(viewer._loads.wait(), PATIENCE_SECONDS)
    QApplication.processEvents()


def words(viewer: PictureViewer) -> list[str]:
    return [label.text() for label in viewer.findChildren(QLabel) if label.isVisibleTo(viewer)]


async def test_keys_lead_from_one_picture_to_the_next(
    viewer: PictureViewer, pictures: tuple[ShownPicture, ...]
) -> None:
    viewer.open_at(pictures, 0)
    await loaded(viewer)
    assert {"one.png", "1 of 3", "The model sees 1,600 × 900 pixels."} <= set(words(viewer))
    for key, index in ((Keys.Key_Right, 1), (Keys.Key_End, 2), (Keys.Key_Right, 2)):
        QTest.keyClick(viewer, key)
        assert viewer.index == index
    await loaded(viewer)
    assert not viewer.canvas.has_picture
    assert "The file of this picture is missing or cannot be read." in words(viewer)
    for key, index in ((Keys.Key_Left, 1), (Keys.Key_Home, 0), (Keys.Key_Left, 0)):
        QTest.keyClick(viewer, key)
        assert viewer.index == index
    await loaded(viewer)
    viewer.reject()


async def test_keys_zoom_and_escape_closes(
    viewer: PictureViewer, pictures: tuple[ShownPicture, ...]
) -> None:
    viewer.open_at(pictures, 0)
    await loaded(viewer)
    fitted = viewer.canvas.scale
    assert fitted < 1
    QTest.keyClick(viewer, Keys.Key_1)
    assert viewer.canvas.scale == 1
    QTest.keyClick(viewer, Keys.Key_Plus)
    assert viewer.canvas.scale == pytest.approx(1.25)
    QTest.keyClick(viewer, Keys.Key_Minus)
    QTest.keyClick(viewer, Keys.Key_0)
    assert viewer.canvas.scale == pytest.approx(fitted)
    assert viewer.canvas.is_fitted
    QTest.keyClick(viewer, Keys.Key_Return)
    assert viewer.isVisible()
    QTest.keyClick(viewer, Keys.Key_Escape)
    assert not viewer.isVisible()


async def test_a_description_is_written_for_the_picture_that_is_shown(
    viewer: PictureViewer, pictures: tuple[ShownPicture, ...]
) -> None:
    told: list[tuple[int, str]] = []
    viewer.alt_text_changed.connect(lambda index, text: told.append((index, text)))
    viewer.open_at(pictures, 1, edits_alt_text=True)
    field = viewer.findChild(QLineEdit)
    assert isinstance(field, QLineEdit)
    QTest.keyClicks(field, "a 1+1")  # the viewer's own keys are letters here
    assert told[-1] == (1, "a 1+1")
    assert viewer.index == 1
    QTest.keyClick(viewer.canvas, Keys.Key_Left)
    assert field.text() == ""
    QTest.keyClick(viewer.canvas, Keys.Key_Right)
    assert field.text() == "a 1+1"
    await loaded(viewer)
    viewer.reject()


async def test_a_description_is_read_where_it_cannot_be_written(
    viewer: PictureViewer, pictures: tuple[ShownPicture, ...]
) -> None:
    described = ShownPicture(pictures[0].path, "one.png", "facts", "a red wall")
    viewer.open_at((described,), 0)
    await loaded(viewer)
    assert "a red wall" in words(viewer)
    assert "1 of 1" not in words(viewer)
    assert viewer.canvas.accessibleName() == "a red wall"
    viewer.reject()
