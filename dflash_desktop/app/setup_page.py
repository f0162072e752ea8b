"""Builds the setup: the page that leads from an unknown machine to a first answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.services.catalogue_store import load_catalogue_with_own, load_known_drivers
from dflash_desktop.services.installed_pairs import is_whole
from dflash_desktop.ui.wizard.pane import WizardPane
from dflash_desktop.ui.wizard.parts import SetupParts
from dflash_desktop.ui.wizard.presenter import WizardPresenter

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.ui.pair_presenter import PairPresenter
    from dflash_desktop.ui.theme import Theme


def build_setup(
    *,
    services: Services,
    paths: AppPaths,
    pairs: PairPresenter,
    theme: Theme,
    report: Callable[[Problem], str],
    export: Callable[[ExportRequest], None],
    on_problem: Callable[[Problem], None],
) -> tuple[WizardPane, WizardPresenter]:
    """The page and what leads through it; the caller connects where it leads to."""
    pane = WizardPane(theme=theme, pin=services.pin, report=report)
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
    presenter = WizardPresenter(
        pane=pane, parts=parts, pairs=pairs, export=export, on_problem=on_problem
    )
    return pane, presenter
