"""Loads a pair the way this machine and the person's settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psutil

from dflash_desktop.domain.devices import choose_device
from dflash_desktop.domain.residency import can_keep_both
from dflash_desktop.workers.model_folder import MODEL_BIN

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.generation import KvCachePrecision
    from dflash_desktop.domain.pair import LoadedPair, PairFolders
    from dflash_desktop.services.engine import Engine


class PairLoading:
    """Chooses device, compile cache and residency, and has the engine load the pair."""

    def __init__(self, *, engine: Engine, compile_cache_dir: Path) -> None:
        self._engine = engine
        self._compile_cache_dir = compile_cache_dir

    async def load(
        self,
        folders: PairFolders,
        *,
        device: str = "",
        kv_cache_precision: KvCachePrecision | None = None,
    ) -> LoadedPair:
        """Load a pair; an empty `device` takes the best one.

        Raises `AppError`: "device_missing" rather than falling to another device, and what the
        engine says of the files.
        """
        chosen = choose_device(await self._engine.devices(), device)
        return await self._engine.load(
            folders,
            device=chosen.id,
            kv_cache_precision=kv_cache_precision,
            keep_both=_keeps_both(folders),
            # Compiling for a GPU takes minutes and is worth keeping; for a CPU it takes a second.
            cache_dir=self._compile_cache_dir if chosen.id.startswith("GPU") else None,
        )


def _keeps_both(folders: PairFolders) -> bool:
    if folders.draft_dir is None:
        return False
    try:
        target_bytes = (folders.target_dir / MODEL_BIN).stat().st_size
    except OSError:
        return False  # the engine will say what is wrong with the folder
    return can_keep_both(target_bytes, psutil.virtual_memory().available)
