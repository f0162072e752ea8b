"""Coroutines that belong to a widget: kept alive, cancelled with it, their errors routed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import AppError, CancelledByPersonError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from PySide6.QtCore import QObject

    from dflash_desktop.domain.problems import Problem


class TaskScope:
    """Starts coroutines for one owner and is responsible for them until they end.

    An `AppError` goes to `on_problem`; what the person cancelled is silent; anything else is a
    bug and goes to the event loop's exception handler, where the application reports it.
    """

    def __init__(self, *, owner: QObject, on_problem: Callable[[Problem], None]) -> None:
        self._on_problem = on_problem
        # asyncio itself keeps only weak references to tasks.
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_closed = False
        owner.destroyed.connect(self.close)

    @property
    def is_busy(self) -> bool:
        """Whether something that was started has not ended."""
        return bool(self._tasks)

    def start(self, work: Coroutine[object, object, None]) -> None:
        """Run `work` on the running event loop; after `close` it is dropped unrun."""
        if self._is_closed:
            work.close()
            return
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def cancel_all(self) -> None:
        """Cancel what runs; new work may be started."""
        for task in self._tasks:
            task.cancel()

    def close(self) -> None:
        """Cancel what runs and start nothing more: the owner goes away."""
        self._is_closed = True
        self.cancel_all()

    async def wait(self) -> None:
        """Return when everything that was started has ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        match task.exception():
            case None | CancelledByPersonError():
                pass
            case AppError(problem=problem):
                if not self._is_closed:
                    self._on_problem(problem)
            case error:
                task.get_loop().call_exception_handler(
                    {"message": "a task of the window failed", "exception": error, "task": task}
                )
