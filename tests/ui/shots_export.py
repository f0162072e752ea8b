"""Draws the export page in every state to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_export [--scale 1.5] [FOLDER] [WORD …]

Only the shots whose names contain one of the words are drawn.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.export_run import ExportResult
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.ui.export.pane import ExportPane
from dflash_desktop.ui.export.run_words import status_words
from dflash_desktop.ui.pages import Page
from tests.ui.export.export_values import (
    CANNOT,
    DONE,
    ENVIRONMENTS,
    EVERY_RUN,
    FAILED,
    PAUSED,
    PLAN,
    REQUEST,
    RUNNING,
    TIGHT,
    WARNED,
)
from tests.ui.shots_shell import NARROW, Shots  # first: it sets the scale

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from dflash_desktop.ui.main_window import MainWindow
    from dflash_desktop.ui.theme import Theme

NO_REPO = Problem(
    "hub_no_such_repo",
    "The hub has no repository “Qwen/Qwen3-9B”.",
    "Look whether the name is right. A private one needs an access token.",
    detail="404",
    remedies=(Remedy.RETRY, Remedy.ENTER_TOKEN),
)


def _empty(pane: ExportPane) -> None:
    """Before anything was made."""
    pane.environments.show_environments(ENVIRONMENTS)


def _filled(pane: ExportPane) -> None:
    pane.form.show_pairs((REQUEST,))
    pane.form.show_request(REQUEST)
    pane.form._fold.button.setChecked(True)
    pane.environments.show_environments(ENVIRONMENTS)


def _mistaken(pane: ExportPane) -> None:
    pane.form.show_request(REQUEST)
    pane.form.show_problem(NO_REPO)


def _with_runs(pane: ExportPane) -> None:
    pane.runs.show_runs(EVERY_RUN)
    pane.form.show_pairs((REQUEST,))
    pane.environments.show_environments(ENVIRONMENTS)
    pane.environments.open()
    card = pane.environments.card("transformers-5.2")
    assert card is not None
    card.show_progress("Fetching torch", "412 MB of 1.32 GB", 0.31)


def _alone(pane: ExportPane) -> None:
    result = ExportResult(DONE.result.models, notes=("The draft was packed in groups of 64.",))  # type: ignore[union-attr]
    pane.show_run(replace(DONE, result=result))


STATES: dict[str, Callable[[ExportPane], None]] = {
    "export-empty": _empty,
    "export-filled": _filled,
    "export-mistaken": _mistaken,
    "export-runs": _with_runs,
    "export-plan-fits": lambda p: p.show_plan(PLAN),
    "export-plan-tight": lambda p: p.show_plan(TIGHT),
    "export-plan-cannot": lambda p: p.show_plan(CANNOT),
    "export-running": lambda p: p.show_run(RUNNING),
    "export-warned": lambda p: p.show_run(WARNED),
    "export-paused": lambda p: p.show_run(PAUSED),
    "export-failed": lambda p: p.show_run(FAILED),
    "export-done": lambda p: p.show_run(DONE),
    "export-unmeasured": _alone,
}


def _built(theme: Theme, show: Callable[[ExportPane], None]) -> QWidget:
    pane = ExportPane(theme=theme, report=lambda problem: problem.detail, cores=8)
    show(pane)
    return pane


def take_export(shots: Shots) -> None:
    """The page in every state, wide and narrow."""
    for size, prefix in (((1180, 1240), ""), (NARROW, "narrow-")):
        for name, show in STATES.items():
            build = partial(_built, shots.theme, show)
            shots.take(prefix + name, exporting, build, page=Page.EXPORT, size=size)


def exporting(window: MainWindow) -> None:
    """What the frame says of an export that runs."""
    window.sidebar.show_count(Page.EXPORT, 1)
    window.status_line.show_work(status_words((RUNNING,)))


def main() -> None:
    """Take all shots, or those that were asked for."""
    take_export(Shots(Path(sys.argv[1] if len(sys.argv) > 1 else "shots"), sys.argv[2:]))


if __name__ == "__main__":
    main()
