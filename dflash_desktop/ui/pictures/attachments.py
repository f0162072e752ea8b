"""Prepares what a person attaches, keeps it in order, and says what could not be read."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QImage

from dflash_desktop.domain.pictures import MAX_PICTURES, Picture
from dflash_desktop.domain.problems import AppError, Problem, Remedy, Severity
from dflash_desktop.services.opened_path import offer_of
from dflash_desktop.ui.pictures.attachment_card import AttachmentState
from dflash_desktop.ui.pictures.pixels import png_of
from dflash_desktop.ui.pictures.shown_picture import picture_caption, picture_facts, shown_picture
from dflash_desktop.ui.pictures.viewer import PictureViewer
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.services.pictures import Pictures
    from dflash_desktop.ui.pictures.attachment_bar import AttachmentBar
    from dflash_desktop.ui.theme import Theme

PREPARING: Final = "Preparing…"


@dataclass(slots=True)
class _Attachment:
    key: int
    title: str
    picture: Picture | None = None


class Attachments(QObject):
    """The pictures of the next message. Signals: `changed(int, bool)`, how many there are and
    whether some are still being prepared.

    `on_problem` is told once for each time that something was attached, whatever its number.
    `lead(remedy, paths)` opens the page for files that are models.
    """

    changed = Signal(int, bool)

    def __init__(
        self,
        *,
        bar: AttachmentBar,
        pictures: Pictures,
        theme: Theme,
        on_problem: Callable[[Problem], None],
        lead: Callable[[Remedy, tuple[Path, ...]], None] = lambda _remedy, _paths: None,
    ) -> None:
        super().__init__(bar)
        self._bar = bar
        self._pictures = pictures
        self._theme = theme
        self._on_problem = on_problem
        self._lead = lead
        self._all: list[_Attachment] = []
        self._keys = 0
        self._tasks = TaskScope(owner=self, on_problem=on_problem)
        bar.opened.connect(self._open)
        bar.removed.connect(self._remove)
        bar.moved.connect(self._move)

    @property
    def ready(self) -> tuple[Picture, ...]:
        """Those that can be sent, in the person's order."""
        return tuple(one.picture for one in self._all if one.picture is not None)

    @property
    def count(self) -> int:
        """How many there are, those included that are still being prepared."""
        return len(self._all)

    @property
    def is_preparing(self) -> bool:
        """Whether something is not ready yet."""
        return any(one.picture is None for one in self._all)

    def attach_files(self, paths: tuple[str, ...]) -> None:
        """Take files, whatever they turn out to be; models are led to where they belong."""
        self._attach([(Path(path).name, Path(path)) for path in paths])

    def attach_pasted(self, image: bytes | QImage) -> None:
        """Take a picture from the clipboard: the bytes of a file, or pixels."""
        self._attach([("Pasted picture", image)])

    def warm_up(self) -> None:
        """A picture is about to come."""
        self._tasks.start(self._pictures.warm_up())

    def take(self) -> tuple[Picture, ...]:
        """Those that are ready, which go with a message and are no longer here."""
        taken = self.ready
        self._all = [one for one in self._all if one.picture is None]
        self._show()
        return taken

    def restore(self, pictures: tuple[Picture, ...]) -> None:
        """Give back those of a message that was refused, before what was attached since."""
        kept = {one.picture.id for one in self._all if one.picture is not None}
        back = [self._new(one.title, one) for one in pictures if one.id not in kept]
        self._all = [*back, *self._all]
        self._show()

    async def close(self) -> None:
        """Attach nothing more."""
        self._tasks.close()
        await self._tasks.wait()

    def _attach(self, sources: list[tuple[str, Path | bytes | QImage]]) -> None:
        room = MAX_PICTURES - len(self._all)
        if len(sources) > room:
            self._on_problem(_too_many(len(sources) - max(0, room)))
        taken = [(self._new(title), source) for title, source in sources[: max(0, room)]]
        self._all += [attachment for attachment, _ in taken]
        self._show()
        if taken:
            self._tasks.start(self._prepare_or_drop(taken))

    def _new(self, title: str, picture: Picture | None = None) -> _Attachment:
        self._keys += 1
        return _Attachment(self._keys, title, picture)

    async def _prepare_or_drop(
        self, taken: list[tuple[_Attachment, Path | bytes | QImage]]
    ) -> None:
        try:
            await self._prepare_all(taken)
        except Exception:
            # What nobody prepares any more would keep the message from being sent for ever.
            lost = {one.key for one, _ in taken if one.picture is None}
            self._all = [one for one in self._all if one.key not in lost]
            self._show()
            raise

    async def _prepare_all(self, taken: list[tuple[_Attachment, Path | bytes | QImage]]) -> None:
        problems = []
        away: dict[Remedy, tuple[Path, ...]] = {}
        for attachment, source in taken:
            if attachment not in self._all:  # removed before its turn came
                continue
            way, path = await asyncio.to_thread(_elsewhere, source)
            if way is not None and path is not None:
                away[way] = (*away.get(way, ()), path)
                self._remove(attachment.key)
                continue
            try:
                data = await _file_or_bytes(source)
                attachment.picture = await self._pictures.prepare(data, attachment.title)
            except AppError as error:
                problems.append(error.problem)
                self._all = [one for one in self._all if one is not attachment]
            self._show()
        if problems:
            self._on_problem(_together(problems))
        for way, paths in away.items():
            self._lead(way, paths)

    def _remove(self, key: int) -> None:
        self._all = [one for one in self._all if one.key != key]
        self._show()

    def _move(self, key: int, place: int) -> None:
        moving = next(one for one in self._all if one.key == key)
        self._all.remove(moving)
        self._all.insert(place, moving)
        self._show()

    def _open(self, key: int) -> None:
        ready = [one for one in self._all if one.picture is not None]
        shown = tuple(shown_picture(one.picture, self._pictures) for one in ready if one.picture)
        viewer = PictureViewer(theme=self._theme, parent=self._bar.window())
        viewer.alt_text_changed.connect(lambda i, text: self._describe(ready[i], text))
        index = next(i for i, one in enumerate(ready) if one.key == key)
        viewer.open_at(shown, index, edits_alt_text=True)

    def _describe(self, attachment: _Attachment, text: str) -> None:
        if attachment.picture is not None:
            attachment.picture = replace(attachment.picture, alt_text=text)
            self._show()

    def _show(self) -> None:
        self._bar.show_attachments(tuple(self._state(one) for one in self._all))
        self.changed.emit(self.count, self.is_preparing)

    def _state(self, attachment: _Attachment) -> AttachmentState:
        picture = attachment.picture
        if picture is None:
            return AttachmentState(attachment.key, attachment.title, PREPARING)
        return AttachmentState(
            key=attachment.key,
            title=picture.title,
            caption=picture_caption(picture),
            explanation="\n".join(
                filter(None, (picture.title, picture_facts(picture), picture.alt_text))
            ),
            thumbnail=self._pictures.thumbnail(picture),
        )


