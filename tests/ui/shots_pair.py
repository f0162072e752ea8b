"""Draws a pair's page in every state to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_pair [--scale 1.5] [FOLDER] [WORD …]

Only the shots whose names contain one of the words are drawn.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.benchmark import ChosenSetting
from dflash_desktop.domain.check_verdict import CheckVerdict
from dflash_desktop.domain.devices import Device
from dflash_desktop.domain.draft_rivals import WaysCompared
from dflash_desktop.domain.pair_contract import ContractResult
from dflash_desktop.domain.precision_question import PrecisionCheck, compare_precisions
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.settings import Settings
from dflash_desktop.ui.models.pane import ModelsPane
from dflash_desktop.ui.models.words import CardState
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.pair.pane import PairPane
from tests.domain.measurements import report
from tests.ui.pair_values import (
    BLOCKED,
    GOOD,
    NO_LOCATORS,
    NO_PLAN,
    NOT_ATTACHED,
    NOT_MENDED,
    PLAN,
    TIE,
    USELESS,
    WARNINGS,
    WORKING,
    WRONG,
)
from tests.ui.shots_shell import NARROW, Shots, cards, nothing  # first: it sets the scale

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.domain.check_summary import CheckSummary
    from dflash_desktop.domain.repair_plan import RepairPlan
    from dflash_desktop.ui.theme import Theme

TITLE = "Qwen3 8B int4 with Qwen3 8B DFlash b16"
BUSY = Problem(
    "engine_busy",
    "The engine answers another question.",
    "Wait for the answer, or stop it, then check again.",
    detail="busy",
    remedies=(Remedy.RETRY,),
)
LONG = ContractResult(
    (
        replace(
            NO_LOCATORS,
            found="openvino_model_with_a_very_long_name_that_has_no_place_to_break_" * 3,
            expected="layers " + ", ".join(map(str, range(64))),
            remedy="Export the target again with a current exporter. " * 4,
        ),
    ),
    GOOD.passed,
)


def _shown(
    contract: ContractResult,
    checks: Sequence[CheckSummary] = (),
    plan: RepairPlan = NO_PLAN,
    *,
    can_undo: bool = False,
    is_in_vain: bool = False,
    title: str = TITLE,
) -> Callable[[PairPane], None]:
    def show(pane: PairPane) -> None:
        pane.show_pair(title)
        pane.show_checks(checks)
        pane.show_contract(contract)
        pane.show_plan(plan, can_undo=can_undo, is_in_vain=is_in_vain)

    return show


def _checking(pane: PairPane) -> None:
    _shown(GOOD)(pane)
    pane.show_progress("Prompt 3 of 5 (code)", "21 of 50 answers · about 20 s left", 0.42)


def _repairing(pane: PairPane) -> None:
    _shown(WARNINGS, (USELESS,), PLAN)(pane)
    pane.show_progress("Repairing", "", 0.0)


def _busy(pane: PairPane) -> None:
    _shown(GOOD)(pane)
    pane.show_problem(BUSY)


def _compared(pane: PairPane) -> None:
    _shown(GOOD, (WORKING,))(pane)
    pane.show_others(2)
    checks = (
        PrecisionCheck("Qwen3-8B-DFlash-int4-per-column", "int4", CheckVerdict.USELESS, 1.1, 0.8),
        PrecisionCheck("Qwen3-8B-DFlash-int8", "int8", CheckVerdict.WORKING, 3.62, 2.4),
        PrecisionCheck("Qwen3-8B-DFlash", "fp16", CheckVerdict.WORKING, 3.7, 2.31),
    )
    pane.show_precisions(compare_precisions(checks))


def _ways(pane: PairPane, *, is_measured: bool = False, pays: bool = True) -> None:
    _shown(GOOD, (WORKING,))(pane)
    titles = ("Qwen3.5 4B int4 with Qwen3.5 4B DFlash", "Qwen3.5 4B int4 with its own head")
    settings = ((3, 1.42), (2, 1.91)) if pays else ((0, None), (0, None))
    reports = tuple(
        replace(report(chosen=ChosenSetting(*setting, "because")), pair_title=title)
        for title, setting in zip(titles, settings, strict=True)
    )
    pane.show_ways(titles, WaysCompared(reports) if is_measured else None)


def _unfolded(pane: PairPane) -> None:
    from dflash_desktop.ui.widgets.fold import Fold

    _shown(GOOD)(pane)
    for fold in pane.findChildren(Fold):
        fold.button.click()


STATES: dict[str, Callable[[PairPane], None]] = {
    "pair-looking": lambda pane: pane.show_pair(TITLE),
    "pair-good": _shown(GOOD),
    "pair-unfolded": _unfolded,
    "pair-warnings": _shown(WARNINGS, (), PLAN),
    "pair-blocked": _shown(BLOCKED, (NOT_ATTACHED,)),
    "pair-not-mended": _shown(WARNINGS, (), NOT_MENDED),
    "pair-repairing": _repairing,
    "pair-in-vain": _shown(GOOD, (USELESS,), can_undo=True, is_in_vain=True),
    "pair-checking": _checking,
    "pair-working": _shown(GOOD, (WORKING,)),
    "pair-precisions": _compared,
    "pair-ways": _ways,
    "pair-ways-measured": partial(_ways, is_measured=True),
    "pair-ways-no-gain": partial(_ways, is_measured=True, pays=False),
    "pair-tie": _shown(GOOD, (TIE,)),
    "pair-useless": _shown(WARNINGS, (USELESS,), PLAN),
    "pair-wrong": _shown(GOOD, (WRONG,)),
    "pair-history": _shown(GOOD, (WORKING, USELESS, WRONG, NOT_ATTACHED), can_undo=True),
    "pair-busy": _busy,
    "pair-long": _shown(
        LONG,
        (replace(WORKING, accepted=(0.9,) * 15, device_name="A device " * 12),),
        title="x" * 200,
    ),
}


def _pane(theme: Theme, show: Callable[[PairPane], None]) -> QWidget:
    pane = PairPane(theme=theme, report=lambda problem: problem.detail)
    show(pane)
    return pane


def _models(theme: Theme) -> QWidget:
    pane = ModelsPane(theme=theme, report=lambda problem: problem.detail)
    pane.show_cards(cards(CardState.AVAILABLE))
    device = Device("CPU", "Intel Core Ultra 7 258V")
    pane.run_form.show_choices((device,), replace(Settings(), exact_text=True))
    return pane


def main() -> None:
    """Take all shots, or those that were asked for."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "shots")
    shots = Shots(folder, sys.argv[2:])
    for size, prefix in ((None, ""), (NARROW, "narrow-")):
        for name, show in STATES.items():
            build = partial(_pane, shots.theme, show)
            at = size or (1180, 1100)
            shots.take(prefix + name, nothing, build, page=Page.PAIR, size=at)
        build = partial(_models, shots.theme)
        at = size or (1180, 1700)
        shots.take(f"{prefix}pair-exact", nothing, build, page=Page.MODELS, size=at)


if __name__ == "__main__":
    main()
