"""The export page with its presenters, and what the window's frame says of exports."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dflash_desktop.app.ways_out import open_folder
from dflash_desktop.services.pair_library import folders_of
from dflash_desktop.ui.export.status import ExportStatus
from dflash_desktop.ui.pages import Page

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.app.model_pages import ModelPages
    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.ui.export.environments_presenter import EnvironmentsPresenter
    from dflash_desktop.ui.export.presenter import ExportPresenter
    from dflash_desktop.ui.export.results_presenter import ExportResults
    from dflash_desktop.ui.main_window import MainWindow
    from dflash_desktop.ui.pair_presenter import PairPresenter
    from dflash_desktop.ui.theme import Theme


class ExportPages:
    """Builds the page when it is first shown; `models` is where one goes on from a result."""

    def __init__(
        self,
        *,
        window: MainWindow,
        theme: Theme,
        services: Services,
        pairs: PairPresenter,
        report: Callable[[Problem], str],
        show: Callable[[Page], None],
        get_pair: Callable[[str], None],
        models: ModelPages,
    ) -> None:
        self._theme = theme
        self._services = services
        self._pairs = pairs
        self._report = report
        self._show = show
        self._get_pair = get_pair
        self._models = models
        self._presenter: ExportPresenter | None = None
        self._results: ExportResults | None = None
        self._environments: EnvironmentsPresenter | None = None
        self._status = ExportStatus(
            sidebar=window.sidebar, status_line=window.status_line, exports=services.exports
        )
        window.status_line.work_requested.connect(self.show_running)

    def built(self) -> QWidget:
        """The page."""
        from dflash_desktop.domain.export_pairs import requests_to_export
        from dflash_desktop.services.catalogue_store import load_catalogue
        from dflash_desktop.services.checkpoint_role import role_of
        from dflash_desktop.ui.export.environments_presenter import EnvironmentsPresenter
        from dflash_desktop.ui.export.pane import ExportPane
        from dflash_desktop.ui.export.presenter import ExportPresenter
        from dflash_desktop.ui.export.results_presenter import ExportResults

        services = self._services
        own_pairs_file = services.paths.own_pairs_file
        pane = ExportPane(theme=self._theme, report=self._report, cores=os.cpu_count() or 1)
        self._presenter = ExportPresenter(
            pane=pane,
            planning=services.export_planning,
            exports=services.exports,
            settings=services.settings,
            load_pairs=lambda: requests_to_export(load_catalogue(own_file=own_pairs_file).pairs),
            role_of=role_of,
            get_pair=self._get_pair,
            open_file=open_folder,
            on_remedy=self._take_remedy,
        )
        self._results = ExportResults(
            pane=pane,
            runs=services.exports.runs,
            shelf=services.library,
            chat=self._chat,
            look_at=self._look_at,
            show_model=self._models.show_model,
            open_path=open_folder,
        )
        self._environments = EnvironmentsPresenter(
            view=pane.environments,
            environments=services.export_environments,
            on_remedy=lambda remedy: self._take_remedy(remedy, ()),
        )
        return pane

    def show_request(self, request: ExportRequest) -> None:
        """Show what an export takes, on the page that is built."""
        if self._presenter is not None:
            self._presenter.show_request(request)

    def take(self, paths: tuple[Path, ...]) -> None:
        """As if the person had dropped these on the page, which is built."""
        if self._presenter is not None:
            self._presenter.take(tuple(map(str, paths)))

    def show_running(self) -> None:
        """Bring the export that goes on to the front."""
        self._show(Page.EXPORT)
        if self._presenter is not None:
            self._presenter.show_running()

    def on_shown(self) -> None:
        """Look anew at what may have changed while the page was not in front."""
        if self._environments is not None:
            self._environments.refresh()

    def closings(self) -> list[Coroutine[object, object, None]]:
        """What ends each presenter; to be awaited side by side."""
        presenters = (self._status, self._presenter, self._results, self._environments)
        return [p.close() for p in presenters if p is not None]

    def _chat(self, pair_id: str) -> None:
        self._pairs.load(pair_id)
        self._show(Page.CHAT)

    def _look_at(self, title: str, target: Path, draft: Path | None) -> None:
        self._models.look_at(folders_of(title, target, draft))

    def _take_remedy(self, remedy: Remedy, repo_ids: tuple[str, ...]) -> None:
        def ask_again() -> None:
            if self._presenter is not None:
                self._presenter.ask_again()

        self._models.take_remedy(remedy, repo_ids, on_given=ask_again)
