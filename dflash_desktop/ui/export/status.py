"""What the window's frame says of exports while one looks at another page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from dflash_desktop.ui.export.run_words import OVER, status_words
from dflash_desktop.ui.pages import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_run import ExportRun
    from dflash_desktop.ui.sidebar import Sidebar
    from dflash_desktop.ui.status_line import StatusLine


class Runs(Protocol):
    """What is asked of the exports."""

    def runs(self) -> tuple[ExportRun, ...]:
        """All of them."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the answer ends that."""


class ExportStatus:
    """Shows how many are open beside the page's name, and where the one is that runs."""

    def __init__(self, *, sidebar: Sidebar, status_line: StatusLine, exports: Runs) -> None:
        self._sidebar = sidebar
        self._status_line = status_line
        self._exports = exports
        self._shown = (0, "")
        self._end = exports.subscribe(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Look again; the log grows many times a second, and these words change seldom."""
        runs = self._exports.runs()
        shown = (sum(run.state not in OVER for run in runs), status_words(runs))
        if shown != self._shown:
            self._shown = shown
            self._sidebar.show_count(Page.EXPORT, shown[0])
            self._status_line.show_work(shown[1])

    async def close(self) -> None:
        """Look no more."""
        self._end()
