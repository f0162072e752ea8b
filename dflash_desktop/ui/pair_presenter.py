"""Loads the pair that was chosen, and keeps header, status line and banner true about it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.device_identity import plain_name
from dflash_desktop.domain.devices import graphics_gone
from dflash_desktop.domain.engine_state import Generating, Loading, MakingPicture, loaded_pair
from dflash_desktop.domain.generation import DraftState
from dflash_desktop.domain.pair import measurement_key
from dflash_desktop.domain.problems import Problem, Remedy, Severity
from dflash_desktop.services.fastest_way import ChosenWay, fastest_way, ways_of
from dflash_desktop.services.pair_look import can_repair
from dflash_desktop.ui.engine_words import WayOut, model_facts, short_device_name, state_words
from dflash_desktop.ui.header import DraftBadge
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.benchmark import BenchReport
    from dflash_desktop.domain.engine_state import EngineState
    from dflash_desktop.domain.generation import DraftUse
    from dflash_desktop.domain.pair import LoadedPair, PairFolders
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.services.pair_library import PairLibrary
    from dflash_desktop.services.pair_loading import PairLoading
    from dflash_desktop.services.settings_store import SettingsStore
    from dflash_desktop.ui.main_window import MainWindow

_LOAD_REMEDIES = (Remedy.RESTART_ENGINE, Remedy.LOAD_WITHOUT_DRAFT, Remedy.USE_CPU)
"""Ways out of a failed load that this presenter takes itself."""

_OF_FILES = frozenset(
    {"draft_broken", "draft_not_dflash", "locators_missing", "pair_mismatch", "tokenizer_missing"}
)
"""Failed loads whose cause may be an entry of the files that a repair writes."""

_CAN_BE_REPAIRED = "Its files can be repaired; first you see what would be written."


class PairPresenter:
    """`chosen` is the pair that is loaded or being loaded; pages `subscribe` to changes."""

    def __init__(
        self,
        *,
        window: MainWindow,
        engine: Engine,
        library: PairLibrary,
        loading: PairLoading,
        settings: SettingsStore,
        measurements: MeasurementStore,
        draft_plan: Callable[[], DraftUse],
    ) -> None:
        self._window = window
        self._engine = engine
        self._library = library
        self._loading = loading
        self._settings = settings
        self._measurements = measurements
        self._draft_plan = draft_plan
        self._listeners: list[Callable[[], None]] = []
        self._loads = TaskScope(owner=window, on_problem=self._show_load_problem)
        self._stops = TaskScope(owner=window, on_problem=self._show_load_problem)
        self._is_named = False  # whether the person named the draft of `chosen`
        self._looks = TaskScope(owner=window, on_problem=window.show_problem)
        self.chosen: PairFolders | None = None
        self._ends = [
            engine.subscribe(self._on_engine_state),
            library.subscribe(self.refresh),
            measurements.subscribe(lambda _: self.refresh()),
            settings.subscribe(lambda _: self.refresh()),
        ]
        window.header.pair_chosen.connect(self.load)
        window.status_line.way_out_requested.connect(self._on_way_out)
        self.refresh()

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after each change of the pairs, the engine or what was measured."""
        self._listeners.append(listener)

    def load(self, pair_id: str, with_draft: bool = True) -> None:
        """Load a pair in place of the loaded one; a load that still runs is given up.

        It is the person's choice, and stays it when another draft is measured to be faster.
        """
        pair = self._library.find(pair_id)
        if pair is None:
            return
        if self.chosen is None or self.chosen.id != pair.id:  # else it is loaded again
            self._is_named = True
        self._load(pair if with_draft else replace(pair, draft_dir=None))

    def load_fastest(self, pair_id: str) -> None:
        """Load this pair's target with the draft that was measured to be fastest, and say why.

        For whoever named the target and no draft; as long as nothing was measured, the pair.
        """
        pair = self._library.find(pair_id)
        if pair is not None:
            self._is_named = False
            self._load(pair, takes_fastest=True)

    def load_for_model(self, pair_id: str, folder: Path) -> None:
        """Load a pair for whoever picked this model of it: a target names no draft."""
        pair = self._library.find(pair_id)
        if pair is not None:
            (self.load_fastest if folder == pair.target_dir else self.load)(pair.id)

    def follow(self, pair: PairFolders) -> None:
        """Somebody else loads this pair: a load that still runs is given up, and it is shown."""
        self._loads.cancel_all()
        self._window.clear_problem()
        self.chosen = pair
        self.refresh()

    def load_preferred(self) -> bool:
        """Load the last used pair, or else the first one; False when there is none at all.

        Where its target has several drafts, the one that was measured to be faster is taken,
        unless the person chose the last one by name.
        """
        pair = self._library.preferred()
        if pair is None:
            return False
        settings = self._settings.value
        self._is_named = settings.keeps_way and pair.id == settings.last_pair_id
        self._load(pair, takes_fastest=not self._is_named)
        return True

    def take_way_out(self, remedy: Remedy) -> bool:
        """Do what a problem's button says, if it is about loading; False if it is not."""
        if remedy not in _LOAD_REMEDIES or self.chosen is None:
            return False
        without_draft = remedy is Remedy.LOAD_WITHOUT_DRAFT
        pair = replace(self.chosen, draft_dir=None) if without_draft else self.chosen
        self._load(pair, on_cpu=remedy is Remedy.USE_CPU)
        return True

    def measured(self) -> BenchReport | None:
        """What was measured for the loaded pair under the present conditions."""
        pair = loaded_pair(self._engine.state)
        return None if pair is None else self._measurements.get(measurement_key(pair))

    def other_ways(self) -> list[str]:
        """The titles of the other pairs that draft for the chosen one's target."""
        if self.chosen is None:
            return []
        return [way.title for way in ways_of(self.chosen, self._library.pairs())[1:]]

    def refresh(self) -> None:
        """Show the state of everything anew."""
        self._on_engine_state(self._engine.state)

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        for end in self._ends:
            end()
        for scope in (self._loads, self._stops, self._looks):
            scope.close()
            await scope.wait()

    def _load(
        self, pair: PairFolders, *, on_cpu: bool = False, takes_fastest: bool = False
    ) -> None:
        self.chosen = pair
        self._window.clear_problem()
        self._looks.cancel_all()
        self._loads.cancel_all()
        self._loads.start(self._load_now(pair, on_cpu=on_cpu, takes_fastest=takes_fastest))
        self.refresh()

    async def _load_now(self, pair: PairFolders, *, on_cpu: bool, takes_fastest: bool) -> None:
        if takes_fastest:
            pairs, asked = self._library.pairs(), pair
            way = await asyncio.to_thread(fastest_way, pair, pairs, self._measurements)
            self.chosen = pair = way.pair
            if way.reason:
                self._window.show_problem(_faster_way(asked, way))
        if isinstance(self._engine.state, Loading):
            # A compilation cannot be interrupted, only ended with its process.
            await self._engine.stop()
        if on_cpu:
            self._settings.change(device="CPU")
        settings = self._settings.value
        loaded = await self._loading.load(
            pair, device=settings.device, kv_cache_precision=settings.kv_cache_precision
        )
        self._settings.change(last_pair_id=pair.id, keeps_way=self._is_named)
        if not settings.device:
            self._note_automatic_device(loaded)

    def _note_automatic_device(self, loaded: LoadedPair) -> None:
        """Graphics that Automatic had before and has no more are missed in words."""
        if loaded.device != "CPU":
            self._settings.change(last_graphics=plain_name(loaded.device_name))
        elif self._settings.value.last_graphics:
            self._window.show_problem(graphics_gone(self._settings.value.last_graphics))

    def _on_engine_state(self, state: EngineState) -> None:
        window = self._window
        window.status_line.show_state(state_words(state))
        pair = loaded_pair(state)
        window.status_line.show_facts(() if pair is None else model_facts(pair))
        window.header.show_device("" if pair is None else short_device_name(pair.device_name))
        window.header.show_badge(None if pair is None else self._badge())
        current = self.chosen.id if self.chosen is not None else ""
        window.header.show_pairs(self._library.pairs(), current)
        for listener in tuple(self._listeners):
            listener()

    def _badge(self) -> DraftBadge:
        plan = self._draft_plan()
        report = self.measured() if plan.state is DraftState.ON else None
        return DraftBadge(plan.state, plan.reason, report.chosen.speedup if report else None)

    def _on_way_out(self, way_out: WayOut) -> None:
        match way_out:
            case WayOut.STOP_ENGINE:
                self._stops.start(self._stop())
            case WayOut.RESTART_ENGINE:
                self._load_again()

    async def _stop(self) -> None:
        was_answering = isinstance(self._engine.state, Generating | MakingPicture)
        await self._engine.stop()
        if was_answering and self.chosen is not None:
            self._load(self.chosen)
        else:
            self.chosen = None
            self.refresh()

    def _show_load_problem(self, problem: Problem) -> None:
        self._window.show_problem(problem, retry=self._load_again)
        self.refresh()
        if self.chosen is not None and problem.code in _OF_FILES:
            self._looks.start(self._offer_repair(problem, self.chosen))

    async def _offer_repair(self, problem: Problem, pair: PairFolders) -> None:
        """A second later: reading the files must not hold up what is said."""
        can_be_mended = await asyncio.to_thread(can_repair, pair.target_dir, pair.draft_dir)
        shown = self._window.banner.problem
        if can_be_mended and shown is not None and shown.code == problem.code:
            self._window.show_problem(with_repair(problem), retry=self._load_again)

    def _load_again(self) -> None:
        if self.chosen is not None:
            self._load(self.chosen)


def _faster_way(asked: PairFolders, way: ChosenWay) -> Problem:
    """Said when a target runs with another draft than the one that stands in the list first."""
    return Problem(
        code="faster_way",
        headline=f"“{way.pair.title}” was loaded instead of “{asked.title}”.",
        advice=f"{way.reason} To use the other one all the same, choose it by its name.",
        severity=Severity.INFO,
    )


def with_repair(problem: Problem) -> Problem:
    """The same problem with the repair as its first way out."""
    advice = f"{_CAN_BE_REPAIRED} {problem.advice}"
    return replace(problem, advice=advice, remedies=(Remedy.REPAIR, *problem.remedies))
