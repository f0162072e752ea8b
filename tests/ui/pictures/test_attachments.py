"""What is attached: prepared in turn, kept in order, described, taken and given back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton

from dflash_desktop.domain.pictures import MAX_PICTURES
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.ui.pictures.attachment_bar import AttachmentBar
from dflash_desktop.ui.pictures.attachments import Attachments
from dflash_desktop.ui.pictures.viewer import PictureViewer
from tests.exporting.checkpoints import write_checkpoint
from tests.fakes.engine import PATIENCE_SECONDS
from tests.ui.picture_values import FolderOfPictures, picture, write_picture

if TYPE_CHECKING:
    from pytestqt.qtbot import QtBot

    from dflash_desktop.domain.pictures import Picture
    from dflash_desktop.services.pictures import Pictures
    from dflash_desktop.ui.theme import Theme


class FakePictures:
    """Prepares what has a good name, when it is let."""

    def __init__(self, folder: Path) -> None:
        self.files = FolderOfPictures(folder)
        self.path, self.thumbnail = self.files.path, self.files.thumbnail
        self.may_go_on = asyncio.Event()
        self.may_go_on.set()
        self.sources: list[Path | bytes] = []

    async def prepare(self, source: Path | bytes, title: str = "") -> Picture:
        self.sources.append(source)
        await self.may_go_on.wait()
        if "bad" in title:
            raise AppError(Problem("picture_damaged", f"“{title}” is damaged.", "Try another."))
        if "bug" in title:
            raise RuntimeError("nobody thought of this")
        made = picture(title)
        write_picture(self.files, made, "green")
        return made

    async def warm_up(self) -> None:
        """Nothing to start."""


class Under:
    def __init__(self, folder: Path, bar: AttachmentBar, theme: Theme) -> None:
        self.pictures = FakePictures(folder)
        self.problems: list[Problem] = []
        self.led: list[tuple[Remedy, tuple[Path, ...]]] = []
        self.bar = bar
        fake: Pictures = self.pictures  # type: ignore[assignment]  # what attachments use of it
        self.attachments = Attachments(
            bar=bar,
            pictures=fake,
            theme=theme,
            on_problem=self.problems.append,
            lead=lambda *way: self.led.append(way),
        )

    async def attach(self, *names: str) -> None:
        self.attachments.attach_files(tuple(f"/pictures/{name}" for name in names))
        await self.done()

    async def done(self) -> None:
        await asyncio.wait_for(self.attachments._tasks.wait(), PATIENCE_SECONDS)
        QApplication.processEvents()

    @property
    def states(self) -> str:
        return "preparing" if self.attachments.is_preparing else "ready"

    @property
    def titles(self) -> list[str]:
        return [one.title for one in self.attachments.ready]

    @property
    def shown(self) -> list[str]:
        return [card._title.text() for card in self.bar.cards]


@pytest.fixture
def under(qtbot: QtBot, theme: Theme, tmp_path: Path) -> Under:
    bar = AttachmentBar(theme=theme)
    qtbot.addWidget(bar)
    bar.resize(700, 200)
    return Under(tmp_path, bar, theme)


async def test_pictures_are_prepared_in_their_order_and_shown_meanwhile(under: Under) -> None:
    under.pictures.may_go_on.clear()
    under.attachments.attach_files(("/a.png", "/b.png"))
    assert under.states == "preparing"
    assert under.shown == ["a.png", "b.png"]
    assert all(not card.thumbnail.isEnabled() for card in under.bar.cards)
    under.pictures.may_go_on.set()
    await under.done()
    assert under.states == "ready"
    assert under.titles == ["a.png", "b.png"]
    assert "64 × 48" in under.bar.cards[0]._caption.text()


async def test_what_cannot_be_read_is_told_once_and_the_rest_stays(under: Under) -> None:
    await under.attach("a.png", "bad1.png", "b.png", "bad2.png")
    assert under.titles == ["a.png", "b.png"]
    (problem,) = under.problems
    assert problem.headline == "“bad1.png” is damaged."
    assert "One more could not be attached" in problem.advice
    assert "bad2.png" in problem.detail


async def test_models_among_them_are_led_to_their_page_and_pictures_stay(
    under: Under, tmp_path: Path
) -> None:
    model, checkpoint = tmp_path / "model", write_checkpoint(tmp_path / "checkpoint", "text")
    model.mkdir()
    (model / "openvino_model.xml").write_text("<net/>", encoding="utf-8")
    under.attachments.attach_files((str(model), "/pictures/a.png", str(checkpoint)))
    await under.done()
    assert under.titles == ["a.png"]
    assert under.shown == ["a.png"]
    assert under.led == [(Remedy.ADD_MODEL, (model,)), (Remedy.EXPORT, (checkpoint,))]
    assert not under.problems


async def test_no_more_than_a_message_takes(under: Under) -> None:
    await under.attach(*(f"{number}.png" for number in range(MAX_PICTURES + 2)))
    assert len(under.titles) == MAX_PICTURES
    assert "2 pictures were left out" in under.problems[0].headline


async def test_the_keyboard_moves_and_removes(under: Under) -> None:
    await under.attach("a.png", "b.png", "c.png")
    under.bar.show()
    first = under.bar.cards[0].thumbnail
    QTest.keyClick(first, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert under.titles == ["b.png", "a.png", "c.png"] == under.shown
    QTest.keyClick(first, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(first, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert under.titles == ["a.png", "b.png", "c.png"]
    QTest.keyClick(first, Qt.Key.Key_Delete)
    assert under.titles == ["b.png", "c.png"]
    under.bar.cards[1].findChildren(QToolButton)[0].click()
    assert under.titles == ["b.png"]
    QTest.keyClick(under.bar.cards[0].thumbnail, Qt.Key.Key_Backspace)
    assert under.attachments.count == 0
    assert under.bar.isHidden()


async def test_a_card_is_dragged_to_another_place(under: Under) -> None:
    await under.attach("a.png", "b.png", "c.png")
    under.bar.show()
    QApplication.processEvents()
    card, over = under.bar.cards[0], under.bar.cards[2]
    here = card.rect().center()
    target = card.mapFromGlobal(over.mapToGlobal(over.rect().center()))
    QTest.mousePress(card, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, here)
    QTest.mouseMove(card, here + QPoint(40, 0))
    QTest.mouseMove(card, target)
    QTest.mouseRelease(card, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, target)
    assert under.titles == ["b.png", "c.png", "a.png"] == under.shown


async def test_one_that_is_removed_before_its_turn_is_never_read(under: Under) -> None:
    under.pictures.may_go_on.clear()
    under.attachments.attach_files(("/a.png", "/b.png"))
    await asyncio.sleep(0)
    under.bar.removed.emit(2)
    under.pictures.may_go_on.set()
    await under.done()
    assert under.titles == ["a.png"]
    assert under.pictures.sources == [Path("/a.png")]


async def test_a_message_takes_them_and_gives_them_back(under: Under) -> None:
    await under.attach("a.png", "b.png")
    taken = under.attachments.take()
    assert [one.title for one in taken] == ["a.png", "b.png"]
    assert under.attachments.count == 0
    await under.attach("c.png")
    under.attachments.restore(taken)
    assert under.titles == ["a.png", "b.png", "c.png"]
    under.attachments.restore(taken)
    assert len(under.titles) == 3


async def test_pixels_from_the_clipboard_become_a_file(under: Under) -> None:
    image = QImage(4, 4, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.red)
    under.attachments.attach_pasted(image)
    await under.done()
    under.attachments.attach_pasted(b"the bytes of a file")
    await under.done()
    first, second = under.pictures.sources
    assert isinstance(first, bytes)
    assert QImage.fromData(first).pixelColor(1, 1).name() == "#ff0000"
    assert second == b"the bytes of a file"
    assert under.titles == ["Pasted picture"] * 2


async def test_a_description_goes_with_the_picture(under: Under) -> None:
    await under.attach("a.png", "b.png")
    under.bar.show()
    under.bar.cards[1].thumbnail.click()
    (viewer,) = under.bar.window().findChildren(PictureViewer)
    assert viewer.index == 1
    viewer._alt.setText("")
    QTest.keyClicks(viewer._alt, "two dogs")
    assert [one.alt_text for one in under.attachments.ready] == ["", "two dogs"]
    await asyncio.wait_for(viewer._loads.wait(), PATIENCE_SECONDS)
    viewer.reject()


async def test_a_bug_leaves_nothing_behind_that_keeps_the_message_from_being_sent(
    under: Under,
) -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: told.append(what))
    await under.attach("one.png", "bug.png", "never.png")
    assert under.states == "ready"
    assert [one.title for one in under.attachments.ready] == ["one.png"]
    assert told
