"""Draws the transfers and library pages in every state to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_library [--scale 1.5] [FOLDER] [WORD …]

Only the shots whose names contain one of the words are drawn.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from dflash_desktop.domain.devices import Device
from dflash_desktop.domain.memory_pool import memory_pool
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.recommend import (
    PROGRAM_DRAFT_KINDS,
    PROGRAM_MODEL_KINDS,
    Abilities,
    recommend,
)
from dflash_desktop.domain.settings import Settings
from dflash_desktop.domain.starter import STARTER_CATALOGUE_ID
from dflash_desktop.domain.transfer import PlannedFile, RepoPlan, TransferPlan, TransferState
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.gguf_problems import memory_short
from dflash_desktop.ui.models.import_words import draft_words
from dflash_desktop.ui.models.library_words import (
    SortOrder,
    card_content,
    library_summary,
    model_row,
    report_words,
    shown_models,
)
from dflash_desktop.ui.models.more_pane import MorePane
from dflash_desktop.ui.models.offer_words import offers, plan_lines, repositories
from dflash_desktop.ui.models.pane import ModelsPane
from dflash_desktop.ui.models.storage_card import StorageContent
from dflash_desktop.ui.models.words import CardState
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.transfers.connection_dialog import ConnectionDialog
from dflash_desktop.ui.transfers.pane import TransfersPane
from dflash_desktop.ui.transfers.token_dialog import TokenDialog
from tests.machines import machine
from tests.ui.library_values import LIBRARY, MODELS, NOT_WHOLE, NOW, WHOLE, many
from tests.ui.shots_shell import NARROW, Shots, cards, nothing  # first: it sets the scale
from tests.ui.transfers.transfer_values import DISK_FULL, EVERY_STATE, transfer

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QDialog, QWidget

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


def _transfers(theme: Theme, shown: tuple[Transfer, ...], pressed: str = "") -> QWidget:
    pane = TransfersPane(theme=theme, report=_report)
    pane.show_transfers(shown)
    for button in pane.findChildren(QPushButton):
        if pressed and button.text().startswith(pressed):
            button.click()
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
GGUF_FACTS = (
    ("Kind", "Llama, 32 layers"),
    ("Weights", "Q4_K and Q6_K"),
    ("Size", "4.92 GB"),
    ("File", "/home/ada/Downloads/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf"),
)
GGUF_NOTES = (
    "Note: The runtime leaves out how this model stretches positions, so that long texts may get "
    "worse answers than in other programs."
)
GGUF_REFUSED = Problem(
    "gguf_architecture",
    "The runtime cannot convert the kind of model in “gemma-3-4b-it-Q4_0.gguf”.",
    "The reason: it is of the kind 'gemma3'. It converts Llama, Qwen2 and Qwen3 models without "
    "experts. Choose one of these, or the same model in OpenVINO's own form.",
    detail="/home/ada/Downloads/gemma-3-4b-it-Q4_0.gguf",
    remedies=(Remedy.CHOOSE_FILE,),
)


def _import_offered(pane: ModelsPane) -> None:
    part = pane.library.importing
    part.fill("Meta Llama 3.1 8B Instruct")
    part.show_offer("Import “Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf”", GGUF_FACTS, GGUF_NOTES)


def _import_refused(pane: ModelsPane) -> None:
    _import_offered(pane)
    part = pane.library.importing
    part.show_problem(memory_short(needed_bytes=12_100_000_000, free_bytes=6_400_000_000))


def _import_running(pane: ModelsPane) -> None:
    _import_offered(pane)
    pane.library.show_importing(True)
    pane.library.importing.show_progress(
        "Noting what every byte is.", "Step 5 of 6 · 2.10 GB of 8.03 GB", 0.71
    )


def _import_done(pane: ModelsPane) -> None:
    part = pane.library.importing
    part.show_done("“Meta Llama 3.1 8B Instruct” is in the library now.", GGUF_NOTES)
    part.show_draft(*draft_words("“Llama-3.1-8B-DFlash-int8”"))


def _dragged_over(pane: ModelsPane) -> None:
    pane.drop_sheet.show_over(("/home/ada/Downloads/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf",))


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
    "library-import-offered": (MODELS, MODELS[0].id, _import_offered),
    "library-import-no-memory": (MODELS, MODELS[0].id, _import_refused),
    "library-import-running": (MODELS, MODELS[0].id, _import_running),
    "library-import-refused": (
        MODELS,
        MODELS[0].id,
        lambda p: p.library.importing.show_refusal(GGUF_REFUSED),
    ),
    "library-import-done": (MODELS, MODELS[0].id, _import_done),
    "library-dragged-over": (MODELS, MODELS[0].id, _dragged_over),
    "library-moving": (
        MODELS,
        MODELS[0].id,
        lambda p: p.storage.show_progress(
            "Copying Qwen3-8B-int4-ov", "12.1 GB of 33.1 GB · 410 MB/s · 51 s left", 0.37
        ),
    ),
}


def _more(theme: Theme, machine_name: str, show: Callable[[MorePane], object]) -> QWidget:
    pool = memory_pool(machine(machine_name))
    abilities = Abilities("2026.4.1", PROGRAM_DRAFT_KINDS, PROGRAM_MODEL_KINDS)
    catalogue = load_catalogue()
    pairs = tuple(p for p in catalogue.pairs if p.id != STARTER_CATALOGUE_ID)
    ranked = recommend(replace(catalogue, pairs=pairs), pool, abilities=abilities)
    coming = transfer(transfer_id=ranked[1].pair.id)
    here = frozenset(name.casefold() for name in repositories(ranked[2].pair) or ())
    pane = MorePane(theme=theme, report=_report)
    pane.show_machine(
        f"{pool.explanation} {format_bytes(pool.usable_bytes)} are left for a model."
    )
    pane.show_offers(
        offers(
            ranked[: pane.wanted],
            usable_bytes=pool.usable_bytes,
            installed_ids=here,
            transfers=(coming,),
        ),
        count=len(ranked),
    )
    show(pane)
    return pane


def _found(pane: MorePane) -> None:
    pane.name_form.fill("OpenVINO/Qwen3-8B-int4-ov", "z-lab/Qwen3-8B-DFlash-b16")
    pane.name_form.show_found(plan_lines(PLAN), "Download 6.60 GB", "")


def _dialog(window: MainWindow, build: Callable[[MainWindow], QDialog]) -> None:
    dialog = build(window)
    dialog.setWindowFlags(Qt.WindowType.Widget)  # drawn inside the window, to be in its picture
    dialog.adjustSize()
    dialog.move((window.width() - dialog.width()) // 2, 120)
    dialog.show()


def _connection(theme: Theme, window: MainWindow) -> QDialog:
    dialog = ConnectionDialog(settings=Settings(), theme=theme, parent=window)
    dialog.show_token("There is one, for models that ask who you are.", has_token=True)
    return dialog


def _token(theme: Theme, can_keep: bool, window: MainWindow) -> QDialog:
    dialog = TokenDialog(repo_ids=("google/gemma-4-12b-it",), theme=theme, parent=window)
    dialog.show_keyring(can_keep)
    return dialog


PLAN = TransferPlan(
    (
        RepoPlan(
            "OpenVINO/Qwen3-8B-int4-ov",
            "1a2b3c4d5e6f",
            (PlannedFile("openvino_model.bin", 4_810_000_000),),
            "apache-2.0",
        ),
        RepoPlan(
            "z-lab/Qwen3-8B-DFlash-b16",
            "9f8e7d6c5b4a",
            (PlannedFile("model.safetensors", 1_790_000_000),),
            is_gated=True,
        ),
    ),
    6_700_000_000,
    212_000_000_000,
)
GATED = Problem(
    "gated_no_token",
    "google/gemma-4-12b-it is only for people who accepted its licence.",
    "Sign in on the model's page, accept the licence there, then enter an access token here.",
    detail="401 GatedRepo",
    remedies=(Remedy.OPEN_MODEL_PAGE, Remedy.ENTER_TOKEN, Remedy.RETRY),
)
MORE: dict[str, tuple[str, Callable[[MorePane], object]]] = {
    "more-140v": ("arc_140v_32gb", lambda _: None),
    "more-found": ("arc_140v_32gb", _found),
    "more-gated": ("arc_140v_32gb", lambda p: p.name_form.show_problem(GATED)),
    "more-small": ("laptop_8gb", lambda _: None),
}


def _counted(shown: tuple[Transfer, ...], window: MainWindow) -> None:
    window.sidebar.show_count(Page.TRANSFERS, sum(one.is_open for one in shown))


def main() -> None:
    """Take all shots, or those that were asked for."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "shots")
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
        for name, pressed in (("transfers-files", "3 of"), ("transfers-cancel", "Cancel")):
            shots.take(
                prefix + name,
                partial(_counted, EVERY_STATE[:1]),
                partial(_transfers, shots.theme, EVERY_STATE[:1], pressed),
                page=Page.TRANSFERS,
                size=size or (1180, 620),
            )
        for name, (machine_name, show_more) in MORE.items():
            shots.take(
                prefix + name,
                nothing,
                partial(_more, shots.theme, machine_name, show_more),
                page=Page.MORE_MODELS,
                size=size or (1180, 1500),
            )
        dialogs = {
            "dialog-connection": partial(_connection, shots.theme),
            "dialog-token": partial(_token, shots.theme, True),
            "dialog-token-no-keyring": partial(_token, shots.theme, False),
        }
        for name, build in dialogs.items():
            shots.take(
                prefix + name,
                partial(_dialog, build=build),
                partial(_transfers, shots.theme, ()),
                page=Page.TRANSFERS,
                size=size or (1180, 760),
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
