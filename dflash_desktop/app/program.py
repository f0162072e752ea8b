"""The composition root of the window: builds every object, in the order that shows it fastest."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QSettings, QUrl
from PySide6.QtGui import QDesktopServices, QIcon

from dflash_desktop.app.openings import Openings
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.paths import resources_dir
from dflash_desktop.services.conversation_store import TRASH
from dflash_desktop.services.home_check import home_problem
from dflash_desktop.services.last_run import LastRun
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.ui.first_paint import FirstPaint
from dflash_desktop.ui.garbage import GarbageCollection
from dflash_desktop.ui.main_window import MainWindow
from dflash_desktop.ui.tasks import TaskScope
from dflash_desktop.ui.theme import Theme
from dflash_desktop.ui.unexpected_errors import UnexpectedErrors

if TYPE_CHECKING:
    from pathlib import Path

    from PySide6.QtWidgets import QApplication

    from dflash_desktop.app.pages import Pages
    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.settings import Theme as ThemeChoice
    from dflash_desktop.paths import AppPaths

_LOG = logging.getLogger(__name__)

LONGEST_GOODBYE_SECONDS: Final = 2.5
"""Then the window's process ends whatever still runs, and the engine ends with it."""
_LONGEST_WAIT_FOR_PAINT_SECONDS: Final = 0.5


