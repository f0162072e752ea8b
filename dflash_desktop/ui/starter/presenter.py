"""Runs the installation of the starter model for its page."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.domain.starter import StarterState
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.starter import InstallProgress, StarterStatus
    from dflash_desktop.ui.starter.pane import StarterPane

NEEDS_A_FILE = "starter_needs_file"
"""After this problem the page explains how to bring the file by hand."""


class StarterInstall(Protocol):
    """What this page asks of the starter pair."""

    def status(self) -> StarterStatus:
        """How far it is installed."""

    def install(self, *, file: Path | None = None) -> AsyncGenerator[InstallProgress]:
        """Install it, from `file` if one is given; closing the iterator cancels."""


class StarterPresenter:
    """`on_change` is called after the starter pair became ready, or an installation ended."""

    def __init__(
        self,
        *,
        pane: StarterPane,
        starter: StarterInstall,
        on_change: Callable[[], None],
    ) -> None:
        self._pane = pane
        self._starter = starter
        self._on_change = on_change
        self._tasks = TaskScope(owner=pane, on_problem=self._show_problem)
        self._is_closing = False
        pane.get_requested.connect(self.install)
        pane.file_chosen.connect(lambda path: self.install(Path(path)))
        pane.cancel_requested.connect(self._tasks.cancel_all)
        pane.remedy_chosen.connect(self._on_remedy_chosen)

    @property
    def is_installing(self) -> bool:
        """Whether an installation runs."""
        return self._tasks.is_busy

    def refresh(self) -> None:
        """Show what the disk says now, unless an installation runs."""
        if not self._tasks.is_busy:
            self._show_status(None)

    def install(self, file: Path | None = None) -> None:
        """Start an installation, unless one runs."""
        if not self._tasks.is_busy:
            self._tasks.start(self._install(file))

    async def close(self) -> None:
        """Cancel and wait until nothing runs any more."""
        self._is_closing = True
        self._tasks.close()
        await self._tasks.wait()

    async def _install(self, file: Path | None) -> None:
        try:
            async with aclosing(self._starter.install(file=file)) as reports:
                async for progress in reports:
                    self._pane.show_progress(progress)
        except AppError as error:
            self._show_problem(error.problem)
        except asyncio.CancelledError:
            if not self._is_closing:
                self._show_status(None)
            raise
        else:
            self._show_status(None)
        finally:
            self._on_change()

    def _show_status(self, problem: Problem | None) -> None:
        status = self._starter.status()
        if status.state is StarterState.READY:
            self._pane.show_ready(status.tokens_per_step)
        else:
            self._pane.show_offer(is_repair=status.state is StarterState.BROKEN, problem=problem)

    def _show_problem(self, problem: Problem) -> None:
        if problem.code == NEEDS_A_FILE:
            self._pane.show_offline(problem)
        else:
            self._show_status(problem)

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        if remedy is Remedy.CHOOSE_FILE:
            self._pane.choose_file()
        elif remedy is Remedy.CHOOSE_MODEL:
            self._pane.own_pair_requested.emit()
        elif remedy is Remedy.OPEN_LOG:
            self._pane.log_requested.emit()
        else:  # each installation starts an engine anew, so nothing else is left to do
            self.install()
