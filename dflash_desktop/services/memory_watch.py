"""What the engine takes of the memory right now, and what is left of its pool."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.domain.engine_state import loaded_pair
from dflash_desktop.domain.memory_budget import MemoryBudget, budget_of
from dflash_desktop.domain.memory_pool import MemoryPool, PoolKind, memory_pool
from dflash_desktop.domain.memory_use import MemoryUse, engine_parts
from dflash_desktop.services.pair_memory import pair_sizes
from dflash_desktop.services.system_probe import system_memory
from dflash_desktop.workers.linux_memory import ProcessMemory, process_memory

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.hardware import HardwareReport
    from dflash_desktop.domain.pair import LoadedPair
    from dflash_desktop.domain.pair_sizes import PairSizes
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.settings_store import SettingsStore

_CPU = "CPU"


class MemoryWatch:
    """Asks the system for the engine's memory; ask as often as something is shown, once a second.

    Without a report of the machine only the system's memory is known.
    """

    def __init__(self, *, engine: Engine, settings: SettingsStore) -> None:
        self._engine = engine
        self._settings = settings
        self._sizes: dict[tuple[Path, Path | None], PairSizes | None] = {}

    async def use(self, report: HardwareReport) -> MemoryUse:
        """The pool of the loaded pair's device, or of the chosen one while none is loaded."""
        pair = loaded_pair(self._engine.state)
        process_id = self._engine.process_id
        return await asyncio.to_thread(self._look, report, pair, process_id)

    async def reclaimable_bytes(self, report: HardwareReport) -> int:
        """What would be free again if the loaded pair were let go, for `memory_pool`."""
        return (await self.use(report)).engine_bytes

    async def pool(self, report: HardwareReport) -> MemoryPool:
        """What another pair could take in place of the loaded one, by the person's settings."""
        reclaimable = await self.reclaimable_bytes(report)
        settings = self._settings.value
        return memory_pool(
            report,
            reserve_bytes=settings.memory_reserve_bytes,
            device=settings.device,
            reclaimable_bytes=reclaimable,
        )

    async def pool_now(self, report: HardwareReport) -> MemoryPool:
        """Like `pool` for a report of any time, or an empty one: its RAM is looked at anew."""
        system = await asyncio.to_thread(system_memory)
        return await self.pool(replace(report, memory=system))

    def _look(
        self, report: HardwareReport, pair: LoadedPair | None, process_id: int | None
    ) -> MemoryUse:
        device = self._settings.value.device if pair is None else pair.device
        system = system_memory()
        pool = memory_pool(
            replace(report, memory=system),  # of now, whenever the report was made
            reserve_bytes=self._settings.value.memory_reserve_bytes,
            device=device,
        )
        budget = None if pair is None else self._budget(pair)
        memory = None if process_id is None else _memory_of(process_id)
        used = _used_bytes(memory, pool.kind)
        is_estimated = used is None and budget is not None
        if used is None:
            used = 0 if budget is None else budget.needed_bytes
        if pool.kind is PoolKind.CARD:
            total = pool.total_bytes
            others = 0  # who else uses a card, nobody can be asked
        else:
            total = system.total_bytes or pool.total_bytes
            others = max(0, total - (system.available_bytes or 0) - used)
        return MemoryUse(
            pool=pool.kind,
            device_name="" if pool.gpu is None else pool.gpu.name,
            pool_bytes=total,
            engine_bytes=used,
            other_bytes=others,
            reserve_bytes=pool.reserve_bytes,
            parts=None if budget is None else engine_parts(budget, used),
            is_estimated=is_estimated,
        )

    def _budget(self, pair: LoadedPair) -> MemoryBudget | None:
        """At a context of nothing: what is beyond that is the cache."""
        key = (pair.target_dir, pair.draft_dir)
        if key not in self._sizes:
            self._sizes = {key: pair_sizes(*key)}
        sizes = self._sizes[key]
        if sizes is None:
            return None
        return budget_of(
            sizes,
            context_tokens=0,
            runs_on_cpu=pair.device == _CPU,
            keeps_both=pair.keeps_both,
        )


def _memory_of(process_id: int) -> ProcessMemory | None:
    is_linux = sys.platform.startswith("linux")
    if is_linux:
        return process_memory(process_id)
    try:
        # Windows: "private" is what no other process shares; graphics are not in it.
        memory = psutil.Process(process_id).memory_info()
    except psutil.Error:
        return None
    return ProcessMemory(own_bytes=getattr(memory, "private", memory.rss))


def _used_bytes(memory: ProcessMemory | None, kind: PoolKind) -> int | None:
    """Of this pool; None where the system does not tell what lies on graphics."""
    if memory is None:
        return None
    if kind is PoolKind.SYSTEM:
        return memory.own_bytes
    if kind is PoolKind.CARD:
        return memory.on_card_bytes or None
    on_gpu = memory.of_system_on_gpu_bytes
    return memory.own_bytes + on_gpu if on_gpu else None
