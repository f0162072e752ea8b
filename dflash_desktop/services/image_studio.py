"""Makes pictures one after the other and keeps them in the gallery."""

from __future__ import annotations

import asyncio
import itertools
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.picture_queue import QueuedPicture, QueuePhase
from dflash_desktop.domain.picture_request import MAX_COUNT, MAX_SEED, checked_request
from dflash_desktop.domain.problems import AppError, CancelledByPersonError
from dflash_desktop.services.memory_guard import MemoryGuard
from dflash_desktop.services.picture_recipe import recipe_of
from dflash_desktop.services.studio_problems import bad_count, too_large
from dflash_desktop.workers.protocol import LoadProgress, PictureMade, PictureStep

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from dflash_desktop.domain.devices import Device
    from dflash_desktop.domain.image_models import ImageModel
    from dflash_desktop.domain.made_picture import MadePicture, PictureRecipe, Pixels
    from dflash_desktop.domain.picture_request import PictureRequest
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.engine import Engine

_TRIES: Final = 3
"""A question in the chat may take the engine between loading a model and using it."""


class PictureKeeper(Protocol):
    """Where pictures go."""

    def add(self, pixels: Pixels, recipe: PictureRecipe, *, seconds: float) -> MadePicture:
        """Keep one; blocking. Raises `AppError`."""

    def announce(self) -> None:
        """One more is there; in the loop's thread."""


