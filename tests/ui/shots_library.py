"""Draws the transfers and library pages in every state to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_library [--scale 1.5] [FOLDER] [WORD …]

Only the shots whose names contain one of the words are drawn.
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.devices import Device
from dflash_desktop.domain.problems import Problem
from dflash_desktop.domain.settings import Settings
from dflash_desktop.domain.transfer import TransferState
from dflash_desktop.ui.models.library_words import (
    SortOrder,
    card_content,
    library_summary,
    model_row,
    report_words,
    shown_models,
)
from dflash_desktop.ui.models.pane import ModelsPane
from dflash_desktop.ui.models.storage_card import StorageContent
from dflash_desktop.ui.models.words import CardState
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.transfers.pane import TransfersPane
from tests.ui.library_values import LIBRARY, MODELS, NOT_WHOLE, NOW, WHOLE, many
from tests.ui.shots_shell import NARROW, Shots, cards, nothing  # first: it sets the scale
from tests.ui.transfers.transfer_values import DISK_FULL, EVERY_STATE, transfer

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.domain.transfer import Transfer
    from dflash_desktop.ui.main_window import MainWindow
    from dflash_desktop.ui.theme import Theme

    Show = Callable[[ModelsPane], object]

TRANSFERS: dict[str, tuple[Transfer, ...]] = {
    "transfers-all": EVERY_STATE,
    "transfers-empty": (),
    "transfers-running": EVERY_STATE[:1],
    "transfers-planning": (
        transfer(TransferState.PLANNING, done_bytes=0, total_bytes=None, notice=""),
    ),
    "transfers-paused": (transfer(TransferState.PAUSED),),
    "transfers-stalled": EVERY_STATE[1:2],
    "transfers-failed": (transfer(TransferState.FAILED, problem=DISK_FULL),),
    "transfers-done": EVERY_STATE[-1:],
}


def _report(problem: Problem) -> str:
    return problem.detail


def _transfers(theme: Theme, shown: tuple[Transfer, ...]) -> QWidget:
    pane = TransfersPane(theme=theme, report=_report)
    pane.show_transfers(shown)
    return pane


def _library(theme: Theme, models: tuple[InstalledModel, ...], chosen: str, show: Show) -> QWidget:
    pane = ModelsPane(theme=theme, report=_report)
    if models:
        pane.show_cards(cards(CardState.AVAILABLE))
    pane.run_form.show_choices((Device("CPU", "Intel Core Ultra 7 258V"),), Settings())
    rows = tuple(
        model_row(m, in_use_on="GPU.0 Arc 140V" if m is MODELS[0] else "", now=NOW)
        for m in shown_models(models, words="", order=SortOrder.NAME)
    )
    pane.library.show_models(rows, summary=library_summary(models), count=len(models))
    for one in models:
        if one.id == chosen:
            pane.library.choose(chosen)
            pane.library.card.show_model(
                card_content(one, in_use_on="GPU.0 Arc 140V" if one is MODELS[0] else "", now=NOW)
            )
    pane.storage.show_storage(STORAGE if models else EMPTY_STORAGE)
    show(pane)
    return pane


STORAGE = StorageContent(
    str(LIBRARY),
    "33.1 GB in 5 models, 212 GB free",
    "4.10 GB in 2 interrupted downloads",
    "Qwen3 14B int4, 3.20 GB; Gemma 4 12B int8, 900 MB.",
    "Remove 4.10 GB",
    "1.20 GB",
    "Clear 1.20 GB",
)
EMPTY_STORAGE = StorageContent(str(LIBRARY), "212 GB free", "", "", "", "", "")
REFUSED = Problem(
    "not_ours",
    "“Qwen3-8B-int4-ov” cannot be removed while it is in use.",
    "Load another model, or restart the engine, then try again.",
    detail="loaded on GPU.0",
)
LIBRARIES: dict[str, tuple[tuple[InstalledModel, ...], str, Show]] = {
    "library-full": (MODELS, MODELS[0].id, lambda _: None),
    "library-empty": ((), "", lambda _: None),
    "library-many": (many(200), "someone/model-000-int4", lambda _: None),
    "library-damaged": (
        MODELS,
        MODELS[3].id,
        lambda p: p.library.card.show_outcome(report_words(NOT_WHOLE), is_good=False),
    ),
    "library-verified": (
        MODELS,
        MODELS[0].id,
        lambda p: p.library.card.show_outcome(report_words(WHOLE), is_good=True),
    ),
    "library-verifying": (
        MODELS,
        MODELS[0].id,
        lambda p: p.library.card.show_progress(
            "Comparing openvino_model.bin", "2.10 GB of 4.82 GB · 1.20 GB/s · 2 s left", 0.43
        ),
    ),
    "library-remove": (
        MODELS,
        MODELS[0].id,
        lambda p: p.library.card.ask_removal(
            "Remove “Qwen3-8B-int4-ov”? Its folder with 2 files is deleted, which frees 4.82 GB.",
            "Remove 4.82 GB",
        ),
    ),
    "library-refused": (MODELS, MODELS[0].id, lambda p: p.library.card.show_problem(REFUSED)),
    "library-adding": (
        MODELS,
        MODELS[4].id,
        lambda p: p.library.show_adding("Reading “Märchen Modell”", "1.10 GB of 3.14 GB", 0.35),
    ),
    "library-moving": (
        MODELS,
        MODELS[0].id,
        lambda p: p.storage.show_progress(
            "Copying Qwen3-8B-int4-ov", "12.1 GB of 33.1 GB · 410 MB/s · 51 s left", 0.37
        ),
    ),
}


def _counted(shown: tuple[Transfer, ...], window: MainWindow) -> None:
    window.sidebar.show_count(Page.TRANSFERS, sum(one.is_open for one in shown))


def main() -> None:
    """Take all shots, or those that were asked for."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "shots")
    folder.mkdir(parents=True, exist_ok=True)
    shots = Shots(folder, sys.argv[2:])
    for size, prefix in ((None, ""), (NARROW, "narrow-")):
        for name, shown in TRANSFERS.items():
            shots.take(
                prefix + name,
                partial(_counted, shown),
                partial(_transfers, shots.theme, shown),
                page=Page.TRANSFERS,
                size=size or (1180, 1080 if name == "transfers-all" else 520),
            )
        for name, (models, chosen, show) in LIBRARIES.items():
            shots.take(
                prefix + name,
                nothing,
                partial(_library, shots.theme, models, chosen, show),
                page=Page.MODELS,
                size=size or (1180, 1500),
            )


if __name__ == "__main__":
    main()
