"""Builds the page where one gets more models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.ui.models.more_pane import MorePane
from dflash_desktop.ui.models.more_presenter import MorePresenter

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.ui.theme import Theme


def build_more(
    *,
    services: Services,
    theme: Theme,
    report: Callable[[Problem], str],
    ask_token: Callable[[tuple[str, ...], Callable[[], None]], object],
    export: Callable[[ExportRequest], None],
    on_remedy: Callable[[Remedy, tuple[str, ...]], None],
) -> tuple[MorePane, MorePresenter]:
    """The page and what fills it; the caller connects where it leads to."""
    pane = MorePane(theme=theme, report=report)
    presenter = MorePresenter(
        pane=pane,
        machine=services.hardware,
        load_catalogue=lambda: load_catalogue(own_file=services.paths.own_pairs_file),
        pool_of=services.memory.pool,
        shelf=services.models,
        queue=services.downloads,
        ask_token=ask_token,
        export=export,
        on_remedy=on_remedy,
    )
    return pane, presenter
