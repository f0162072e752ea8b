"""Fills the models page and does what a person asks of it."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import TYPE_CHECKING

from dflash_desktop.domain.devices import offered_devices
from dflash_desktop.domain.engine_state import Loading, Starting, loaded_pair
from dflash_desktop.domain.starter import STARTER_PAIR_ID, StarterState
from dflash_desktop.ui.models.pair_budgets import PairBudgets
from dflash_desktop.ui.models.words import (
    CardState,
    PairCardContent,
    folder_facts,
    loaded_facts,
    measured_fact,
    starter_note,
)
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection
    from pathlib import Path

    from dflash_desktop.domain.devices import Device
    from dflash_desktop.domain.generation import KvCachePrecision
    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.domain.memory_pool import MemoryPool
    from dflash_desktop.domain.own_pair import OwnPairEntry
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.starter import StarterPin
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.own_pairs import OwnPairs
    from dflash_desktop.services.pair_library import PairLibrary, StarterPair
    from dflash_desktop.services.settings_store import SettingsStore
    from dflash_desktop.ui.machine_look import MachineLook
    from dflash_desktop.ui.models.pane import ModelsPane
    from dflash_desktop.ui.pair_presenter import PairPresenter

_STARTER_STATES = {
    StarterState.MISSING: CardState.NOT_INSTALLED,
    StarterState.INSTALLING: CardState.INSTALLING,
    StarterState.BROKEN: CardState.NEEDS_REPAIR,
}


class ModelsPresenter:
    """Shows the pairs with what is known of each, and passes wishes on."""

    def __init__(
        self,
        *,
        pane: ModelsPane,
        pin: StarterPin,
        starter: StarterPair,
        library: PairLibrary,
        pairs: PairPresenter,
        engine: Engine,
        settings: SettingsStore,
        own_pairs: OwnPairs,
        models: Callable[[], tuple[InstalledModel, ...]] = tuple,
        machine: MachineLook,
        pool_of: Callable[[HardwareReport], Awaitable[MemoryPool]],
        on_problem: Callable[[Problem], None],
    ) -> None:
        self._pane = pane
        self._pin = pin
        self._starter = starter
        self._library = library
        self._pairs = pairs
        self._engine = engine
        self._machine = machine
        self._settings = settings
        self._own_pairs = own_pairs
        self._models = models
        self._by_folder: dict[Path, InstalledModel] = {}
        self._devices: tuple[Device, ...] = ()
        self._tasks = TaskScope(owner=pane, on_problem=on_problem)
        self._adding = TaskScope(owner=pane, on_problem=pane.own_pair_form.show_problem)
        self._budgets = PairBudgets(
            owner=pane,
            machine=machine,
            pool_of=pool_of,
            on_change=self.refresh,
            on_problem=on_problem,
        )
        pairs.subscribe(self.refresh)
        pane.load_requested.connect(pairs.load)
        pane.remove_requested.connect(lambda i: self._tasks.start(self._remove(i)))
        pane.own_pair_form.add_requested.connect(
            lambda title, target, draft: self._adding.start(self._add(title, target, draft))
        )
        pane.own_pair_form.hub_pair_requested.connect(
            lambda entry: self._adding.start(self._add_hub_pair(entry))
        )
        pane.own_pair_form.added.remove_requested.connect(
            lambda pair_id: self._adding.start(self._remove_hub_pair(pair_id))
        )
        self._adding.start(self._show_hub_pairs())
        pane.run_form.device_chosen.connect(lambda d: self._tasks.start(self._use_device(d)))
        pane.run_form.precision_chosen.connect(lambda p: self._tasks.start(self._use_precision(p)))
        pane.run_form.exact_chosen.connect(lambda on: self._tasks.start(self._use_exact(on)))
        self._show_choices()
        self._tasks.start(self._find_devices())
        self.refresh()

    def refresh(self) -> None:
        """Show the pairs as they are now."""
        status = self._starter.status()
        contents = []
        if status.state is not StarterState.READY:
            contents.append(self._starter_card(_STARTER_STATES[status.state], status.detail))
        self._by_folder = {model.path: model for model in self._models()}
        chosen = self._pairs.chosen
        pairs = shown_pairs(
            self._library.pairs(),
            library_folders=self._by_folder,
            chosen_id="" if chosen is None else chosen.id,
        )
        contents += [self._card(pair) for pair in pairs]
        self._budgets.find_out(pairs)
        self._pane.show_cards(tuple(contents))

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        for scope in (self._tasks, self._adding):
            scope.close()
            await scope.wait()
        await self._budgets.close()

    def _starter_card(self, state: CardState, detail: str) -> PairCardContent:
        facts = (("State", detail),) if detail else ()
        return PairCardContent(
            STARTER_PAIR_ID,
            self._pin.title,
            starter_note(self._pin, is_installed=False),
            state,
            facts,
        )

    def _card(self, pair: PairFolders) -> PairCardContent:
        target_bytes = self._library.weight_bytes(pair.target_dir)
        draft_bytes = (
            None if pair.draft_dir is None else self._library.weight_bytes(pair.draft_dir)
        )
        is_starter = pair.id == STARTER_PAIR_ID
        added = {one.id for one in self._settings.value.added_pairs}
        state = self._state(pair, is_there=target_bytes is not None)
        now = datetime.now().astimezone()
        facts = folder_facts(pair, target_bytes, draft_bytes, self._by_folder, now)
        loaded = loaded_pair(self._engine.state)
        if state is CardState.LOADED and loaded is not None:
            facts = (*facts, *loaded_facts(loaded))
            if loaded.draft is not None:
                facts = (*facts, measured_fact(self._pairs.measured()))
        return PairCardContent(
            pair_id=pair.id,
            title=pair.title,
            note=starter_note(self._pin, is_installed=True) if is_starter else pair.note,
            state=state,
            facts=facts,
            has_draft=pair.draft_dir is not None,
            is_own=pair.id in added,
            parts=self._budgets.parts(pair),
            usable_bytes=self._budgets.usable_bytes,
        )

    def _state(self, pair: PairFolders, *, is_there: bool) -> CardState:
        chosen = self._pairs.chosen
        if chosen is not None and chosen.id == pair.id:
            if loaded_pair(self._engine.state) is not None:
                return CardState.LOADED
            if isinstance(self._engine.state, Loading | Starting):
                return CardState.LOADING
        return CardState.AVAILABLE if is_there else CardState.ABSENT

    def _show_choices(self) -> None:
        self._pane.run_form.show_choices(self._devices, self._settings.value)

    async def _find_devices(self) -> None:
        """Not from the engine: a driver that crashes when it is asked would take it along."""
        known = await self._machine.remembered()
        if known is not None:
            self._devices = offered_devices(known[1])
            self._show_choices()
        _, devices = await self._machine.look()
        self._devices = offered_devices(devices)
        self._show_choices()

    async def _add(self, title: str, target_dir: Path, draft_dir: Path | None) -> None:
        form = self._pane.own_pair_form
        form.show_checking(True)
        try:
            await self._library.add(title, target_dir, draft_dir)
        finally:
            form.show_checking(False)
        form.clear()
        self._pairs.refresh()

    async def _add_hub_pair(self, entry: OwnPairEntry) -> None:
        pair = await asyncio.to_thread(self._own_pairs.add, entry)
        self._pane.own_pair_form.clear()
        await self._show_hub_pairs()
        self._pane.own_pair_form.added.focus_pair(pair.id)

    async def _remove_hub_pair(self, pair_id: str) -> None:
        await asyncio.to_thread(self._own_pairs.remove, pair_id)
        await self._show_hub_pairs()
        self._pane.own_pair_form.focus_target()

    async def _show_hub_pairs(self) -> None:
        pairs = await asyncio.to_thread(self._own_pairs.pairs)
        self._pane.own_pair_form.added.show_pairs(tuple((p.id, p.title) for p in pairs))

    async def _remove(self, pair_id: str) -> None:
        self._library.remove(pair_id)

    async def _use_device(self, device: str) -> None:
        self._settings.change(device=device)
        self._show_choices()

    async def _use_exact(self, is_on: bool) -> None:
        try:
            # A precision that was named would be taken before one that was proven.
            self._settings.change(
                exact_text=is_on,
                kv_cache_precision=None if is_on else self._settings.value.kv_cache_precision,
            )
        finally:
            self._show_choices()

    async def _use_precision(self, precision: KvCachePrecision | None) -> None:
        self._settings.change(kv_cache_precision=precision)


def shown_pairs(
    pairs: tuple[PairFolders, ...], *, library_folders: Collection[Path], chosen_id: str
) -> list[PairFolders]:
    """What has a card: pairs with a draft, one's own, and what was chosen, which comes first.

    A target alone stands in the list of what is on this disk, and can be loaded from there.
    """
    shown = [
        pair
        for pair in pairs
        if pair.draft_dir is not None
        or pair.target_dir not in library_folders
        or pair.id == chosen_id
    ]
    return sorted(shown, key=lambda pair: pair.id != chosen_id)
