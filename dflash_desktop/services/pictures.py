"""The pictures of conversations: prepared in a process of their own, kept by their bytes."""

from __future__ import annotations

import asyncio
import logging
import re
import shutil
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.pictures import (
    DEFAULT_LIMITS,
    THUMBNAIL_SIDE,
    Picture,
    PictureLimits,
)
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.atomic_file import write_atomically, write_problem
from dflash_desktop.services.picture_problems import picture_problem
from dflash_desktop.services.picture_process import PictureJobError, PictureProcess
from dflash_desktop.workers.picture_messages import (
    MakeThumbnail,
    PicturePrepared,
    PreparePicture,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.services.picture_process import PictureAnswer, PictureJob
    from dflash_desktop.services.worker_launch import WorkerLauncher

_LOG = logging.getLogger(__name__)

PASTED: Final = "Pasted picture"
_TITLE_CHARACTERS: Final = 100
_ID: Final = re.compile(r"[0-9a-f]{64}")
_ID_IN_BYTES: Final = re.compile(rb"[0-9a-f]{64}")
_KEPT_ANYWAY_SECONDS: Final = 24 * 3600.0
"""A young file may be in a message that is not sent yet, here or in a command."""


class Pictures:
    """Pictures of one data folder: `<id>.png`, and a smaller one in `thumbnails`."""

    def __init__(self, *, launcher: WorkerLauncher, folder: Path) -> None:
        self._folder = folder
        self._reader = PictureProcess(launcher=launcher)
        # Many thumbnails of a gallery shall not keep a picture waiting that is being attached.
        self._thumbnails = PictureProcess(launcher=launcher)
        self._jobs = 0

    async def prepare(
        self, source: Path | bytes, title: str = "", *, limits: PictureLimits = DEFAULT_LIMITS
    ) -> Picture:
        """Make of a file, or of the bytes of one, what a model is shown, and keep it.

        Raises `AppError`: a "picture_…" code for the file's fault, or "disk_full" and the like.
        """
        shown = _clean_title(title or (source.name if isinstance(source, Path) else PASTED))
        copy = self._folder / "incoming" / uuid.uuid4().hex
        try:
            path = await asyncio.to_thread(_reachable, source, copy, shown)
            job = PreparePicture(
                job=self._next_job(),
                source=path,
                title=shown,
                output_dir=self._folder,
                thumbnail_dir=self._folder / "thumbnails",
                limits=limits,
            )
            answer = await self._done(self._reader, job, shown)
        finally:
            await asyncio.to_thread(copy.unlink, missing_ok=True)
        assert isinstance(answer, PicturePrepared)  # noqa: S101 - what this job is answered with
        return answer.picture

    async def make_thumbnail(
        self, source: Path, destination: Path, *, max_side: int = THUMBNAIL_SIDE
    ) -> None:
        """Reduce a picture into a file of its own. Raises `AppError` like `prepare`."""
        job = MakeThumbnail(self._next_job(), source, destination, max_side)
        await self._done(self._thumbnails, job, _clean_title(source.name))

    def path(self, picture: Picture) -> Path:
        """The prepared file. It may be gone: a person can delete files."""
        return self._folder / f"{_file_stem(picture.id)}.png"

    def thumbnail(self, picture: Picture) -> Path:
        """A smaller one of `THUMBNAIL_SIDE`; it may be gone, too."""
        return self._folder / "thumbnails" / f"{_file_stem(picture.id)}.png"

    def is_there(self, picture: Picture) -> bool:
        """Whether the prepared file is on disk."""
        return self.path(picture).is_file()

    async def warm_up(self) -> None:
        """A picture is about to come: have the process ready."""
        await self._reader.warm_up()

    async def close(self) -> None:
        """End the processes."""
        await self._reader.close()
        await self._thumbnails.close()

    def remove_orphans(
        self, *, mentioned_in: Iterable[Path], kept_seconds: float = _KEPT_ANYWAY_SECONDS
    ) -> int:
        """Remove pictures that no file in these folders mentions; returns how many. Blocking.

        Files are searched for ids as they are, so that a damaged conversation, or one of a newer
        version, keeps its pictures; one that cannot be read keeps all.
        """
        try:
            wanted = _mentioned_ids(mentioned_in)
        except OSError:
            _LOG.warning("pictures are kept, since a conversation cannot be read", exc_info=True)
            return 0
        before = time.time() - kept_seconds
        removed = 0
        for folder in (self._folder, self._folder / "thumbnails", self._folder / "incoming"):
            for path in folder.glob("*"):
                is_kept = path.suffix == ".png" and path.stem in wanted
                if is_kept or not path.is_file():
                    continue
                with suppress(OSError):
                    if path.stat().st_mtime < before:
                        path.unlink()
                        removed += 1
        return removed

    async def _done(self, process: PictureProcess, job: PictureJob, title: str) -> PictureAnswer:
        try:
            return await process.run(job)
        except PictureJobError as error:
            problem = picture_problem(
                error.code, title=title, raw=str(error), facts=error.facts, words=error.words
            )
            raise AppError(problem) from error

    def _next_job(self) -> int:
        self._jobs += 1
        return self._jobs


def _file_stem(picture_id: str) -> str:
    """A conversation's file may say anything; only what can be ours becomes part of a path."""
    return picture_id if _ID.fullmatch(picture_id) else "not-a-picture"


def _clean_title(title: str) -> str:
    """A name as it can be shown: one line, no invisible characters, not endless."""
    visible = "".join(c if c.isprintable() else " " for c in title)
    line = " ".join(visible.split()) or "Picture"
    return line if len(line) <= _TITLE_CHARACTERS else f"{line[: _TITLE_CHARACTERS - 1]}…"


def _reachable(source: Path | bytes, copy: Path, title: str) -> Path:
    """A path that the other process can be told; bytes, and names that are no text, are copied."""
    try:
        if isinstance(source, bytes):
            write_atomically(copy, source)
            return copy
        try:
            str(source).encode()
        except UnicodeEncodeError:
            copy.parent.mkdir(parents=True, exist_ok=True)
            return Path(shutil.copyfile(source, copy))
    except (OSError, shutil.SpecialFileError) as error:
        refused = error if isinstance(error, OSError) else OSError(str(error))
        kept = "The file it came from is as it was."
        raise AppError(write_problem(refused, what=f"“{title}”", kept=kept)) from error
    return source.absolute()


def _mentioned_ids(folders: Iterable[Path]) -> frozenset[str]:
    found: set[str] = set()
    for folder in folders:
        for path in folder.glob("*.json"):
            with suppress(FileNotFoundError):
                found.update(one.decode() for one in _ID_IN_BYTES.findall(path.read_bytes()))
    return frozenset(found)