class Program:
    """One window with its services, from the first paint to the goodbye."""

    def __init__(
        self,
        *,
        application: QApplication,
        paths: AppPaths,
        files: tuple[str, ...] = (),
        is_first: bool = True,
    ) -> None:
        self._paths = paths
        self._files = files
        self._is_first = is_first
        self._last_run = LastRun(
            mark_file=paths.window_mark_file, faults_file=paths.log_dir / "window-faults.log"
        )
        self._closing = asyncio.Event()
        self._lost_for_good: tuple[str, ...] = ()
        self._settings = SettingsStore(paths.settings_file)
        self._theme = Theme(application, choice=self._settings.value.theme)
        self._logo = QIcon(str(resources_dir() / "icons" / "app.svg"))
        self._services: Services | None = None
        self._pages: Pages | None = None
        window_state = QSettings(str(paths.config_dir / "window.ini"), QSettings.Format.IniFormat)
        self.window = MainWindow(
            theme=self._theme,
            logo=self._logo,
            report=self._report,
            remember=window_state,
            may_close=self._may_close,
        )
        self._errors = UnexpectedErrors(show=self.window.show_problem, parent=self.window)
        self._garbage = GarbageCollection(self.window)
        self._openings = Openings(
            window=self.window,
            take=self._take_opened,
            listens=is_first,
            paths=paths,
        )
        self._tasks = TaskScope(owner=self.window, on_problem=self.window.show_problem)
        self.window.closed.connect(self._closing.set)

    @property
    def is_closing(self) -> bool:
        """Whether the window was closed, or the system said goodbye."""
        return self._closing.is_set()

    @property
    def hears_later_starts(self) -> bool:
        """Whether another start of the program now finds this window."""
        return self._openings.is_listening

    @property
    def services(self) -> Services:
        """What the window works with. Raises `RuntimeError` before it was built."""
        if self._services is None:
            raise RuntimeError("the window is not ready yet")
        return self._services

    @property
    def pages(self) -> Pages:
        """The window's pages. Raises `RuntimeError` before they were built."""
        if self._pages is None:
            raise RuntimeError("the window is not ready yet")
        return self._pages

    def close(self) -> None:
        """End the program, whoever asks for it: a signal, a log-off, the end itself."""
        if not self.is_closing:
            self._closing.set()
            self.window.close()

    async def run(self) -> None:
        """Show the window, then build what it works with; returns after the goodbye."""
        self._errors.take_over(asyncio.get_running_loop())
        painted = FirstPaint(self.window)
        self.window.show()
        await painted.wait(_LONGEST_WAIT_FOR_PAINT_SECONDS)
        try:
            self._start()
            await self._look_at_the_place()
            self._openings.begin(self._files)
            if getattr(sys, "frozen", False):  # what runs from a checkout changes all the time
                self._tasks.start(self._check_installation())
            await self._closing.wait()
        finally:
            await self._say_goodbye()
        if self._is_first:
            self._last_run.end()

    async def _say_goodbye(self) -> None:
        """End everything that runs; what a person wrote is saved on the way."""
        self.window.hide()
        ends = [] if self._pages is None else self._pages.closings()
        if self._services is not None:
            ends += [
                self._services.engine.stop(),
                self._services.downloads.close(),
                self._services.exports.close(),
                self._services.pictures.close(),
                self._services.studio.close(),
            ]
        self._tasks.close()
        ends += [self._openings.close(), self._tasks.wait()]
        tasks = [asyncio.ensure_future(end) for end in ends]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=LONGEST_GOODBYE_SECONDS)
            for task in late:
                _LOG.warning("did not end in time: %r", task)
                task.cancel()
        self._errors.give_back()
        self.window.deleteLater()

    def _start(self) -> None:
        # Not needed for the window to show, and slow to import.
        from dflash_desktop.app.pages import Pages
        from dflash_desktop.app.services import Services

        services = Services(paths=self._paths, settings=self._settings)
        if self._is_first:  # else another window may still offer to undo
            services.conversations.empty_trash()
            services.gallery.empty_trash()
            self._tasks.start(self._remove_orphaned_pictures(services))
        if services.downloads.transfers():
            services.downloads.begin()
        pages = Pages(
            window=self.window,
            theme=self._theme,
            services=services,
            paths=self._paths,
            report=self._report,
            on_remedy=self._on_remedy,
        )
        self._services, self._pages = services, pages
        window = self.window
        window.remedy_chosen.connect(self._on_remedy)
        window.header.theme_chosen.connect(self._on_theme_chosen)
        window.header.about_requested.connect(self._show_about)
        pages.begin()
        if self._is_first:
            self._tasks.start(services.exports.tidy())
        # What exists now lives as long as the window. Walking through all of it, as a full
        # collection does, halted a streaming answer for up to 25 ms (measured).
        gc.freeze()
        # Other threads (a highlighter being made, the engine's reader) give way after 1 ms, not 5:
        # drawing one frame asks for the interpreter several times.
        sys.setswitchinterval(0.001)

    async def _remove_orphaned_pictures(self, services: Services) -> None:
        folder = self._paths.conversations_dir
        await asyncio.to_thread(
            services.pictures.remove_orphans, mentioned_in=(folder, folder / TRASH)
        )

    async def _look_at_the_place(self) -> None:
        """Say what a person should know before anything else, the worst of it."""
        home = await asyncio.to_thread(home_problem, self._paths)
        ended_badly = await asyncio.to_thread(self._last_run.begin) if self._is_first else None
        problem = home or self._settings.problem or ended_badly
        if problem is not None:
            self.window.show_problem(problem)

    async def _check_installation(self) -> None:
        from dflash_desktop.services.first_check import check_new_installation

        problem = await check_new_installation(paths=self._paths, launcher=self.services.launcher)
        if problem is not None:
            self.window.show_problem(problem)

    def _take_opened(self, remedy: Remedy, paths: tuple[Path, ...]) -> None:
        if self._pages is not None:
            self._pages.take_opened(remedy, paths)

    def _report(self, problem: Problem) -> str:
        from dflash_desktop.domain.engine_state import loaded_pair
        from dflash_desktop.services.diagnostics import private_facts, problem_report

        facts: tuple[tuple[str, str], ...] = ()
        if self._services is not None:
            pair = loaded_pair(self._services.engine.state)
            if pair is not None:
                facts = (
                    ("Model", pair.title),
                    ("Device", f"{pair.device} {pair.device_name} {pair.driver}".strip()),
                    ("Runtime", pair.runtime),
                    ("KV cache", pair.kv_cache_precision.value),
                )
        return problem_report(problem, private=private_facts(), facts=facts)

    def _may_close(self) -> bool:
        """Refuse once while something would be lost or stopped, and say so."""
        if self._services is None:
            return True
        from dflash_desktop.ui.closing import EXPORT_RUNS, is_exporting

        is_asked_already = self.window.banner.problem == EXPORT_RUNS
        if not self.is_closing and not is_asked_already and is_exporting(self._services.exports):
            self.window.show_problem(EXPORT_RUNS)
            return False
        store = self._services.conversations
        try:
            store.save_pending()
        except AppError as error:
            if store.pending == self._lost_for_good:
                return True
            self._lost_for_good = store.pending
            self.window.show_problem(
                Problem(
                    code=error.problem.code,
                    headline=error.problem.headline,
                    advice=(
                        f"{error.problem.advice} To close the program and lose what is not "
                        "saved, close the window once more."
                    ),
                    detail=error.problem.detail,
                )
            )
            return False
        return True

    def _on_remedy(self, remedy: Remedy) -> None:
        pages = self._pages
        if self._openings.take_way_out(remedy):
            return
        if pages is None or pages.take_way_out(remedy):
            return
        match remedy:
            case Remedy.NEW_CHAT:
                self.window.sidebar.new_chat_requested.emit()
            case Remedy.OPEN_LOG:
                QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._paths.log_dir)))
            case Remedy.REPORT:
                self._report_problem()
            case Remedy.CLOSE_PROGRAM:
                self.close()
            case _:
                _LOG.info("nobody takes the way out %s", remedy)

    def _on_theme_chosen(self, choice: ThemeChoice) -> None:
        self._theme.choose(choice)
        try:
            self._settings.change(theme=choice)
        except AppError as error:
            self.window.show_problem(error.problem)

    def _show_about(self) -> None:
        from dflash_desktop.app.about import about_dialog

        dialog = about_dialog(
            theme=self._theme, logo=self._logo, paths=self._paths, parent=self.window
        )
        dialog.setup_requested.connect(self.window.header.setup_requested)
        dialog.report_requested.connect(self._report_problem)
        dialog.open()

    def _report_problem(self) -> None:
        from dflash_desktop.app.report import ProblemReport

        self._problem_report = ProblemReport(
            theme=self._theme,
            paths=self._paths,
            tasks=self._tasks,
            parent=self.window,
            problem=self.window.problem_to_report,
        )
