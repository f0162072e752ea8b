"""Fills the image page's form, and asks the studio for pictures."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtGui import QImageReader

from dflash_desktop.domain.catalogue import Catalogue
from dflash_desktop.domain.hardware import HardwareReport
from dflash_desktop.domain.image_memory import image_memory, memory_words, parts_words
from dflash_desktop.domain.pair_request import request_for_pair
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.atomic_file import write_atomically, write_problem
from dflash_desktop.services.image_models import image_models, offered_image_models
from dflash_desktop.services.image_studio import ImageStudio
from dflash_desktop.ui.image.mask_editor import MaskEditor
from dflash_desktop.ui.image.source_part import Source
from dflash_desktop.ui.image.words import PAIR_IS_LET_GO
from dflash_desktop.ui.machine_look import MachineLook
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.domain.memory_pool import MemoryPool
    from dflash_desktop.domain.picture_request import PictureRequest
    from dflash_desktop.domain.pictures import Picture
    from dflash_desktop.domain.transfer import TransferPlan, TransferRequest
    from dflash_desktop.services.image_models import ImageModelEntry
    from dflash_desktop.ui.image.pane import ImagePane
    from dflash_desktop.ui.theme import Theme


class ImageShelf(Protocol):
    """What the page asks of the library of models."""

    def models(self) -> tuple[InstalledModel, ...]:
        """All, as last read."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the answer ends that."""


class PictureReader(Protocol):
    """What prepares a picture of any kind."""

    async def prepare(self, source: Path | bytes, title: str = "") -> Picture:
        """Upright, RGB, in sRGB, and kept. Raises `AppError`."""

    def path(self, picture: Picture) -> Path:
        """The prepared file."""

    def thumbnail(self, picture: Picture) -> Path:
        """A smaller one."""


class DownloadQueue(Protocol):
    """What brings models."""

    async def plan(self, request: TransferRequest) -> TransferPlan:
        """What a request would bring. Raises `AppError`."""

    def add(self, request: TransferRequest) -> None:
        """Bring it."""


class PoolSource(Protocol):
    """What tells how much memory there is."""

    async def pool_now(self, report: HardwareReport) -> MemoryPool:
        """For another model in place of the loaded one, whenever the report was made."""


@dataclass(frozen=True, slots=True)
class ImageParts:
    """What the page works with below the window."""

    studio: ImageStudio
    shelf: ImageShelf
    pictures: PictureReader
    memory: PoolSource
    machine: MachineLook
    downloads: DownloadQueue
    catalogue: Callable[[], Catalogue]  # blocking
    masks_dir: Path  # for masks that wait to be used; emptied at the end


