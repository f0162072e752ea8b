"""Opens the window: checks the screen, starts the one event loop, says goodbye in time."""

from __future__ import annotations

import asyncio
import contextlib
import faulthandler
import logging
import signal
import sys
import time
from typing import TYPE_CHECKING, Final

from dflash_desktop.desktop_words import tell
from dflash_desktop.domain.problems import AppError
from dflash_desktop.log import log_to_file
from dflash_desktop.paths import app_paths
from dflash_desktop.screen import why_no_qt, why_no_window
from dflash_desktop.services.data_format import leave_mark, require_known_data
from dflash_desktop.services.install_lock import InstallLock

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflash_desktop.app.program import Program
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.ui.application import Application

_LOG = logging.getLogger(__name__)

_LONGEST_END_WITHOUT_SCREEN_SECONDS: Final = 4.0
"""Longer than the program's own goodbye may take."""
_STOP_AFTER_SECONDS: Final = 0.1
_PAUSE_SECONDS: Final = 0.01


def main(files: Sequence[str] = ()) -> int:
    """Open the window and return the exit code when it has been closed.

    `files` are offered to the person. If the window of this data folder is open already, it comes
    to the front with them, and this process ends.
    """
    words = why_no_window()
    if words is not None:
        tell(words)
        return 1
    try:
        from dflash_desktop.ui.application import Application
    except ImportError as error:
        tell(why_no_qt(error))
        return 1
    paths = app_paths()
    application = Application()
    from dflash_desktop.app.single_window import Entry, enter

    lock = InstallLock(paths.window_lock_file)
    entry = enter(paths, lock, tuple(files))
    if entry is Entry.HANDED_OVER:
        return 0
    if entry is Entry.NO_ANSWER:
        return 1
    try:
        if not _knows_the_data(paths):
            return 1
        with _logs(paths):
            _run(application, paths, tuple(files), is_first=entry is Entry.FIRST)
    finally:
        lock.release()
    return 0


def _knows_the_data(paths: AppPaths) -> bool:
    """Whether this program may begin; if not, the person was told why."""
    try:
        require_known_data(paths)
    except AppError as error:
        from dflash_desktop.app.word_box import say_in_box

        say_in_box(error.problem.headline, error.problem.advice)
        return False
    leave_mark(paths)
    return True


def _run(
    application: Application, paths: AppPaths, files: tuple[str, ...], *, is_first: bool
) -> None:
    from qasync import QEventLoop

    from dflash_desktop.app.program import Program

    loop = QEventLoop(application)
    asyncio.set_event_loop(loop)
    with loop:
        program = Program(application=application, paths=paths, files=files, is_first=is_first)
        application.quit_requested.connect(program.close)
        _close_on_signals(loop, program)
        _run_to_the_end(loop, program)


def _run_to_the_end(loop: asyncio.AbstractEventLoop, program: Program) -> None:
    """Run the program; where Qt stops its loop in the middle of it, only say goodbye."""
    running = loop.create_task(program.run())
    try:
        loop.run_until_complete(running)
    except RuntimeError:
        if running.done():
            raise
    if not running.done():
        _LOG.warning("the screen or its session ended before the window did")
        _say_goodbye_without_a_screen(loop, running, program)


def _say_goodbye_without_a_screen(
    loop: asyncio.AbstractEventLoop, running: asyncio.Task[None], program: Program
) -> None:
    """Qt stops the loop anew at each look at a screen that is gone, so it is begun anew, too."""
    from PySide6.QtCore import QLoggingCategory

    QLoggingCategory.setFilterRules("*.warning=false")  # it would say at each that there is none
    program.close()
    deadline = time.monotonic() + _LONGEST_END_WITHOUT_SCREEN_SECONDS
    while not running.done() and time.monotonic() < deadline:
        stop = loop.call_later(_STOP_AFTER_SECONDS, loop.stop)  # if this time Qt does not
        loop.run_forever()
        stop.cancel()
        time.sleep(_PAUSE_SECONDS)
    if running.done():
        running.result()


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
