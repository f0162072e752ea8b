"""Draws the window's frame and pages in every state to PNG files, for people to look at.

    .venv/bin/python -m tests.ui.shots_shell [FOLDER] [WORD …]

Only the shots whose names contain one of the words are drawn.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if len(sys.argv) > 2 and sys.argv[1] == "--scale":
    os.environ["QT_SCALE_FACTOR"] = sys.argv[2]
    del sys.argv[1:3]

from PySide6.QtCore import QCoreApplication, QEvent, QSettings
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication, QWidget

from dflash_desktop.domain.benchmark import (
    BenchPrompt,
    BenchReport,
    BenchRun,
    ChosenSetting,
    FirstDifference,
    PromptKind,
    PromptResult,
)
from dflash_desktop.domain.devices import Device
from dflash_desktop.domain.engine_state import (
    Absent,
    Crashed,
    EngineState,
    Generating,
    Loaded,
    Loading,
)
from dflash_desktop.domain.generation import DraftState, KvCachePrecision
from dflash_desktop.domain.memory_budget import MemoryBudget
from dflash_desktop.domain.memory_parts import parts_of_budget
from dflash_desktop.domain.pair import (
    MeasurementKey,
    PairFolders,
)
from dflash_desktop.domain.problems import Problem, Remedy, Severity
from dflash_desktop.domain.settings import Settings
from dflash_desktop.domain.settings import Theme as ThemeChoice
from dflash_desktop.domain.starter import InstallProgress, InstallStage
from dflash_desktop.paths import AppPaths, resources_dir
from dflash_desktop.services.conversation_store import ConversationSummary
from dflash_desktop.services.error_map import problem_from_failure
from dflash_desktop.services.home_check import home_problem
from dflash_desktop.services.last_run import LastRun
from dflash_desktop.services.opened_path import offer_of, opened_of
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.ui.conversation_list import grouped
from dflash_desktop.ui.engine_words import model_facts, state_words
from dflash_desktop.ui.header import DraftBadge
from dflash_desktop.ui.main_window import MainWindow
from dflash_desktop.ui.measure.pane import MeasurePane
from dflash_desktop.ui.models.pane import ModelsPane
from dflash_desktop.ui.models.words import (
    CardState,
    PairCardContent,
    folder_facts,
    loaded_facts,
    measured_fact,
    starter_note,
)
from dflash_desktop.ui.pages import Page
from dflash_desktop.ui.pair_presenter import with_repair
from dflash_desktop.ui.starter.pane import StarterPane
from dflash_desktop.ui.theme import Theme
from dflash_desktop.workers.protocol import Failed
from tests.exporting.checkpoints import write_checkpoint
from tests.ui.shell_values import LOADED as MY_LOADED

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime.now(UTC)
PIN = starter_resources().pin
STARTER = PairFolders(
    "starter",
    PIN.title,
    Path("/home/ada/.local/share/dflash-desktop/models/starter"),
    Path("/opt/dflash-desktop/resources/starter/draft"),
)
BUDGET = MemoryBudget(
    207_000_000, 133_000_000, 912_000_000, 0, 225_000_000, 8192, is_estimated=False
)
OWN = PairFolders(
    "own",
    "Ornith 1.5 9B int4 with a long descriptive name that does not fit",
    Path("/media/ada/models/ornith-1.5-9b-int4-ov-with-a-rather-long-folder-name/target"),
    None,
)
LOADED = replace(
    MY_LOADED, title=PIN.title, target_dir=STARTER.target_dir, draft_dir=STARTER.draft_dir
)


def _run(
    tokens: int, base: float, rate: float, per_step: float, differs: bool = False
) -> BenchRun:
    difference = FirstDifference(37, " bright and", " bright, and", 0.0004, 0.01)
    return BenchRun(
        assistant_tokens=tokens,
        baseline_tokens_per_second=base,
        tokens_per_second=rate,
        tokens_per_step=per_step,
        identical=not differs,
        first_difference=difference if differs else None,
        baseline_first_token_seconds=0.1,
        first_token_seconds=0.1,
        tokens=128,
    )


def report() -> BenchReport:
    """A measurement with every kind of line in it."""
    results = tuple(
        PromptResult(
            BenchPrompt(kind, f"A question for {kind.value}"),
            tuple(
                _run(t, 48.2 + i, (48.2 + i) * f * (1 + i / 20), s + i / 10, differs=i == 1)
                for t, f, s in ((1, 0.94, 1.71), (2, 1.09, 2.25), (3, 1.12, 2.66), (4, 1.0, 2.94))
            ),
        )
        for i, kind in enumerate(PromptKind)
    )
    return BenchReport(
        key=MeasurementKey(
            LOADED.fingerprint,
            LOADED.device_name,
            LOADED.driver,
            LOADED.runtime,
            KvCachePrecision.F16,
        ),
        pair_title=LOADED.title,
        measured_at=NOW,
        is_fast=True,
        power_source="battery",
        prompts=results,
        chosen=ChosenSetting(3, 1.21, "3 assistant tokens gave the most over all prompts."),
    )


def conversations() -> tuple[ConversationSummary, ...]:
    """Three groups, a long title, a damaged file."""
    broken = Problem("conversation_damaged", "This conversation cannot be read.", "")
    titles = (
        ("Explain speculative decoding to someone who knows Python", 0, None),
        ("Poem about rain", 0, None),
        ("Packing list for a week in the mountains in November", 1, None),
        ("3f2a9c.json", 4, broken),
        ("Regular expressions", 9, None),
        ("<b>markup</b> & ampersands", 30, None),
    )
    return tuple(
        ConversationSummary(str(i), title, NOW - timedelta(days=days), problem)
        for i, (title, days, problem) in enumerate(titles)
    )


def cards(state: CardState) -> tuple[PairCardContent, ...]:
    """The starter in a state, and one's own pair."""
    facts = folder_facts(STARTER, 92_485_340, 8_612_340)
    if state is CardState.LOADED:
        facts = (*facts[:1], *loaded_facts(LOADED), measured_fact(report()))
    if state in (CardState.NOT_INSTALLED, CardState.NEEDS_REPAIR):
        facts = ()
    own = PairCardContent(
        OWN.id,
        OWN.title,
        "",
        CardState.ABSENT if state is CardState.LOADED else CardState.AVAILABLE,
        folder_facts(OWN, 5_212_000_000, None),
        is_own=True,
    )
    is_here = state in (CardState.AVAILABLE, CardState.LOADED)
    starter = PairCardContent(
        STARTER.id,
        STARTER.title,
        starter_note(PIN, is_installed=is_here),
        state,
        facts,
        has_draft=True,
        parts=parts_of_budget(BUDGET, 20_700_000_000) if is_here else (),
        usable_bytes=20_700_000_000,
    )
    return (starter, own)