def _elsewhere(source: Path | bytes | QImage) -> tuple[Remedy | None, Path | None]:
    """Which other page takes a file or folder, and as what; blocking."""
    if not isinstance(source, Path):
        return None, None
    problem, path = offer_of(str(source))
    way = next(iter(problem.remedies), None)
    return (way, path) if way in (Remedy.ADD_MODEL, Remedy.EXPORT) else (None, None)


async def _file_or_bytes(source: Path | bytes | QImage) -> Path | bytes:
    return await asyncio.to_thread(png_of, source) if isinstance(source, QImage) else source


def _too_many(left_out: int) -> Problem:
    them = "One picture was" if left_out == 1 else f"{left_out} pictures were"
    return Problem(
        code="too_many_pictures",
        headline=f"{them} left out: a message takes {MAX_PICTURES} at most.",
        advice="Send these first, then attach the others to your next message.",
        severity=Severity.WARNING,
    )


def _together(problems: list[Problem]) -> Problem:
    """The first in full; the others by their first sentences, in the details."""
    first, *others = problems
    if not others:
        return first
    more = "One more" if len(others) == 1 else f"{len(others)} more"
    could_not = f"{more} could not be attached either; the details say why."
    return replace(
        first,
        advice=f"{first.advice} {could_not}",
        detail="\n".join((first.detail, *(f"{one.headline} {one.detail}" for one in others))),
    )
