"""Errors that nobody expected: written to the log, and shown instead of vanishing (case 91)."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from dflash_desktop.domain.problems import AppError, Problem, Remedy

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

_LOG = logging.getLogger(__name__)


class UnexpectedErrors(QObject):
    """Takes what slots, threads and coroutines let through; `show` runs in the window's thread.

    Signals: `_happened(Problem)`, queued, because errors come from any thread (case 92).
    """

    _happened = Signal(Problem)

    def __init__(self, *, show: Callable[[Problem], None], parent: QObject) -> None:
        super().__init__(parent)
        self._show = show
        self._happened.connect(self._on_happened, Qt.ConnectionType.QueuedConnection)

    def take_over(self, loop: asyncio.AbstractEventLoop) -> None:
        """Become the place where Python, its threads and the loop report errors."""
        sys.excepthook = self._on_exception
        threading.excepthook = self._on_thread_exception
        loop.set_exception_handler(self._on_loop_exception)

    def give_back(self) -> None:
        """Let Python report errors by itself again."""
        sys.excepthook = sys.__excepthook__
        threading.excepthook = threading.__excepthook__

    def _on_exception(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        if sys.stderr is not None:  # a program without a console has none
            sys.__excepthook__(kind, error, trace)
        if not issubclass(kind, KeyboardInterrupt):
            self._report(error)

    def _on_thread_exception(self, arguments: threading.ExceptHookArgs) -> None:
        if arguments.exc_value is not None:
            self._report(arguments.exc_value)

    def _on_loop_exception(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, BaseException):
            self._report(error)
        else:
            _LOG.error("the event loop complains: %s", context.get("message"))

    def _report(self, error: BaseException) -> None:
        if isinstance(error, AppError):
            _LOG.warning("a problem reached nobody: %s", error)
            self._happened.emit(error.problem)
            return
        text = "".join(traceback.format_exception(error))
        _LOG.error("unexpected error\n%s", text)
        self._happened.emit(
            Problem(
                code="unexpected",
                headline="Something went wrong inside the program.",
                advice=(
                    "Your conversations are kept. If it happens again, please report it with "
                    "the copied details."
                ),
                detail=text,
                remedies=(Remedy.REPORT,),
            )
        )

    def _on_happened(self, problem: Problem) -> None:
        self._show(problem)
