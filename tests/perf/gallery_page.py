"""How long a gallery of a thousand pictures takes to open, and how smoothly it scrolls.

Run: python -m tests.perf.gallery_page [--pictures 1000] [--json]

Settings and thumbnails are made anew, 256 px each as the program keeps them. Opening is the first
reading of the folder, the grid built and painted, and every thumbnail in view drawn; scrolling
goes through all of it a third of a page at a time. Drawn offscreen unless QT_QPA_PLATFORM says
otherwise.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from dflash_desktop.services.gallery_store import GalleryStore
from dflash_desktop.services.png_file import png_bytes
from dflash_desktop.services.safe_json import encode_json
from dflash_desktop.ui.image.gallery_grid import THUMBNAIL_PX, GalleryGrid
from dflash_desktop.ui.image.thumbnail_shelf import ThumbnailShelf
from dflash_desktop.ui.theme import Theme
from tests.perf.report import Measured, show
from tests.ui.image_values import made, painting

BAR_OPEN_MS = 300.0
BAR_STALL_MS = 33.0
KINDS = 12
"""So many different thumbnails, since painting a thousand takes a minute."""


def fill(folder: Path, thumbnails: Path, count: int) -> None:
    """Settings, pictures (small ones: they are not read) and thumbnails."""
    thumbnails.mkdir()
    small = png_bytes(painting(8, 8, 0), {})
    kinds = [png_bytes(painting(256, 256, number), {}) for number in range(KINDS)]
    for number in range(count):
        picture = made(number)
        (folder / f"{picture.id}.png").write_bytes(small)
        content = encode_json({"version": 1, "picture": picture})
        (folder / f"{picture.id}.json").write_bytes(content)
        (thumbnails / f"{picture.id}.png").write_bytes(kinds[number % KINDS])


async def _make_none(picture: Path, thumbnail: Path) -> None:
    """Nothing is missing."""


class Looked:
    """The grid, and how long each turn of the window's loop took."""

    def __init__(self, app: QApplication, thumbnails: Path) -> None:
        self._app = app
        self.grid = GalleryGrid(theme=Theme(app))
        self.grid.resize(900, 700)
        self.shelf = ThumbnailShelf(
            widget=self.grid.viewport(),
            side_px=THUMBNAIL_PX,
            folder=thumbnails,
            make=_make_none,
        )
        self.grid.use_shelf(self.shelf)
        self.turns: list[float] = []

    def turn(self) -> None:
        """One turn, timed."""
        started = time.perf_counter()
        self._app.processEvents()
        self.turns.append(time.perf_counter() - started)

    def is_drawn(self) -> bool:
        """Whether every picture in view is."""
        area = self.grid.viewport().rect()
        places = range(0, area.height(), THUMBNAIL_PX // 2)
        for y in places:
            for x in range(0, area.width(), THUMBNAIL_PX // 2):
                entry = self.grid.pictures.entry(self.grid.indexAt(QPoint(x, y)))
                if entry is not None and self.shelf.pixmap(entry.id, entry.path) is None:
                    return False
        return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    app = QApplication(sys.argv[:1])
    loop = qasync.QEventLoop(app)
    root = Path(tempfile.mkdtemp())
    try:
        fill(root, root / "thumbnails", args.pictures)
        rows = measured(app, root)
    finally:
        shutil.rmtree(root)
        loop.close()
    return show(f"A gallery of {args.pictures} pictures", rows, as_json=args.json)


def measured(app: QApplication, root: Path) -> list[Measured]:
    """Open it, then scroll through all of it."""
    warm = Looked(app, root / "thumbnails")  # fonts, styles and plugins are read once a program
    warm.grid.show()
    warm.turn()
    warm.grid.hide()
    looked = Looked(app, root / "thumbnails")
    store = GalleryStore(root)
    started = time.perf_counter()
    entries = store.list()
    listed = time.perf_counter()
    looked.grid.pictures.show_entries(entries)
    looked.grid.show()
    looked.turn()
    painted = time.perf_counter()
    while not looked.is_drawn():
        looked.turn()
    drawn = time.perf_counter()
    looked.turns.clear()
    bar = looked.grid.verticalScrollBar()
    while bar.value() < bar.maximum():
        bar.setValue(bar.value() + looked.grid.viewport().height() // 3)
        for _ in range(4):
            looked.turn()
    return [
        Measured("read from the disk", (listed - started) * 1000, "ms"),
        Measured("read, built and painted", (painted - started) * 1000, "ms", BAR_OPEN_MS),
        Measured("with every thumbnail in view", (drawn - started) * 1000, "ms", BAR_OPEN_MS),
        Measured("worst stall while scrolling", max(looked.turns) * 1000, "ms", BAR_STALL_MS),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