class Shots:
    """Builds a window for each shot and grabs it."""

    def __init__(self, folder: Path, words: list[str]) -> None:
        if str(folder).startswith("-"):
            raise SystemExit("Name a folder: [--scale 1.5] FOLDER [WORD …]")
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._words = words
        self._application = QApplication([])
        self.theme = Theme(self._application)
        self._state = TemporaryDirectory()

    def take(
        self,
        name: str,
        arrange: Callable[[MainWindow], None],
        build: Callable[[], QWidget],
        *,
        page: Page = Page.CHAT,
        size: tuple[int, int],
    ) -> None:
        """One PNG for each colour set."""
        if self._words and not any(word in name for word in self._words):
            return
        for choice in (ThemeChoice.LIGHT, ThemeChoice.DARK):
            self.theme.choose(choice)
            window = self._window()
            window.resize(*size)
            window.add_page(page, build())
            window.show_page(page)
            arrange(window)
            window.show()
            window.sidebar.focus_page(page)
            for _ in range(5):
                self._application.processEvents()
            window.grab().save(str(self._folder / f"{name}-{choice.value}.png"))
            window.deleteLater()
            QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)

    def _window(self) -> MainWindow:
        """A window with conversations and a loaded model."""
        window = MainWindow(
            theme=self.theme,
            logo=QIcon(str(resources_dir() / "icons" / "app.svg")),
            report=_report,
            remember=QSettings(str(Path(self._state.name) / "w.ini"), QSettings.Format.IniFormat),
            may_close=lambda: True,
        )
        rows = grouped(conversations(), NOW.astimezone())
        window.sidebar.show_conversations(rows, "0", "")
        window.header.show_pairs((STARTER, OWN), "starter")
        window.header.show_device("Arc 140V")
        window.header.show_badge(DraftBadge(DraftState.ON, "Measured here.", 2.4))
        show_state(window, Loaded(LOADED))
        window.status_line.show_facts(model_facts(LOADED))
        return window


