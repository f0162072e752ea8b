"""Installs, repairs and removes the tools of exports, and keeps what is shown of them true."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.ui.export.environment_words import progress_numbers
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from dflash_desktop.domain.export_environment import EnvironmentProgress, EnvironmentStatus
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.export.environment_card import EnvironmentCard
    from dflash_desktop.ui.export.environments_view import EnvironmentsView


class Environments(Protocol):
    """What this page asks of the environments of exports."""

    def status(self) -> tuple[EnvironmentStatus, ...]:
        """All that there are, installed or not. Blocking. Raises `AppError`."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the answer ends that."""

    async def install(
        self, environment_id: str, report: Callable[[EnvironmentProgress], None]
    ) -> None:
        """Make it, or bring it up to date. Raises `AppError`."""

    async def repair(
        self, environment_id: str, report: Callable[[EnvironmentProgress], None]
    ) -> None:
        """Mend it. Raises `AppError`."""

    async def remove(self, environment_id: str) -> None:
        """Take it off the disk. Raises `AppError`."""


class EnvironmentsPresenter:
    """`on_remedy` takes the ways out that lead away from this page."""

    def __init__(
        self,
        *,
        view: EnvironmentsView,
        environments: Environments,
        on_remedy: Callable[[Remedy], None],
    ) -> None:
        self._view = view
        self._environments = environments
        self._on_remedy = on_remedy
        self._looks = TaskScope(owner=view, on_problem=view.show_problem)
        self._work: dict[str, TaskScope] = {}
        self._last: dict[str, Callable[[], None]] = {}
        self._end = environments.subscribe(self.refresh)
        view.install_requested.connect(self._install)
        view.repair_requested.connect(self._repair)
        view.remove_requested.connect(self._remove)
        view.cancelled.connect(lambda i: self._scope(i).cancel_all())
        view.remedy_chosen.connect(self._take_remedy)
        self.refresh()

    def refresh(self) -> None:
        """Show them as they are now."""
        self._looks.cancel_all()
        self._looks.start(self._look())

    async def close(self) -> None:
        """Stop what is being done, which can go on later, and wait for that."""
        self._end()
        for scope in (self._looks, *self._work.values()):
            scope.close()
            await scope.wait()

    async def _look(self) -> None:
        self._view.show_environments(await asyncio.to_thread(self._environments.status))

    def _install(self, environment_id: str) -> None:
        def report(progress: EnvironmentProgress) -> None:
            self._show_progress(environment_id, progress)

        self._begin(
            environment_id,
            "Preparing the installation",
            lambda: self._environments.install(environment_id, report),
        )

    def _repair(self, environment_id: str) -> None:
        def report(progress: EnvironmentProgress) -> None:
            self._show_progress(environment_id, progress)

        self._begin(
            environment_id,
            "Looking what is wrong",
            lambda: self._environments.repair(environment_id, report),
        )

    def _remove(self, environment_id: str) -> None:
        self._begin(environment_id, "Removing", lambda: self._environments.remove(environment_id))

    def _begin(
        self,
        environment_id: str,
        sentence: str,
        work: Callable[[], Coroutine[object, object, None]],
    ) -> None:
        scope, card = self._scope(environment_id), self._view.card(environment_id)
        if scope.is_busy or card is None:
            return
        self._last[environment_id] = lambda: self._begin(environment_id, sentence, work)
        card.show_progress(sentence, "", 0.0)
        scope.start(self._run(card, work))

    async def _run(
        self, card: EnvironmentCard, work: Callable[[], Coroutine[object, object, None]]
    ) -> None:
        try:
            await work()
        finally:
            card.show_idle()
            self.refresh()

    def _show_progress(self, environment_id: str, progress: EnvironmentProgress) -> None:
        card = self._view.card(environment_id)
        if card is not None:
            share = progress.done_bytes / progress.total_bytes if progress.total_bytes else 0.0
            numbers = progress_numbers(progress.done_bytes, progress.total_bytes)
            card.show_progress(progress.sentence, numbers, share)

    def _scope(self, environment_id: str) -> TaskScope:
        """Each has its own, since two may be installed side by side."""
        if environment_id not in self._work:

            def show(problem: Problem) -> None:
                card = self._view.card(environment_id)
                if card is not None:
                    card.show_problem(problem)

            self._work[environment_id] = TaskScope(owner=self._view, on_problem=show)
        return self._work[environment_id]

    def _take_remedy(self, environment_id: str, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY and environment_id in self._last:
            self._last[environment_id]()
        else:
            self._on_remedy(remedy)
