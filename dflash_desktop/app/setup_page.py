"""Builds the setup: the page that leads from an unknown machine to a first answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import Remedy
from dflash_desktop.services.catalogue_store import load_catalogue_with_own, load_known_drivers
from dflash_desktop.services.installed_pairs import is_whole
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.wizard.pane import WizardPane
from dflash_desktop.ui.wizard.parts import SetupParts
from dflash_desktop.ui.wizard.presenter import WizardPresenter

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.app.model_pages import ModelPages
    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.ui.pair_presenter import PairPresenter
    from dflash_desktop.ui.theme import Theme


class SetupPage:
    """The page and what leads through it; `ask` opens the chat with a question on its way."""

    def __init__(
        self,
        *,
        services: Services,
        paths: AppPaths,
        pairs: PairPresenter,
        theme: Theme,
        report: Callable[[Problem], str],
        export: Callable[[ExportRequest], None],
        on_problem: Callable[[Problem], None],
        on_remedy: Callable[[Remedy], None],
        show: Callable[[Page], None],
        show_own_pair_form: Callable[[], None],
        ask: Callable[[str], None],
        models: ModelPages,
    ) -> None:
        self._models = models
        self.pane = WizardPane(theme=theme, pin=services.pin, report=report)
        parts = SetupParts(
            pin=services.pin,
            probe=services.hardware,
            load_catalogue=lambda: load_catalogue_with_own(paths.own_pairs_file),
            load_known_drivers=load_known_drivers,
            starter=services.starter,
            transfers=services.downloads,
            find_loadable=services.library.find,
            all_loadable=services.library.pairs,
            is_whole=lambda repo_id: is_whole(services.models.models(), repo_id),
            reclaimable_bytes=services.memory.reclaimable_bytes,
            engine=services.engine,
            settings=services.settings,
        )
        pane = self.pane
        self.presenter = WizardPresenter(
            pane=pane, parts=parts, pairs=pairs, export=export, on_problem=on_problem
        )
        pane.left.connect(lambda: show(Page.CHAT))
        pane.choose.own_pair_requested.connect(show_own_pair_form)
        pane.starter.own_pair_requested.connect(show_own_pair_form)
        pane.starter.log_requested.connect(lambda: on_remedy(Remedy.OPEN_LOG))
        pane.ready.question_chosen.connect(ask)
        pane.ready.measure_requested.connect(lambda: show(Page.MEASURE))
        pane.ready.models_requested.connect(lambda: show(Page.MODELS))
        for page in (pane.machine, pane.ready):
            page.remedy_chosen.connect(on_remedy)
        pane.transfer.remedy_chosen.connect(self._on_remedy_of_transfer)

    def _on_remedy_of_transfer(self, remedy: Remedy) -> None:
        presenter = self.presenter
        self._models.take_remedy(remedy, presenter.repo_ids, on_given=presenter.try_again)