class ImagePresenter:
    """`parts.studio` makes what the form asks for; the gallery has a presenter of its own.

    `show_transfers` leads to what is on its way.
    """

    def __init__(
        self,
        *,
        pane: ImagePane,
        parts: ImageParts,
        theme: Theme,
        show_transfers: Callable[[], None],
    ) -> None:
        self._show_transfers = show_transfers
        self._pane = pane
        self._parts = parts
        self._theme = theme
        self._entries: tuple[ImageModelEntry, ...] = ()
        self._chosen_id = ""
        self._has_pictures = False
        self._is_known = False
        self._pool: MemoryPool | None = None
        self._tasks = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._ends = [
            parts.shelf.subscribe(self.refresh),
            parts.studio.subscribe(self._show_queue),
        ]
        form = pane.form
        form.make_requested.connect(self._on_make)
        form.model_chosen.connect(self.choose)
        form.changed.connect(self._show_estimate)
        form.source.file_chosen.connect(lambda path: self.begin_with(Path(path)))
        form.source.mask_requested.connect(lambda: self._tasks.start(self._paint_mask()))
        pane.empty.plan_requested.connect(lambda i: self._tasks.start(self._plan(i)))
        pane.empty.download_requested.connect(lambda i: self._tasks.start(self._get(i)))
        pane.files_dropped.connect(lambda paths: self.begin_with(Path(paths[0])))
        pane.shown.connect(lambda: self._tasks.start(self._look_at_memory()))
        pane.now.cancel_requested.connect(lambda i: self._tasks.start(parts.studio.cancel(i)))
        pane.now.all_cancelled.connect(lambda: self._tasks.start(parts.studio.cancel_all()))
        self._show_queue()
        self.refresh()

    def refresh(self) -> None:
        """Look again at the models that are here, and at what there is of memory."""
        self._tasks.start(self._refresh())

    def choose(self, model_id: str) -> None:
        """Make pictures with this model from now on."""
        self._chosen_id = model_id
        self._show_models()

    def begin_with(self, path: Path) -> None:
        """Prepare a file of any kind, and begin with it."""
        self._tasks.start(self._begin_with(path))

    def note_pictures(self, has_pictures: bool) -> None:
        """Whether the gallery holds any: then it is shown even without a model."""
        self._has_pictures = has_pictures
        self._show_models()

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        for end in self._ends:
            end()
        self._tasks.close()
        await self._tasks.wait()
        await asyncio.to_thread(_remove_masks, self._parts.masks_dir)

    async def _refresh(self) -> None:
        installed = self._parts.shelf.models()
        catalogue = await asyncio.to_thread(self._parts.catalogue)
        self._entries = await asyncio.to_thread(image_models, installed, catalogue)
        self._pane.empty.show_offers(offered_image_models(catalogue))
        self._is_known = True
        self._show_models()
        await self._look_at_memory()

    async def _look_at_memory(self) -> None:
        if self._usable():
            remembered = await self._parts.machine.remembered()
            report = HardwareReport() if remembered is None else remembered[0]
            self._pool = await self._parts.memory.pool_now(report)
            self._show_estimate()

    async def _request(self, pair_id: str) -> TransferRequest | None:
        catalogue = await asyncio.to_thread(self._parts.catalogue)
        pair = next((p for p in offered_image_models(catalogue) if p.id == pair_id), None)
        return None if pair is None else request_for_pair(pair)

    async def _plan(self, pair_id: str) -> None:
        """Ask what a model takes before anything is fetched."""
        request = await self._request(pair_id)
        if request is None:
            return
        self._pane.clear_problem()
        self._pane.empty.show_asking(pair_id)
        try:
            plan = await self._parts.downloads.plan(request)
        except BaseException:
            self._pane.empty.show_unknown(pair_id)
            raise
        self._pane.empty.show_plan(pair_id, plan.missing_bytes)

    async def _get(self, pair_id: str) -> None:
        request = await self._request(pair_id)
        if request is not None:
            self._parts.downloads.add(request)
            self._show_transfers()

    def _usable(self) -> tuple[ImageModelEntry, ...]:
        return tuple(entry for entry in self._entries if entry.model is not None)

    def _show_models(self) -> None:
        usable = self._usable()
        chosen = next((e for e in usable if e.id == self._chosen_id), None)
        if chosen is None and usable:
            chosen = usable[0]
        names = tuple((entry.id, entry.title) for entry in usable)
        self._pane.form.show_models(names, None if chosen is None else chosen.model)
        self._pane.show_form(bool(usable))
        self._pane.empty.show_faults(
            tuple((e.title, e.problem) for e in self._entries if e.problem is not None)
        )
        if self._is_known or self._has_pictures:
            self._pane.show_workspace(bool(usable) or self._has_pictures)
        self._show_estimate()

    def _show_estimate(self) -> None:
        form, pool = self._pane.form, self._pool
        model, (width, height) = form.model, form.picture_size
        if model is None or not width:
            return
        precision = next((e.precision for e in self._entries if e.id == model.id), "")
        memory = image_memory(
            model,
            width=width,
            height=height,
            precision=precision,
            runs_on_cpu=pool is None or pool.gpu is None,
        )
        usable = None if pool is None else pool.usable_bytes
        form.show_estimate(
            memory_words(memory, usable_bytes=usable),
            f"{parts_words(memory)}\n{PAIR_IS_LET_GO}",
            is_too_much=usable is not None and memory.needed_bytes > usable,
        )

    def _on_make(self, request: PictureRequest, count: int) -> None:
        model, source = self._pane.form.model, self._pane.form.source.source
        if model is None:
            return
        self._pane.clear_problem()
        source_id = "" if source is None or request.source is None else source.gallery_id
        try:
            self._parts.studio.order(request, model, count=count, source_id=source_id)
        except AppError as error:
            self._pane.show_problem(error.problem)
        else:
            self._pane.show_side(is_form=False)

    def _show_queue(self) -> None:
        self._pane.now.show_queue(self._parts.studio.queue())

    async def _begin_with(self, path: Path) -> None:
        picture = await self._parts.pictures.prepare(path)
        self._pane.clear_problem()
        self._pane.form.source.show_source(
            Source(
                self._parts.pictures.path(picture),
                self._parts.pictures.thumbnail(picture),
                picture.title,
            )
        )
        self._pane.show_side(is_form=True)

    async def _paint_mask(self) -> None:
        source = self._pane.form.source.source
        if source is None:
            return
        image = await asyncio.to_thread(lambda: QImageReader(str(source.path)).read())
        if image.isNull():
            return
        editor = MaskEditor(theme=self._theme, parent=self._pane.window())
        editor.canvas.show_picture(image)
        editor.painted.connect(lambda png: self._tasks.start(self._keep_mask(png)))
        editor.open()

    async def _keep_mask(self, png: bytes) -> None:
        name = hashlib.sha256(png).hexdigest()[:32]
        file = self._parts.masks_dir / f"{name}.png"
        try:
            await asyncio.to_thread(write_atomically, file, png)
        except OSError as error:
            raise AppError(
                write_problem(error, what="The mask", kept="Nothing else changed.")
            ) from error
        self._pane.form.source.show_mask(file)


def _remove_masks(folder: Path) -> None:
    for file in folder.glob("*.png"):
        with suppress(OSError):  # Windows: the engine is reading it
            file.unlink()
