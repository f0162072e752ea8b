"""Small pictures of the gallery: read a few at a time, made in the background where missing."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import suppress
from time import perf_counter
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QTimer, Signal

from dflash_desktop.domain.problems import AppError
from dflash_desktop.ui.pictures.pixels import thumbnail_pixmap
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from PySide6.QtGui import QPixmap
    from PySide6.QtWidgets import QWidget

_MOST_KEPT: Final = 600
"""At 150 px and 200 % they take 200 MB; what is scrolled away is read again in a millisecond."""
_READING_SECONDS: Final = 0.006
"""In one turn of the window's loop; the rest waits for the next, so that scrolling never halts."""


class ThumbnailShelf(QObject):
    """`make(picture, thumbnail)` reduces a picture, in another process.

    What was asked for last is read first: that is what is in view. Signals: `arrived(id)`.
    """

    arrived = Signal(str)

    def __init__(
        self,
        *,
        widget: QWidget,
        side_px: int,
        folder: Path,
        make: Callable[[Path, Path], Awaitable[None]],
    ) -> None:
        super().__init__(widget)
        self._widget = widget
        self._side_px = side_px
        self._folder = folder
        self._make = make
        self._kept: OrderedDict[str, QPixmap] = OrderedDict()
        self._ratio = 0.0
        self._wanted: OrderedDict[str, Path] = OrderedDict()
        self._missing: OrderedDict[str, Path] = OrderedDict()
        self._broken: set[str] = set()
        self._turn = QTimer(self)
        self._turn.setSingleShot(True)
        self._turn.setInterval(0)
        self._turn.timeout.connect(self._read_some)
        self._tasks = TaskScope(owner=self, on_problem=lambda _: None)

    def pixmap(self, picture_id: str, path: Path) -> QPixmap | None:
        """The small picture, or None until `arrived` tells of it."""
        ratio = self._widget.devicePixelRatioF()
        if ratio != self._ratio:  # moved to another screen
            self._ratio = ratio
            self._kept.clear()
        found = self._kept.get(picture_id)
        if found is not None:
            self._kept.move_to_end(picture_id)
            return found
        if picture_id not in self._broken:
            self._wanted[picture_id] = path
            self._wanted.move_to_end(picture_id)
            self._turn.start()
        return None

    def is_broken(self, picture_id: str) -> bool:
        """Whether there is nothing to be drawn of it."""
        return picture_id in self._broken

    def thumbnail(self, picture_id: str) -> Path:
        """The file of a small picture; it may not be there."""
        return self._folder / f"{picture_id}.png"

    async def forget_others(self, ids: set[str]) -> None:
        """Remove the small pictures of what is no longer in the gallery."""
        await asyncio.to_thread(_remove_others, self._folder, ids)

    async def close(self) -> None:
        """Make no more, and wait for the one that is being made."""
        self._turn.stop()
        self._tasks.close()
        await self._tasks.wait()

    def _read_some(self) -> None:
        until = perf_counter() + _READING_SECONDS
        while self._wanted and perf_counter() < until:
            picture_id, path = self._wanted.popitem(last=True)
            self._read(picture_id, path)
        if self._wanted:
            self._turn.start()

    def _read(self, picture_id: str, path: Path) -> None:
        pixmap = thumbnail_pixmap(self.thumbnail(picture_id), self._side_px, widget=self._widget)
        if pixmap.isNull():
            is_first = not self._missing
            self._missing[picture_id] = path
            if is_first:
                self._tasks.start(self._make_missing())
            return
        self._keep(picture_id, pixmap)

    def _keep(self, picture_id: str, pixmap: QPixmap) -> None:
        self._kept[picture_id] = pixmap
        while len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        self.arrived.emit(picture_id)

    async def _make_missing(self) -> None:
        while self._missing:
            picture_id, path = next(reversed(self._missing.items()))
            thumbnail = self.thumbnail(picture_id)
            try:
                await self._make(path, thumbnail)
            except AppError:
                self._broken.add(picture_id)
            finally:
                self._missing.pop(picture_id, None)
            pixmap = thumbnail_pixmap(thumbnail, self._side_px, widget=self._widget)
            if pixmap.isNull():
                self._broken.add(picture_id)
                self.arrived.emit(picture_id)
            else:
                self._keep(picture_id, pixmap)


def _remove_others(folder: Path, ids: set[str]) -> None:
    for file in folder.glob("*.png"):
        if file.stem not in ids:
            with suppress(OSError):  # another window made or removed it
                file.unlink()
