"""What the system or another start of the program wants opened: looked at, then offered."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from dflash_desktop.app.single_window import Listener
from dflash_desktop.services.opened_path import opened_of
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.problems import Remedy
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.opened_path import Opened
    from dflash_desktop.ui.main_window import MainWindow


class Openings:
    """Brings the window to the front and offers what was handed over, all of it at once.

    `take(remedy, paths)` leads to where these can be used.

    Nothing is opened without the person's click: anybody with this person's rights may ask.
    """

    def __init__(
        self,
        *,
        window: MainWindow,
        paths: AppPaths,
        take: Callable[[Remedy, tuple[Path, ...]], None],
        listens: bool,
    ) -> None:
        self._window = window
        self._paths = paths
        self._take = take
        self._listens = listens
        self._offered: Opened | None = None
        self._tasks = TaskScope(owner=window, on_problem=window.show_problem)
        self._listener = Listener(window)
        self._listener.opened.connect(self._on_opened)

    @property
    def is_listening(self) -> bool:
        """Whether later starts are heard."""
        return self._listener.is_listening

    def begin(self, files: tuple[str, ...]) -> None:
        """Offer what this start was asked to open, and hear later starts."""
        if self._listens:
            self._listener.listen(self._paths)
        if files:
            self._offer(files)

    def take_way_out(self, remedy: Remedy) -> bool:
        """Take what was offered, if that is what the person chose, and offer the rest again."""
        paths = () if self._offered is None else self._offered.ways.get(remedy, ())
        if self._offered is None or not paths:
            return False
        self._offered = self._offered.without(remedy)
        self._take(remedy, paths)
        if self._offered is not None:
            self._window.show_problem(self._offered.problem)
        return True

    async def close(self) -> None:
        """Hear nobody any more."""
        self._listener.close()
        self._tasks.close()
        await self._tasks.wait()

    def _on_opened(self, files: tuple[str, ...]) -> None:
        window = self._window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()
        if files:
            self._offer(files)

    def _offer(self, files: tuple[str, ...]) -> None:
        self._tasks.start(self._look_and_offer(files))

    async def _look_and_offer(self, files: tuple[str, ...]) -> None:
        self._offered = await asyncio.to_thread(opened_of, files)
        self._window.show_problem(self._offered.problem)
