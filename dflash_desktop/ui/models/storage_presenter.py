"""Shows what takes room on the disk, frees it, and moves the library."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.engine_state import Loaded
from dflash_desktop.domain.problems import AppError
from dflash_desktop.ui.models.model_work import ModelWork
from dflash_desktop.ui.models.storage_words import removable, storage_content
from dflash_desktop.ui.tasks import TaskScope
from dflash_desktop.workers.disk_room import told_free_disk_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from contextlib import AbstractAsyncContextManager

    from dflash_desktop.domain.library import CacheSize, InstalledModel, Leftover, WorkProgress
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.ui.models.storage_card import StorageCard


class Upkeep(Protocol):
    """What this part asks of the library as a whole."""

    async def leftovers(self) -> tuple[Leftover, ...]:
        """What takes room for nothing."""

    async def remove_leftover(self, leftover: Leftover) -> None:
        """Delete one. Raises `AppError`."""

    async def compile_cache(self) -> CacheSize:
        """How much compiled models take."""

    async def clear_compile_cache(self) -> CacheSize:
        """Delete what is not in use. Raises `AppError`."""

    async def move(
        self,
        chosen: Path,
        on_progress: Callable[[WorkProgress], None],
        *,
        downloads_are_held: bool = False,
    ) -> Path:
        """Move everything. Raises `AppError`."""


class StoragePresenter:
    """`hold_downloads` stops them while the library moves; `load_again` loads what was loaded."""

    def __init__(
        self,
        *,
        card: StorageCard,
        upkeep: Upkeep,
        engine: Engine,
        library_dir: Callable[[], Path],
        models: Callable[[], tuple[InstalledModel, ...]],
        hold_downloads: Callable[[], AbstractAsyncContextManager[None]],
        load_again: Callable[[], None],
        open_folder: Callable[[Path], None],
    ) -> None:
        self._card = card
        self._upkeep = upkeep
        self._engine = engine
        self._library_dir = library_dir
        self._models = models
        self._hold_downloads = hold_downloads
        self._load_again = load_again
        self._leftovers: tuple[Leftover, ...] = ()
        self._last: Callable[[], Coroutine[object, object, None]] | None = None
        self._looks = TaskScope(owner=card, on_problem=card.show_problem)
        self._works = TaskScope(owner=card, on_problem=card.show_problem)
        card.folder_requested.connect(lambda: open_folder(library_dir()))
        card.place_chosen.connect(lambda place: self._start(lambda: self._move(Path(place))))
        card.move_cancelled.connect(self._works.cancel_all)
        card.leftovers_confirmed.connect(lambda: self._start(self._remove_leftovers))
        card.cache_cleared.connect(lambda: self._start(self._clear_cache))
        card.retry_requested.connect(self._retry)

    def refresh(self) -> None:
        """Look at the disk anew, unless that is being done."""
        if not self._looks.is_busy:
            self._looks.start(self._look())

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        for scope in (self._looks, self._works):
            scope.close()
            await scope.wait()

    def _start(self, work: Callable[[], Coroutine[object, object, None]]) -> None:
        if not self._works.is_busy:
            self._last = work
            self._works.start(work())

    def _retry(self) -> None:
        if self._last is not None:
            self._start(self._last)

    async def _look(self) -> None:
        place = self._library_dir()
        self._leftovers = await self._upkeep.leftovers()
        cache = await self._upkeep.compile_cache()
        self._card.show_storage(
            storage_content(
                place,
                models=self._models(),
                free_bytes=await asyncio.to_thread(told_free_disk_bytes, place),
                leftovers=self._leftovers,
                cache=cache,
            )
        )

    async def _remove_leftovers(self) -> None:
        try:
            for leftover in removable(self._leftovers):
                await self._upkeep.remove_leftover(leftover)
        finally:
            await self._look()

    async def _clear_cache(self) -> None:
        try:
            await self._upkeep.clear_compile_cache()
        finally:
            await self._look()

    async def _move(self, chosen: Path) -> None:
        work = ModelWork(self._works)
        work.begin(f"Moving the library to {chosen}")

        def on_progress(progress: WorkProgress) -> None:
            if work.take(progress):
                self._card.show_progress(*work.shown)

        self._card.show_progress(*work.shown)
        # Its files cannot move while they are open; an answer that runs is not cut off for that.
        was_loaded = isinstance(self._engine.state, Loaded)
        try:
            async with self._hold_downloads():
                if was_loaded:
                    await self._engine.stop()
                place = await self._upkeep.move(chosen, on_progress, downloads_are_held=True)
        except (AppError, asyncio.CancelledError):
            self._card.show_done("")
            raise
        else:
            self._card.show_done(f"The library is in {place} now.")
        finally:
            if was_loaded:
                self._load_again()
            self.refresh()
