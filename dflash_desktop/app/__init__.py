"""Opens the window: checks the screen, starts the one event loop, says goodbye in time."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import signal
import sys
from typing import TYPE_CHECKING

from dflash_desktop.log import log_to_file
from dflash_desktop.paths import app_paths
from dflash_desktop.screen import why_no_qt, why_no_window

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.app.program import Program
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.ui.application import Application


def main() -> int:
    """Open the window and return the exit code when it has been closed."""
    words = why_no_window()
    if words is not None:
        sys.stderr.write(words)
        return 1
    try:
        from dflash_desktop.ui.application import Application
    except ImportError as error:
        sys.stderr.write(why_no_qt(error))
        return 1
    paths = app_paths()
    with _logs(paths):
        _run(Application(), paths)
    return 0


def _run(application: Application, paths: AppPaths) -> None:
    from qasync import QEventLoop

    from dflash_desktop.app.program import Program

    loop = QEventLoop(application)
    asyncio.set_event_loop(loop)
    with loop:
        program = Program(application=application, paths=paths)
        application.quit_requested.connect(program.close)
        _close_on_signals(loop, program)
        loop.run_until_complete(program.run())


def _close_on_signals(loop: asyncio.AbstractEventLoop, program: Program) -> None:
    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, program.close)


@contextlib.contextmanager
def _logs(paths: AppPaths) -> Iterator[None]:
    """The log, and a file for crashes in native code; a disk that refuses is no reason to fail."""
    handler: logging.Handler | None = None
    with contextlib.ExitStack() as files:
        try:
            handler = log_to_file(paths.log_dir / "window.log")
            faults = files.enter_context(
                (paths.log_dir / "window-faults.log").open("a", encoding="utf-8")
            )
            faulthandler.enable(faults)
        except OSError as error:
            sys.stderr.write(f"There is no log: {error}\n")
        yield
        faulthandler.disable()
    if handler is not None:
        logging.getLogger().removeHandler(handler)
        handler.close()