def show_state(window: MainWindow, state: EngineState) -> None:
    """The status line for a state."""
    window.status_line.show_state(state_words(state))


def nothing(window: MainWindow) -> None:
    """The window as it is."""


def first_start(window: MainWindow) -> None:
    """No conversation, no model."""
    window.sidebar.show_conversations((), "", "Your conversations will be listed here.")
    window.header.show_pairs((), "")
    window.header.show_device("")
    window.header.show_badge(None)
    window.status_line.show_facts(())
    show_state(window, Absent())


def banner(window: MainWindow) -> None:
    """A crash that waits for the person, and something to undo."""
    window.show_problem(
        Problem(
            "engine_crashed",
            "The engine ended while answering.",
            "What was written is kept. It was started again; try once more.",
            Severity.ERROR,
            "exit code -9",
            (Remedy.RETRY, Remedy.OPEN_LOG),
        ),
        retry=lambda: None,
    )
    show_state(window, Crashed("killed", -9, (), will_restart=False))
    window.sidebar.show_undo("Packing list for a week in the mountains")


def opened(window: MainWindow) -> None:
    """Another start handed over the folder of a model."""
    window.show_problem(offer_of(str(resources_dir() / "starter" / "draft"))[0])


def opened_checkpoint(window: MainWindow) -> None:
    """Another start handed over a checkpoint."""
    with TemporaryDirectory() as folder:
        checkpoint = write_checkpoint(Path(folder) / "Qwen3-8B-DFlash-b16", "draft")
        window.show_problem(offer_of(str(checkpoint))[0])


def opened_several(window: MainWindow) -> None:
    """Three pictures, a model and something else at once."""
    with TemporaryDirectory() as folder:
        pictures = [Path(folder) / f"{name}.jpg" for name in ("street", "house", "cat")]
        for file in pictures:
            file.write_bytes(b"\xff\xd8\xff\xe0" + bytes(20))
        model, nothing = resources_dir() / "starter" / "draft", Path(folder)
        window.show_problem(opened_of([str(p) for p in (*pictures, model, nothing)]).problem)


def ended_badly(window: MainWindow) -> None:
    """The last run left its mark."""
    with TemporaryDirectory() as folder:
        run = LastRun(mark_file=Path(folder) / "mark", faults_file=Path(folder) / "none")
        run.begin()
        problem = run.begin()
    assert problem is not None
    window.show_problem(problem)


def not_writable(window: MainWindow) -> None:
    """Nothing can be kept here."""
    file = Path(__file__)
    problem = home_problem(AppPaths(file / "a", file / "b", file / "c", file / "d"))
    assert problem is not None
    window.show_problem(problem)


def to_be_repaired(window: MainWindow) -> None:
    """A load that failed, of which a repair can mend the cause."""
    problem = problem_from_failure(Failed(0, "locators_missing", ""))
    window.show_problem(with_repair(problem), retry=lambda: None)


START_BANNERS = {
    "opened": opened,
    "opened-checkpoint": opened_checkpoint,
    "opened-several": opened_several,
    "ended-badly": ended_badly,
    "not-writable": not_writable,
    "to-be-repaired": to_be_repaired,
}


def slow_answer(window: MainWindow) -> None:
    """No word from the engine for a while."""
    show_state(window, Generating(LOADED, slow=True))


def slow_load(window: MainWindow) -> None:
    """The first compilation."""
    show_state(window, Loading("Compiling the target for GPU.0.", None, slow=True))


def _report(problem: Problem) -> str:
    return problem.detail


def _models(theme: Theme, state: CardState) -> QWidget:
    pane = ModelsPane(theme=theme, report=_report)
    pane.show_cards(cards(state))
    devices = (Device("CPU", "Intel Core Ultra 7 258V"), Device("GPU.0", "Arc 140V"))
    pane.run_form.show_choices(devices, Settings())
    return pane


