"""Opens "Report a problem": collects in the background, and saves what was shown."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

from dflash_desktop.app.ways_out import open_folder
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.diagnostics import private_facts
from dflash_desktop.services.problem_bundle import bundle_name, collect_bundle, save_bundle
from dflash_desktop.ui.report_dialog import ReportDialog

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.problem_bundle import BundleFile
    from dflash_desktop.ui.tasks import TaskScope
    from dflash_desktop.ui.theme import Theme


class ProblemReport:
    """One dialog; `tasks` belongs to the window."""

    def __init__(
        self,
        *,
        theme: Theme,
        paths: AppPaths,
        tasks: TaskScope,
        parent: QWidget,
        problem: Problem | None = None,
    ) -> None:
        self._paths = paths
        self._problem = problem
        self._files: tuple[BundleFile, ...] = ()
        name = str(Path.home() / bundle_name())
        self.dialog = ReportDialog(theme=theme, file_name=name, parent=parent)
        self.dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._is_open = True
        self.dialog.finished.connect(self._on_finished)
        self.dialog.refresh_requested.connect(lambda: tasks.start(self._collect()))
        self.dialog.folder_requested.connect(lambda: open_folder(paths.log_dir))
        self.dialog.save_requested.connect(lambda file: tasks.start(self._save(file)))
        tasks.start(self._collect())
        self.dialog.open()

    def _on_finished(self) -> None:
        self._is_open = False

    async def _collect(self) -> None:
        self._files = await asyncio.to_thread(
            collect_bundle, self._paths, private_facts(), problem=self._problem
        )
        if self._is_open:
            self.dialog.show_files([(file.name, file.text) for file in self._files])

    async def _save(self, file: Path) -> None:
        try:
            await asyncio.to_thread(save_bundle, self._files, file)
        except OSError as error:
            problem = write_problem(error, what="The report", kept="It is still shown here.")
            if self._is_open:
                self.dialog.show_error(f"{problem.headline} {problem.advice}")
            return
        if self._is_open:
            self.dialog.show_saved(file)
