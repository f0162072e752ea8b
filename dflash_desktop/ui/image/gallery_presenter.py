"""Shows the gallery of the image page, and does what is asked of its pictures."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtGui import QColorSpace, QGuiApplication
from PySide6.QtWidgets import QFileDialog

from dflash_desktop.domain.problems import AppError
from dflash_desktop.ui.image.gallery_grid import THUMBNAIL_PX
from dflash_desktop.ui.image.pane import View
from dflash_desktop.ui.image.source_part import Source
from dflash_desktop.ui.image.thumbnail_shelf import ThumbnailShelf
from dflash_desktop.ui.image.words import (
    count_words,
    lost_beginning,
    picture_facts,
    picture_title,
)
from dflash_desktop.ui.pictures.pixels import colour_space_of, read_levels
from dflash_desktop.ui.pictures.shown_picture import ShownPicture
from dflash_desktop.ui.pictures.viewer import PictureViewer
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from PySide6.QtGui import QImage

    from dflash_desktop.domain.made_picture import MadePicture
    from dflash_desktop.services.gallery_store import GalleryEntry, GalleryStore
    from dflash_desktop.ui.image.pane import ImagePane
    from dflash_desktop.ui.theme import Theme

_T = TypeVar("_T")


class GalleryPresenter:
    """`make_thumbnail` reduces a picture in another process; `choose_model` prepares the form for
    what made one; `ask` leads to the chat with a picture; `on_count` hears how many there are.
    """

    def __init__(
        self,
        *,
        pane: ImagePane,
        store: GalleryStore,
        thumbnails_dir: Path,
        make_thumbnail: Callable[[Path, Path], Awaitable[None]],
        choose_model: Callable[[str], None],
        ask: Callable[[Path], None],
        on_count: Callable[[bool], None],
        theme: Theme,
    ) -> None:
        self._pane = pane
        self._store = store
        self._choose_model = choose_model
        self._ask = ask
        self._on_count = on_count
        self._theme = theme
        self._deleted: tuple[str, ...] = ()
        self._compare_with = ""
        self._levels: tuple[QImage, ...] = ()
        self._turn = asyncio.Lock()
        self._tasks = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._reads = TaskScope(owner=pane, on_problem=pane.show_problem)
        self.shelf = ThumbnailShelf(
            widget=pane.grid.viewport(),
            side_px=THUMBNAIL_PX,
            folder=thumbnails_dir,
            make=make_thumbnail,
        )
        pane.grid.use_shelf(self.shelf)
        self._ends = [store.subscribe(self.refresh)]
        self._connect()
        self._tasks.start(self._begin())

    def refresh(self) -> None:
        """Read the folder again."""
        self._tasks.start(self._refresh())

    def open(self, picture_id: str) -> None:
        """Show one picture with its settings, or beside the one that waits to be compared."""
        other = self._compare_with
        self._stop_waiting()
        if other not in ("", picture_id) and self._place_of(other) is not None:
            self.compare((other, picture_id))
            return
        place = self._place_of(picture_id)
        if place is None:
            return
        entries = self._entries
        self._pane.result.show_entry(entries[place], place=place, count=len(entries))
        self._pane.show_view(View.RESULT)
        self._pane.show_side(is_form=False)
        self._pane.result.canvas.setFocus()
        self._levels = ()
        self._reads.cancel_all()
        self._reads.start(self._load_result(entries[place]))

    def compare(self, ids: tuple[str, ...]) -> None:
        """Put two side by side."""
        self._stop_waiting()
        places = [place for one in ids if (place := self._place_of(one)) is not None]
        if len(places) != 2:
            return
        pair = tuple(self._entries[place] for place in places)
        self._pane.compare.show_pair(*pair)
        self._pane.show_view(View.COMPARE)
        self._pane.compare.setFocus()
        self._reads.cancel_all()
        for side, entry in enumerate(pair):
            self._reads.start(self._load_side(side, entry))

    def show_gallery(self) -> None:
        """Back to all of them, where one was."""
        self._stop_waiting()
        shown = self._pane.result.entry
        self._pane.show_view(View.GALLERY)
        self._pane.grid.setFocus()
        if shown is not None:
            self._pane.grid.choose(shown.id)

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        for end in self._ends:
            end()
        for scope in (self._reads, self._tasks):
            scope.close()
            await scope.wait()
        await self.shelf.close()

    # --- what is shown ---------------------------------------------------------------------

    @property
    def _entries(self) -> tuple[GalleryEntry, ...]:
        return self._pane.grid.pictures.entries

    def _connect(self) -> None:
        pane, result = self._pane, self._pane.result
        pane.grid.opened.connect(self.open)
        pane.compare.opened.connect(self.open)
        pane.compare.back_requested.connect(self.show_gallery)
        pane.compare_requested.connect(self.compare)
        pane.delete_requested.connect(lambda ids: self._tasks.start(self._delete(ids)))
        pane.undo_requested.connect(lambda: self._tasks.start(self._undo()))
        result.back_requested.connect(self.show_gallery)
        result.step_requested.connect(self._step)
        result.full_view_requested.connect(self._open_full_view)
        result.again_requested.connect(self._fill_form)
        result.source_requested.connect(self._use_as_source)
        result.copy_requested.connect(self._copy)
        result.save_requested.connect(self._save)
        result.delete_requested.connect(self._delete_shown)
        result.compare_requested.connect(self._wait_for_other)
        result.ask_requested.connect(self._ask_about)
        result.alt_text_changed.connect(self._on_alt_text)

    def _place_of(self, picture_id: str) -> int | None:
        index = self._pane.grid.pictures.index_of(picture_id)
        return index.row() if index.isValid() else None

    def _shown(self) -> GalleryEntry | None:
        return self._pane.result.entry if self._pane.view is View.RESULT else None

    async def _refresh(self) -> None:
        entries = await self._with_store(self._store.list)
        self._pane.show_entries(entries)
        self._on_count(bool(entries))

    async def _begin(self) -> None:
        """Show what there is, and forget the small ones of what is gone."""
        await self._refresh()
        await self.shelf.forget_others({entry.id for entry in self._entries})

    async def _with_store(self, work: Callable[[], _T]) -> _T:
        """In a thread, one after the other: the store remembers what it has read."""
        async with self._turn:
            return await asyncio.to_thread(work)

    async def _load_result(self, entry: GalleryEntry) -> None:
        space = colour_space_of(self._pane)
        self._levels = await asyncio.to_thread(read_levels, entry.path, space)
        self._pane.result.show_levels(self._levels)

    async def _load_side(self, side: int, entry: GalleryEntry) -> None:
        space = colour_space_of(self._pane)
        levels = await asyncio.to_thread(read_levels, entry.path, space)
        self._pane.compare.show_levels(side, levels)

    # --- what is done ----------------------------------------------------------------------

    def _step(self, step: int) -> None:
        shown = self._shown()
        place = None if shown is None else self._place_of(shown.id)
        if place is not None and 0 <= place + step < len(self._entries):
            self.open(self._entries[place + step].id)

    def _open_full_view(self) -> None:
        shown = self._shown()
        place = None if shown is None else self._place_of(shown.id)
        if place is None:
            return
        entries = self._entries
        viewer = PictureViewer(theme=self._theme, parent=self._pane.window())
        viewer.open_at(tuple(_shown_picture(e) for e in entries), place)
        viewer.shown.connect(lambda index: self.open(entries[index].id))

    def _fill_form(self, keeps_seed: bool) -> None:
        picture = None if (shown := self._shown()) is None else shown.picture
        if picture is not None:
            self._choose_model(picture.recipe.model_id)
            self._pane.form.show_recipe(picture.recipe, keeps_seed=keeps_seed)
            self._show_source_of(picture)
            self._pane.show_side(is_form=True)

    def _show_source_of(self, picture: MadePicture) -> None:
        """What it began with, if that is in the gallery still."""
        recipe = picture.recipe
        place = self._place_of(recipe.source_id) if recipe.source_id else None
        source = None if place is None else self._source_of(self._entries[place])
        lost = lost_beginning(recipe, has_source=source is not None)
        self._pane.form.source.show_source(source, strength=recipe.strength, lost=lost)

    def _use_as_source(self) -> None:
        if (shown := self._shown()) is not None:
            self._pane.form.source.show_source(self._source_of(shown))
            self._pane.show_side(is_form=True)

    def _source_of(self, entry: GalleryEntry) -> Source:
        thumbnail = self.shelf.thumbnail(entry.id)
        return Source(entry.path, thumbnail, picture_title(entry.picture), entry.id)

    def _copy(self) -> None:
        if self._levels:
            # What is shown is in the screen's colours; who pastes it reads it as sRGB.
            srgb = QColorSpace(QColorSpace.NamedColorSpace.SRgb)
            copied = self._levels[0].convertedToColorSpace(srgb)
            QGuiApplication.clipboard().setImage(copied)
            self._pane.result.show_copied()

    def _save(self) -> None:
        shown = self._shown()
        if shown is None:
            return
        path, _ = QFileDialog.getSaveFileName(
            self._pane, "Save the picture", f"{shown.id}.png", "PNG (*.png)"
        )
        if path:
            self._tasks.start(self._with_store(lambda: self._store.copy_to(shown.id, Path(path))))

    def _delete_shown(self) -> None:
        if (shown := self._shown()) is not None:
            self._tasks.start(self._delete((shown.id,)))

    async def _delete(self, ids: tuple[str, ...]) -> None:
        place = self._place_of(ids[0])
        shown = self._shown()
        deleted: list[str] = []
        try:
            for picture_id in ids:
                await self._with_store(partial(self._store.delete, picture_id))
                deleted.append(picture_id)
        finally:
            # One that is held open elsewhere must not cost the way back to the others.
            self._offer_undo(tuple(deleted))
            await self._refresh()
        if shown is not None and self._shown() is shown:
            self._show_neighbour(place or 0)

    def _offer_undo(self, ids: tuple[str, ...]) -> None:
        self._deleted = ids
        self._pane.show_deleted(f"Deleted {count_words(len(ids))}" if ids else "")

    def _show_neighbour(self, place: int) -> None:
        entries = self._entries
        if entries:
            self.open(entries[min(place, len(entries) - 1)].id)
        else:
            self._pane.show_view(View.GALLERY)

    async def _undo(self) -> None:
        ids = self._deleted
        self._offer_undo(())
        refused: list[str] = []
        problem: AppError | None = None
        for picture_id in ids:
            try:
                await self._with_store(partial(self._store.restore, picture_id))
            except AppError as error:
                problem = error
                refused.append(picture_id)
        await self._refresh()
        if problem is not None:
            self._offer_undo((*refused, *self._deleted))
            raise problem

    def _wait_for_other(self) -> None:
        """The next picture that is opened is put beside this one."""
        if (shown := self._shown()) is not None:
            self._compare_with = shown.id
            self._pane.show_choosing(True)
            self._pane.show_view(View.GALLERY)
            self._pane.grid.choose(shown.id)
            self._pane.grid.setFocus()

    def _stop_waiting(self) -> None:
        self._compare_with = ""
        self._pane.show_choosing(False)

    def _ask_about(self) -> None:
        if (shown := self._shown()) is not None:
            self._ask(shown.path)

    def _on_alt_text(self, text: str) -> None:
        if (shown := self._shown()) is not None:
            self._tasks.start(self._describe(shown.id, text))

    async def _describe(self, picture_id: str, text: str) -> None:
        await self._with_store(lambda: self._store.describe(picture_id, text))
        await self._refresh()


def _shown_picture(entry: GalleryEntry) -> ShownPicture:
    alt = "" if entry.picture is None else entry.picture.alt_text
    return ShownPicture(
        entry.path, picture_title(entry.picture), picture_facts(entry.picture), alt
    )
