"""Builds the page of a pair: whether it works, and what can be repaired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.library import ModelRole
from dflash_desktop.services.check_history import CheckHistory
from dflash_desktop.services.diagnostics import private_facts
from dflash_desktop.services.pair_check import PairCheck
from dflash_desktop.services.pair_repair import PairRepair
from dflash_desktop.services.repair import ModelRepair
from dflash_desktop.services.tokenizer_rebuild import TokenizerRebuild
from dflash_desktop.services.way_measurement import WayMeasurement
from dflash_desktop.ui.pair.pane import PairPane
from dflash_desktop.ui.pair.presenter import PairPagePresenter, PairServices

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.ui.pair_presenter import PairPresenter
    from dflash_desktop.ui.theme import Theme


def build_pair_page(
    *,
    services: Services,
    pairs: PairPresenter,
    theme: Theme,
    report: Callable[[Problem], str],
) -> tuple[PairPane, PairPagePresenter]:
    """The page and what fills it; the caller connects where it leads to."""
    pane = PairPane(theme=theme, report=report)
    presenter = PairPagePresenter(
        pane=pane,
        services=PairServices(
            checks=PairCheck(engine=services.engine, loading=services.loading),
            repair=PairRepair(
                repair=ModelRepair(added_dir=services.paths.added_models_dir),
                tokenizers=TokenizerRebuild(
                    environments=services.export_environments,
                    log_dir=services.paths.log_dir,
                ),
            ),
            history=CheckHistory(services.paths.checks_file),
            measurements=services.measurements,
            settings=services.settings,
            ways=WayMeasurement(
                engine=services.engine,
                loading=services.loading,
                measurements=services.measurements,
            ),
            pairs=services.library.pairs,
            private=private_facts,
            drafts=lambda: tuple(
                model.path
                for model in services.models.models()
                if model.manifest.role is ModelRole.DRAFT
            ),
        ),
        pairs=pairs,
    )
    return pane, presenter
