"""Builds the page that measures what a draft is worth here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.services.benchmark import Benchmark
from dflash_desktop.ui.measure.pane import MeasurePane
from dflash_desktop.ui.measure.presenter import MeasurePresenter

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.app.services import Services
    from dflash_desktop.domain.problems import Problem, Remedy
    from dflash_desktop.ui.pair_presenter import PairPresenter
    from dflash_desktop.ui.theme import Theme


def build_measure(
    *,
    services: Services,
    pairs: PairPresenter,
    theme: Theme,
    report: Callable[[Problem], str],
    on_remedy: Callable[[Remedy], None],
) -> tuple[MeasurePane, MeasurePresenter]:
    """The page and what fills it; the caller connects where it leads to."""
    pane = MeasurePane(theme=theme, report=report)
    presenter = MeasurePresenter(
        pane=pane,
        engine=services.engine,
        benchmark=Benchmark(engine=services.engine),
        measurements=services.measurements,
        pairs=pairs,
        plan=services.chat.draft_plan,
        set_draft_enabled=services.chat.set_draft_enabled,
        on_remedy=on_remedy,
    )
    return pane, presenter
