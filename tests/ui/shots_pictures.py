"""Draws the chat page with pictures, and the full view, to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_pictures [--scale 1.5] FOLDER [WORD …]

Only the shots whose names contain one of the words are drawn; those of the page are also among
the shots of `shots_shell`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QLinearGradient, QPainter
from PySide6.QtWidgets import QApplication, QWidget

from dflash_desktop.domain.conversation import Message
from dflash_desktop.domain.generation import Role, TextOrigin, TextRun
from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.services.picture_problems import picture_problem
from dflash_desktop.ui.chat.pane import ChatPane
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.pictures.attachment_card import AttachmentState
from dflash_desktop.ui.pictures.attachments import PREPARING
from dflash_desktop.ui.pictures.pixels import colour_space_of, read_levels
from dflash_desktop.ui.pictures.shown_picture import picture_caption, picture_facts, shown_picture
from dflash_desktop.ui.pictures.viewer import PictureViewer
from tests.ui.picture_values import FolderOfPictures, picture
from tests.ui.shots import ANSWER_MESSAGE, MODEL, VERDICT, pump, ready
from tests.ui.shots_shell import NARROW, Shots

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.pictures import Picture
    from dflash_desktop.ui.main_window import MainWindow
    from dflash_desktop.ui.theme import Theme

STREET = replace(
    picture(
        "IMG_20250719_153012.jpg",
        width=2048,
        height=1365,
        notes=("Its colours were converted from “Display P3” to sRGB.",),
    ),
    original_width=6000,
    original_height=4000,
    alt_text="A street after rain, seen from a window",
)
CHART = picture("chart with transparent background, final version (2).png", width=900, height=420)
TALL = picture("receipt.webp", width=420, height=1400, notes=("The first of 12 frames.",))
GONE = picture("deleted.png", width=800, height=600)
ALL = (STREET, CHART, TALL)


def paint(files: FolderOfPictures, made: Picture, top: str, bottom: str) -> None:
    """Something that looks like a picture: a sky, a sun, hills."""
    image = QImage(made.width, made.height, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    sky = QLinearGradient(QPointF(0, 0), QPointF(0, made.height))
    sky.setColorAt(0, QColor(top))
    sky.setColorAt(1, QColor("white"))
    painter.fillRect(image.rect(), sky)
    painter.setPen(QColor(0, 0, 0, 0))
    painter.setBrush(QColor("#FFD166"))
    side = min(made.width, made.height)
    painter.drawEllipse(QPointF(made.width * 0.7, made.height * 0.3), side * 0.12, side * 0.12)
    painter.setBrush(QColor(bottom))
    for share, drop in ((0.1, 0.0), (0.55, 0.12), (0.9, 0.04)):
        area = QRectF(0, 0, made.width * 0.9, made.height * 0.9)
        area.moveCenter(QPointF(made.width * share, made.height * (1.05 + drop)))
        painter.drawEllipse(area)
    painter.end()
    files.folder.mkdir(parents=True, exist_ok=True)
    image.save(str(files.path(made)))


def card(files: FolderOfPictures, key: int, made: Picture) -> AttachmentState:
    """As `Attachments` makes it."""
    facts, small = picture_facts(made), files.thumbnail(made)
    return AttachmentState(key, made.title, picture_caption(made), facts, small)


def attach(pane: ChatPane, files: FolderOfPictures, *, preparing: bool = False) -> None:
    states = [card(files, key, made) for key, made in enumerate(ALL)]
    if preparing:
        states.append(AttachmentState(9, "IMG_20250719_160000.HEIC", PREPARING))
    pane.composer.attachments.show_attachments(tuple(states))
    pane.show_pictures(len(states), is_preparing=preparing)


def attached(pane: ChatPane, files: FolderOfPictures) -> None:
    attach(pane, files)
    pane.composer._field.setPlainText("What do these three have in common?")


def preparing(pane: ChatPane, files: FolderOfPictures) -> None:
    attach(pane, files, preparing=True)


def many(pane: ChatPane, files: FolderOfPictures) -> None:
    states = tuple(card(files, key, ALL[key % 3]) for key in range(10))
    pane.composer.attachments.show_attachments(states)
    pane.show_pictures(10, is_preparing=False)


def no_sight(pane: ChatPane, files: FolderOfPictures) -> None:
    attached(pane, files)
    pane.show_model(MODEL, "", sees_pictures=False)


def refused(pane: ChatPane, files: FolderOfPictures) -> None:
    attach(pane, files)
    facts = {"width": 13_500, "height": 13_500, "max_pixels": 92_000_000}
    pane.show_problem(
        picture_problem("picture_too_large", title="map.png", raw="", facts=facts, words={})
    )


def sent(pane: ChatPane, files: FolderOfPictures) -> None:
    pane.show_question(Message(Role.USER, "What do these have in common?", pictures=(*ALL, GONE)))
    pane.begin_answer(MODEL)
    stats = ANSWER_MESSAGE.stats
    assert stats is not None
    pictured = replace(stats, prompt_tokens=2310, picture_tokens=2204, picture_seconds=1.87)
    text = "A sky, a sun and hills in each of them."
    pane.append((TextRun(text, TextOrigin.TARGET, 1),), "", pictured)
    pane.finish_answer(replace(ANSWER_MESSAGE, stats=pictured, text=text), VERDICT)


def only_picture(pane: ChatPane, files: FolderOfPictures) -> None:
    pane.show_question(Message(Role.USER, "", pictures=(STREET,)))
    pane.begin_answer(MODEL)


def dropping(pane: ChatPane, files: FolderOfPictures) -> None:
    sent(pane, files)
    pane._drop_sheet.show_over(("/home/ada/Pictures/IMG_20250719_153012.jpg",))


STATES: dict[str, Callable[[ChatPane, FolderOfPictures], None]] = {
    "attached": attached,
    "preparing": preparing,
    "many": many,
    "no-sight": no_sight,
    "refused": refused,
    "sent": sent,
    "only-picture": only_picture,
    "dropping": dropping,
}


def take_pictures(shots: Shots) -> None:
    """The states of the chat page that have pictures."""
    with TemporaryDirectory() as where:
        files = painted(Path(where))
        for size, prefix in (((1180, 760), ""), (NARROW, "narrow-")):
            for name, show in STATES.items():
                shots.take(
                    f"{prefix}pictures-{name}",
                    partial(_arrange, show, files),
                    partial(_pane, shots.theme, files),
                    size=size,
                )


def _pane(theme: Theme, files: FolderOfPictures) -> QWidget:
    pane = ChatPane(theme=theme, report=lambda problem: problem.headline, picture_files=files)
    ready(pane)
    pane.show_model(MODEL, "", sees_pictures=True)
    return pane


def _arrange(
    show: Callable[[ChatPane, FolderOfPictures], None],
    files: FolderOfPictures,
    window: MainWindow,
) -> None:
    pane = window.page_widget(Page.CHAT)
    assert isinstance(pane, ChatPane)
    window.show()
    pump(0.05, pane)
    show(pane, files)
    pump(0.3, pane)


def painted(folder: Path) -> FolderOfPictures:
    """The files of all pictures but the one that is gone."""
    files = FolderOfPictures(folder)
    paint(files, STREET, "#3A86C8", "#2F6B3C")
    paint(files, CHART, "#8D6BB8", "#274060")
    paint(files, TALL, "#E07A5F", "#3D405B")
    return files


VIEWS = {"fit": STREET, "zoomed": STREET, "tall": TALL, "gone": GONE}


def shoot_viewer(files: FolderOfPictures, theme: Theme, name: str, target: Path) -> None:
    """The full view is a window of its own."""
    window = QWidget()
    window.show()
    viewer = PictureViewer(theme=theme, parent=window)
    shown = shown_picture(VIEWS[name], files)
    viewer.show_place((shown, shown), 0, edits_alt_text=name in ("fit", "gone"))
    viewer.resize(1180, 760)
    viewer.show()
    QApplication.processEvents()
    viewer.canvas.setFocus()
    viewer.show_levels(read_levels(shown.path, colour_space_of(viewer)))
    if name == "zoomed":
        viewer.canvas.zoom(20, QPointF(QPoint(760, 230)))
    QApplication.processEvents()
    viewer.grab().save(str(target))
    for widget in (viewer, window):
        widget.close()
        widget.deleteLater()
    QApplication.processEvents()


def main() -> None:
    """Shoot everything in light and dark."""
    folder, words = Path(sys.argv[1] if len(sys.argv) > 1 else "shots"), sys.argv[2:]
    shots = Shots(folder, words)
    take_pictures(shots)
    with TemporaryDirectory() as where:
        files = painted(Path(where))
        for choice in (ThemeChoice.LIGHT, ThemeChoice.DARK):
            shots.theme.choose(choice)
            for name in VIEWS:
                if not words or any(word in f"view-{name}" for word in words):
                    target = folder / f"view-{name}-{choice.value}.png"
                    shoot_viewer(files, shots.theme, name, target)


if __name__ == "__main__":
    main()
