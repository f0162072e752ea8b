"""Loads a pair the way this machine and the person's settings ask for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.domain.device_identity import is_openvino_name
from dflash_desktop.domain.devices import Device, choose_device, normal_device_id, stored_choice
from dflash_desktop.domain.engine_state import Absent, Crashed, Ready, Stopping, loaded_pair
from dflash_desktop.domain.exactness import ExactChoice, exact_choice
from dflash_desktop.domain.model_facts import parse_version
from dflash_desktop.domain.residency import can_keep_both
from dflash_desktop.services.memory_guard import MemoryGuard
from dflash_desktop.services.model_inspection import installed_runtime
from dflash_desktop.workers.model_folder import fingerprint, weight_bytes

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from dflash_desktop.domain.generation import KvCachePrecision
    from dflash_desktop.domain.pair import LoadedPair, MeasurementKey, PairFolders
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.services.settings_store import SettingsStore

_CPU = "CPU"
_HOLDS_NOTHING = (Absent, Ready, Stopping)


class PairLoading:
    """Chooses device, compile cache and residency, and has the engine load the pair.

    With `settings`, a device that they keep by OpenVINO's name, as this program once did, is kept
    by its identity from now on. `note_used` is told of each pair that was loaded.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        compile_cache_dir: Path,
        settings: SettingsStore | None = None,
        note_used: Callable[[PairFolders], Awaitable[None]] | None = None,
        measurements: MeasurementStore | None = None,
        memory_guard: MemoryGuard | None = None,
    ) -> None:
        self._engine = engine
        self._compile_cache_dir = compile_cache_dir
        self._settings = settings
        self._note_used = note_used
        self._measurements = measurements
        self._folders: PairFolders | None = None
        self._guard = memory_guard or MemoryGuard()

    def folders_in_use(self) -> tuple[Path, ...]:
        """The folders of the pair that is loaded, is being loaded, or will be again."""
        state = self._engine.state
        is_ended = isinstance(state, Crashed) and not state.will_restart
        if is_ended or isinstance(state, _HOLDS_NOTHING):
            return ()
        held = loaded_pair(state) or self._folders  # somebody else may have loaded another pair
        folders = () if held is None else (held.target_dir, held.draft_dir)
        return tuple(folder for folder in folders if folder is not None)

    async def load(
        self,
        folders: PairFolders,
        *,
        device: str = "",
        kv_cache_precision: KvCachePrecision | None = None,
        exact: bool | None = None,
    ) -> LoadedPair:
        """Load a pair; an empty `device` takes the best one.

        With `exact`, which is the settings' unless it is given, a precision that is not named is
        the one that measurements proved to keep the text.

        Raises `AppError`: "device_missing" or "device_ambiguous" rather than falling to another
        device, "devices_silent" when a driver hangs, "memory_running_out" before the machine
        stands still, and what the engine says of the files.
        """
        chosen = await self.chosen_device(device)
        self._folders = folders
        if exact is None:
            exact = self._settings is not None and self._settings.value.exact_text
        if exact and kv_cache_precision is None:
            kv_cache_precision = (await self.exact_choice(folders, chosen)).precision
        load = self._engine.load(
            folders,
            device=chosen.id,
            device_name=chosen.full_name,
            kv_cache_precision=kv_cache_precision,
            keep_both=_keeps_both(folders),
            # Compiling for a GPU takes minutes and is worth keeping; for a CPU it takes a second.
            cache_dir=self._compile_cache_dir if chosen.id.startswith("GPU") else None,
        )
        loaded = await self._guard.watch(load, stop=self._engine.stop)
        if self._note_used is not None:
            await self._note_used(folders)
        return loaded

    async def exact_choice(self, folders: PairFolders, device: Device) -> ExactChoice:
        """The precision that keeps this pair's text on this device, as far as it was measured."""
        if self._measurements is None:
            return exact_choice(())
        try:
            pair = await asyncio.to_thread(fingerprint, folders.target_dir, folders.draft_dir)
        except OSError:
            return exact_choice(())  # the engine will say what is wrong with the folders
        runtime = parse_version(installed_runtime() or "")
        return exact_choice(
            report
            for report in self._measurements.of_pair(pair)
            if parse_version(report.key.runtime) == runtime and _is_on(device, report.key)
        )

    async def chosen_device(self, wanted: str) -> Device:
        """The device that `wanted` means. Raises `AppError` as `load` does."""
        if normal_device_id(wanted) == _CPU:
            # Without asking the drivers: it must work when one of them hangs or crashes.
            return Device(_CPU, "")
        report = await self._engine.devices()
        chosen = choose_device(report, wanted)
        settings = self._settings
        if settings is not None and wanted == settings.value.device and is_openvino_name(wanted):
            settings.change(device=stored_choice(report, chosen))
        return chosen


def _is_on(device: Device, key: MeasurementKey) -> bool:
    if device.id == _CPU and not device.full_name:  # chosen without asking the drivers
        return not key.driver
    return (device.full_name, device.driver) == (key.device_name, key.driver)


def _keeps_both(folders: PairFolders) -> bool:
    if folders.draft_dir is None:
        return False
    try:
        target_bytes = weight_bytes(folders.target_dir)
    except OSError:
        return False  # the engine will say what is wrong with the folder
    return can_keep_both(target_bytes, psutil.virtual_memory().available)