class ImageStudio:
    """The queue of pictures; everything runs in the loop's thread.

    `choose_device` gives the device of the person's settings; `note_used` is told of each model
    that was loaded. While pictures are made the chat's pair is not in memory.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        gallery: PictureKeeper,
        choose_device: Callable[[], Awaitable[Device]],
        compile_cache_dir: Path,
        note_used: Callable[[PairFolders], Awaitable[None]] | None = None,
        memory_guard: MemoryGuard | None = None,
    ) -> None:
        self._engine = engine
        self._gallery = gallery
        self._choose_device = choose_device
        self._compile_cache_dir = compile_cache_dir
        self._note_used = note_used
        self._guard = memory_guard or MemoryGuard()
        self._queue: list[QueuedPicture] = []
        self._numbers = itertools.count(1)
        self._listeners: list[Callable[[], None]] = []
        self._made_listeners: list[Callable[[MadePicture], None]] = []
        self._runner: asyncio.Task[None] | None = None
        self._work: asyncio.Task[MadePicture | None] | None = None
        self._is_saving = False
        self._is_closed = False

    def queue(self) -> tuple[QueuedPicture, ...]:
        """What is being made first, then what waits; what failed until it is dismissed."""
        return tuple(self._queue)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every change of the queue; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def subscribe_made(self, listener: Callable[[MadePicture], None]) -> Callable[[], None]:
        """Call `listener` with each picture that is in the gallery now."""
        self._made_listeners.append(listener)
        return lambda: self._made_listeners.remove(listener)

    def folders_in_use(self) -> tuple[Path, ...]:
        """Folders that must stay: of the loaded model and of all that wait."""
        loaded = self._engine.pictures.loaded
        folders = {item.model.folder for item in self._queue if item.problem is None}
        if loaded is not None:
            folders.add(loaded.folder)
        return tuple(folders)

    def order(
        self, request: PictureRequest, model: ImageModel, *, count: int = 1, source_id: str = ""
    ) -> tuple[QueuedPicture, ...]:
        """Ask for pictures, each with a seed one above the last. Raises `AppError` before any."""
        if not 1 <= count <= MAX_COUNT:
            raise AppError(bad_count(count))
        checked = checked_request(request, model)
        order = next(self._numbers)
        items = tuple(
            QueuedPicture(
                id=next(self._numbers),
                order=order,
                model=model,
                request=replace(checked, seed=(checked.seed + i) % (MAX_SEED + 1)),
                source_id=source_id,
            )
            for i in range(count)
        )
        self._queue += items
        self._tell()
        if self._runner is None and not self._is_closed:
            self._runner = asyncio.create_task(self._run())
        return items

    async def cancel(self, item_id: int) -> None:
        """Take a picture out of the queue; one that is being made ends within a step."""
        item = self._find(item_id)
        if item is None:
            return
        if not item.is_active:
            self._remove(item_id)
            return
        self._change(item_id, phase=QueuePhase.STOPPING)
        if self._engine.pictures.is_busy:
            await self._engine.pictures.cancel()
        else:  # it waits for its turn
            self._give_up()

    async def cancel_all(self) -> None:
        """Empty the queue."""
        for item in self.queue():
            if not item.is_active:
                self._remove(item.id)
        for item in self.queue():
            await self.cancel(item.id)

    async def idle(self) -> None:
        """Return when nothing is waiting or being made."""
        while self._runner is not None:
            await asyncio.wait({self._runner})

    async def close(self) -> None:
        """Make nothing more; the picture that is being made is given up."""
        self._is_closed = True
        self._give_up()
        await self.idle()

    def _give_up(self) -> None:
        # A file that is being written would be there all the same, and nobody would be told.
        if self._work is not None and not self._is_saving:
            self._work.cancel()

    # --- the one that runs -----------------------------------------------------------------

    async def _run(self) -> None:
        try:
            while not self._is_closed and (item := self._next()) is not None:
                await self._make(item)
        finally:
            self._runner = None

    def _next(self) -> QueuedPicture | None:
        return next((i for i in self._queue if i.phase is QueuePhase.WAITING), None)

    async def _make(self, item: QueuedPicture) -> None:
        self._change(item.id, phase=QueuePhase.LOADING)
        work = self._work = asyncio.create_task(self._watched(item))
        try:
            await asyncio.wait({work})
        finally:
            self._work = None
            work.cancel()
        if work.cancelled():
            self._remove(item.id)
            return
        error = work.exception()
        match error:
            case None:
                self._remove(item.id)
                if (picture := work.result()) is not None:
                    self._announce(picture)
            case CancelledByPersonError():
                self._remove(item.id)
            case AppError(problem=problem):
                self._fail(item, problem)
            case _:  # a bug: told where the program tells them, and the queue goes on
                self._remove(item.id)
                asyncio.get_running_loop().call_exception_handler(
                    {"message": "a picture failed", "exception": error, "task": work}
                )

    async def _watched(self, item: QueuedPicture) -> MadePicture | None:
        # Making is watched like loading: the last step takes memory that no step before took.
        return await self._guard.watch(self._made(item), stop=self._engine.stop)

    async def _made(self, item: QueuedPicture) -> MadePicture | None:
        for tries_left in reversed(range(_TRIES)):
            device_name = await self._load(item)
            try:
                return await self._draw(item, device_name)
            except AppError as error:
                if error.problem.code != "nothing_loaded" or not tries_left:
                    raise
        return None

    async def _load(self, item: QueuedPicture) -> str:
        loaded = self._engine.pictures.loaded
        if loaded is not None and loaded.folder == item.model.folder:
            return loaded.device_name
        self._change(item.id, phase=QueuePhase.LOADING, stage=f"Loading {item.model.title}")
        device = await self._choose_device()
        model = await self._engine.pictures.load(
            item.model.folder,
            title=item.model.title,
            device=device.id,
            device_name=device.full_name,
            # Compiling for a GPU takes minutes and is worth keeping; for a CPU it takes a second.
            cache_dir=self._compile_cache_dir if device.id.startswith("GPU") else None,
        )
        if self._note_used is not None:
            folders = PairFolders(item.model.id, item.model.title, item.model.folder, None)
            await self._note_used(folders)
        return model.device_name

    async def _draw(self, item: QueuedPicture, device_name: str) -> MadePicture | None:
        found = self._find(item.id)
        if found is None or found.phase is QueuePhase.STOPPING:
            return None
        self._change(item.id, phase=QueuePhase.MAKING, stage="")
        made: PictureMade | None = None
        async with aclosing(self._engine.pictures.make(item.request)) as events:
            async for event in events:
                match event:
                    case LoadProgress(stage=stage):
                        self._note(item.id, QueuePhase.LOADING, stage=stage)
                    case PictureStep():
                        self._note_step(item.id, event)
                    case PictureMade():
                        made = event
        if made is None or made.pixels is None:
            return None
        recipe = recipe_of(item, device_name)
        self._is_saving = True
        try:
            return await asyncio.to_thread(
                self._gallery.add, made.pixels, recipe, seconds=made.seconds
            )
        finally:
            self._is_saving = False

    def _note_step(self, item_id: int, step: PictureStep) -> None:
        item = self._find(item_id)
        if item is None:
            return
        self._note(
            item_id,
            QueuePhase.MAKING,
            done_steps=step.done,
            total_steps=step.total,
            seconds_per_step=step.seconds_per_step,
            preview=step.preview or item.preview,
        )

    def _note(self, item_id: int, phase: QueuePhase, **fields: object) -> None:
        """What the engine tells; it goes on telling after it was asked to stop."""
        item = self._find(item_id)
        is_stopping = item is not None and item.phase is QueuePhase.STOPPING
        self._change(item_id, phase=QueuePhase.STOPPING if is_stopping else phase, **fields)

    def _announce(self, picture: MadePicture) -> None:
        self._gallery.announce()
        for listener in tuple(self._made_listeners):
            listener(picture)

    def _fail(self, item: QueuedPicture, problem: Problem) -> None:
        """Show why, and drop the rest of the order: it would fail in the same way."""
        if problem.code == "memory_running_out":
            problem = too_large(item.model, problem)
        self._queue = [
            one
            for one in self._queue
            if one.order != item.order or one.id == item.id or one.phase is QueuePhase.FAILED
        ]
        self._change(item.id, phase=QueuePhase.FAILED, problem=problem, preview=None)

    # --- the queue -------------------------------------------------------------------------

    def _find(self, item_id: int) -> QueuedPicture | None:
        return next((item for item in self._queue if item.id == item_id), None)

    def _change(self, item_id: int, **fields: object) -> None:
        self._queue = [
            replace(item, **fields) if item.id == item_id else item  # type: ignore[arg-type]
            for item in self._queue
        ]
        self._tell()

    def _remove(self, item_id: int) -> None:
        self._queue = [item for item in self._queue if item.id != item_id]
        self._tell()

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()
