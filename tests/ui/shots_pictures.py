"""Draws the chat page with pictures, and the full view, to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_pictures [--scale 1.5] FOLDER [WORD …]

Only the shots whose names contain one of the words are drawn.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if len(sys.argv) > 2 and sys.argv[1] == "--scale":
    os.environ["QT_SCALE_FACTOR"] = sys.argv[2]
    del sys.argv[1:3]

from PySide6.QtCore import QPoint, QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QLinearGradient, QPainter
from PySide6.QtWidgets import QApplication, QWidget

from dflash_desktop.domain.conversation import Message
from dflash_desktop.domain.generation import Role, TextOrigin, TextRun
from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.services.picture_problems import picture_problem
from dflash_desktop.ui.chat.pane import ChatPane
from dflash_desktop.ui.pictures.attachment_card import AttachmentState
from dflash_desktop.ui.pictures.attachments import PREPARING
from dflash_desktop.ui.pictures.pixels import colour_space_of, read_levels
from dflash_desktop.ui.pictures.shown_picture import picture_caption, picture_facts, shown_picture
from dflash_desktop.ui.pictures.viewer import PictureViewer
from dflash_desktop.ui.theme import Theme
from tests.ui.picture_values import FolderOfPictures, picture
from tests.ui.shots import ANSWER_MESSAGE, MODEL, VERDICT, pump, ready

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.pictures import Picture

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


def shoot_pane(files: FolderOfPictures, theme: Theme, state: str, target: Path) -> None:
    for name, size in {"": (1180, 760), "-narrow": (720, 620)}.items():
        pane = ChatPane(theme=theme, report=lambda problem: problem.headline, picture_files=files)
        pane.setProperty("surface", "page")
        pane.resize(*size)
        pane.show()
        ready(pane)
        pane.show_model(MODEL, "", sees_pictures=True)
        pump(0.05, pane)
        STATES[state](pane, files)
        pump(0.4, pane)
        pane.grab().save(str(target.with_name(f"{state}{name}{target.name}")))
        _end(pane)


def shoot_viewer(files: FolderOfPictures, theme: Theme, state: str, target: Path) -> None:
    window = QWidget()
    window.resize(1180, 760)
    window.show()
    viewer = PictureViewer(theme=theme, parent=window)
    made = {"view-fit": STREET, "view-zoomed": STREET, "view-tall": TALL, "view-gone": GONE}[state]
    shown = shown_picture(made, files)
    viewer.show_place((shown, shown), 0, edits_alt_text=state in ("view-fit", "view-gone"))
    viewer.resize(1180, 760)
    viewer.show()
    QApplication.processEvents()
    levels = read_levels(shown.path, colour_space_of(viewer))
    viewer.show_levels(levels)
    if state == "view-zoomed":
        viewer.canvas.zoom(20, QPointF(QPoint(760, 230)))
    QApplication.processEvents()
    viewer.grab().save(str(target.with_name(f"{state}{target.name}")))
    _end(viewer)
    _end(window)


def _end(widget: QWidget) -> None:
    widget.close()
    widget.deleteLater()
    QApplication.processEvents()


def main() -> None:
    """Shoot everything in light and dark."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    words = sys.argv[2:]
    theme = Theme(QApplication(sys.argv[:1]))
    percent = f"{float(os.environ.get('QT_SCALE_FACTOR', '1')) * 100:.0f}"
    with TemporaryDirectory() as where:
        files = FolderOfPictures(Path(where))
        paint(files, STREET, "#3A86C8", "#2F6B3C")
        paint(files, CHART, "#8D6BB8", "#274060")
        paint(files, TALL, "#E07A5F", "#3D405B")
        for choice in (ThemeChoice.LIGHT, ThemeChoice.DARK):
            theme.choose(choice)
            target = folder / f"-{choice.value}-{percent}.png"
            for state in STATES:
                if not words or any(word in state for word in words):
                    shoot_pane(files, theme, state, target)
            for state in ("view-fit", "view-zoomed", "view-tall", "view-gone"):
                if not words or any(word in state for word in words):
                    shoot_viewer(files, theme, state, target)


if __name__ == "__main__":
    main()