def _starter(theme: Theme, show: Callable[[StarterPane], None]) -> QWidget:
    pane = StarterPane(theme=theme, pin=PIN, report=_report)
    show(pane)
    return pane


def _measure_ways(pane: MeasurePane) -> None:
    pane.show_invitation("Qwen3.5 4B int4 with Qwen3.5 4B DFlash")
    pane.show_ways(["Qwen3.5 4B int4 with its own head"])


def _measure(theme: Theme, show: Callable[[MeasurePane], None]) -> QWidget:
    pane = MeasurePane(theme=theme, report=_report)
    show(pane)
    return pane


PROGRESS = InstallProgress(
    InstallStage.DOWNLOADING, "Downloading the starter model.", 42_100_000, 98_362_432, 3.2e6
)
OFFLINE = Problem(
    "starter_needs_file",
    "The starter model could not be downloaded: there is no connection.",
    "Check the network.",
    detail="pip said no",
)
FAILED = Problem(
    "starter_check_failed",
    "The starter pair was made, but its draft does not work here.",
    "It gave 1.02 tokens for each step of the model, and more than 1.5 are expected.",
    detail="tokens per step: 1.02",
    remedies=(Remedy.RETRY,),
)
OFF = replace(report(), chosen=ChosenSetting(0, None, "No setting was faster than 1.02x."))
STARTERS: dict[str, Callable[[StarterPane], None]] = {
    "starter-offer": lambda p: p.show_offer(is_repair=False),
    "starter-progress": lambda p: p.show_progress(PROGRESS),
    "starter-offline": lambda p: p.show_offline(OFFLINE),
    "starter-failed": lambda p: p.show_offer(is_repair=False, problem=FAILED),
    "starter-repair": lambda p: p.show_offer(is_repair=True),
    "starter-ready": lambda p: p.show_ready(2.63),
}
MEASURES: dict[str, Callable[[MeasurePane], None]] = {
    "measure-none": lambda p: p.show_no_model("Load a model first, then measure its draft."),
    "measure-invite": lambda p: p.show_invitation(PIN.title),
    "measure-progress": lambda p: p.show_progress(
        "Prompt 3 of 5 (code), 3 assistant tokens", 0.42, "21 of 50 answers · about 20 s left"
    ),
    "measure-report": lambda p: p.show_report(
        report(), draft_words="The chat uses the draft with 3 assistant tokens.", draft_is_on=True
    ),
    "measure-off": lambda p: p.show_report(
        OFF, draft_words="The chat answers without the draft.", draft_is_on=False
    ),
    "measure-ways": _measure_ways,
}
NARROW = (720, 520)


def main() -> None:
    """Take all shots, or those that were asked for."""
    # These need this module.
    from tests.ui.shots_export import take_export
    from tests.ui.shots_image import take_images
    from tests.ui.shots_pictures import take_pictures

    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "shots")
    shots = Shots(folder, sys.argv[2:])
    theme = shots.theme
    for size, prefix in ((None, ""), (NARROW, "narrow-")):
        frame = size or (1180, 760)
        for name, arrange in (("frame", nothing), ("banner", banner), ("slow-load", slow_load)):
            shots.take(prefix + name, arrange, QWidget, size=frame)
        for name, arrange in START_BANNERS.items():
            shots.take(f"{prefix}start-{name}", arrange, QWidget, size=frame)
        shots.take(f"{prefix}slow-answer", slow_answer, QWidget, size=frame)
        for name, show in STARTERS.items():
            build = partial(_starter, theme, show)
            shots.take(prefix + name, first_start, build, page=Page.SETUP, size=frame)
        for state in (CardState.LOADED, CardState.AVAILABLE, CardState.NOT_INSTALLED):
            shots.take(
                f"{prefix}models-{state.name.lower()}",
                nothing,
                partial(_models, theme, state),
                page=Page.MODELS,
                size=size or (1180, 1100),
            )
        for name, show_measure in MEASURES.items():
            shots.take(
                prefix + name,
                nothing,
                partial(_measure, theme, show_measure),
                page=Page.MEASURE,
                size=size or (1180, 1500),
            )
    take_export(shots)
    take_pictures(shots)
    take_images(shots)


if __name__ == "__main__":
    main()
