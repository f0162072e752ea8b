"""Pictures that were made here, on disk: a PNG each with its settings inside and beside it."""

from __future__ import annotations

import logging
import re
import secrets
import shutil
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from dflash_desktop.domain.made_picture import MadePicture
from dflash_desktop.domain.picture_request import MAX_SEED
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.atomic_file import write_atomically, write_problem
from dflash_desktop.services.png_file import png_bytes, png_texts, with_texts
from dflash_desktop.services.safe_json import encode_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.made_picture import PictureRecipe, Pixels

_LOG = logging.getLogger(__name__)

FILE_VERSION: Final = 1
TRASH: Final = "trash"
TEXT_KEYWORD: Final = "DFlash Desktop"
_DESCRIPTION: Final = "Description"
"""Where the PNG specification keeps what a picture shows, in words."""
_ID: Final = re.compile(r"(?!\.)[^/\\:\0]{1,180}")
"""Any name in this folder: a copy that a person made there is called as the system likes."""
_LIMIT_BYTES: Final = 1 << 20
_FIRST_YEAR: Final = 1970
_LAST_YEAR: Final = 9000
_LONGEST_SECONDS: Final = 1e7
_MOST: Final = 100_000


@dataclass(frozen=True, slots=True)
class GalleryEntry:
    """One file of the gallery; without `picture` nothing tells how it was made."""

    id: str
    path: Path
    changed_at: datetime
    picture: MadePicture | None


class _File(msgspec.Struct, frozen=True):
    version: int
    picture: MadePicture


_FILE = msgspec.json.Decoder(_File)
_Stamp = tuple[int, int]


class GalleryStore:
    """The gallery of one data folder.

    The PNG is the picture: one without its JSON keeps its settings, one that is damaged stays
    listed and is never changed. Blocking, but quick: 1,000 pictures are listed in 50 ms.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, tuple[_Stamp, GalleryEntry]] = {}
        self._listeners: list[Callable[[], None]] = []

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after `announce`; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def announce(self) -> None:
        """Tell the listeners that something changed; in the loop's thread."""
        for listener in tuple(self._listeners):
            listener()

    def add(self, pixels: Pixels, recipe: PictureRecipe, *, seconds: float) -> MadePicture:
        """Keep a picture. Raises `AppError` when the disk refuses.

        Takes a quarter of a second for a megapixel: not for the window's thread.
        """
        now = datetime.now(UTC)
        picture = MadePicture(_new_id(now), now, recipe, seconds)
        try:
            write_atomically(self.path(picture.id), picture_file(pixels, picture))
            self._write_json(picture)
        except OSError as error:
            raise AppError(_refused(error)) from error
        return picture

    def path(self, picture_id: str) -> Path:
        """Where a picture lies. Raises `AppError` ("picture_gone") for what is no id of ours."""
        return self._checked(self._folder, picture_id, ".png")

    def list(self) -> tuple[GalleryEntry, ...]:
        """All pictures, the newest first; reads only what has changed since the last call."""
        known: dict[str, tuple[_Stamp, GalleryEntry]] = {}
        for path in self._folder.glob("*.png"):
            if not _ID.fullmatch(path.stem):
                continue
            try:
                status = path.stat()
            except OSError:  # removed by another window in between
                continue
            stamp = (status.st_mtime_ns, status.st_size)
            before = self._known.get(path.stem)
            if before is not None and before[0] == stamp:
                known[path.stem] = before
            else:
                changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
                entry = GalleryEntry(path.stem, path, changed_at, _picture_of(path))
                known[path.stem] = (stamp, entry)
        self._known = known
        entries = (entry for _, entry in known.values())
        return tuple(sorted(entries, key=lambda e: (_made_at(e), e.id), reverse=True))

    def describe(self, picture_id: str, alt_text: str) -> None:
        """Keep what the person says is on a picture. Raises `AppError`."""
        path = self.path(picture_id)
        picture = _picture_of(path)
        if picture is None:
            raise AppError(_without_settings(path))
        try:
            self._write_json(replace(picture, alt_text=alt_text.strip()))
        except OSError as error:
            raise AppError(_refused(error)) from error
        self._known.pop(picture_id, None)

    def copy_to(self, picture_id: str, destination: Path) -> None:
        """Write the picture with its settings and its description to another place.

        Raises `AppError`.
        """
        path = self.path(picture_id)
        try:
            content = path.read_bytes()
            picture = _picture_of(path)
            if picture is not None and (picture.alt_text or _DESCRIPTION in png_texts(path)):
                content = with_texts(content, _texts_of(picture))
            write_atomically(destination, content)
        except FileNotFoundError as error:
            raise AppError(_gone(picture_id)) from error
        except OSError as error:
            raise AppError(_refused(error)) from error

    def delete(self, picture_id: str) -> None:
        """Move a picture to the trash, from where `restore` brings it back. Raises `AppError`."""
        self._move(picture_id, self._folder, self._folder / TRASH)

    def restore(self, picture_id: str) -> None:
        """Undo `delete`. Raises `AppError` when the trash no longer has it."""
        self._move(picture_id, self._folder / TRASH, self._folder)

    def empty_trash(self) -> None:
        """Remove for good what was deleted; called at the next start, when Undo is past."""
        shutil.rmtree(self._folder / TRASH, ignore_errors=True)

    def _move(self, picture_id: str, source: Path, target: Path) -> None:
        try:
            target.mkdir(parents=True, exist_ok=True)
            for suffix in (".json", ".png"):  # the picture last: it is what counts
                one = self._checked(source, picture_id, suffix)
                if suffix == ".png" or one.exists():
                    one.replace(target / one.name)
        except FileNotFoundError as error:
            raise AppError(_gone(picture_id)) from error
        except OSError as error:
            raise AppError(_refused(error)) from error
        self._known.pop(picture_id, None)

    def _write_json(self, picture: MadePicture) -> None:
        content = encode_json(_File(FILE_VERSION, picture))
        write_atomically(self._checked(self._folder, picture.id, ".json"), content)

    @staticmethod
    def _checked(folder: Path, picture_id: str, suffix: str) -> Path:
        if not _ID.fullmatch(picture_id):
            raise AppError(_gone(picture_id))
        return folder / f"{picture_id}{suffix}"


def picture_file(pixels: Pixels, picture: MadePicture) -> bytes:
    """A PNG with all settings in it, without anything of this machine."""
    return png_bytes(pixels, {word: text for word, text in _texts_of(picture).items() if text})


def _texts_of(picture: MadePicture) -> dict[str, str]:
    return {
        "Software": TEXT_KEYWORD,
        "parameters": parameters_text(picture.recipe),  # where other programs look for them
        _DESCRIPTION: picture.alt_text,
        TEXT_KEYWORD: encode_json(_File(FILE_VERSION, picture)).decode(),
    }


def parameters_text(recipe: PictureRecipe) -> str:
    """The settings in the words that other programs for pictures read and write."""
    facts = [
        f"Steps: {recipe.steps}",
        *(() if recipe.guidance is None else (f"CFG scale: {recipe.guidance:g}",)),
        f"Seed: {recipe.seed}",
        f"Size: {recipe.width}x{recipe.height}",
        f"Model: {recipe.model_title}",
    ]
    if recipe.strength is not None:
        facts.append(f"Denoising strength: {recipe.strength:g}")
    lines = [recipe.prompt]
    if recipe.negative_prompt:
        lines.append(f"Negative prompt: {recipe.negative_prompt}")
    return "\n".join((*lines, ", ".join(facts)))


def _new_id(now: datetime) -> str:
    """A name that sorts by time and never comes twice."""
    return f"{now:%Y-%m-%d-%H%M%S}-{secrets.token_hex(3)}"


def _made_at(entry: GalleryEntry) -> datetime:
    return entry.changed_at if entry.picture is None else entry.picture.made_at


def _picture_of(path: Path) -> MadePicture | None:
    """What the JSON beside it says, else what stands in the file itself."""
    picture = _decoded(_bytes_of(path.with_suffix(".json")))
    if picture is None:
        try:
            picture = _decoded(png_texts(path).get(TEXT_KEYWORD, "").encode())
        except OSError:
            return None
    # A copied file is a picture of its own, whatever it was copied from.
    return None if picture is None else replace(picture, id=path.stem)


def _decoded(content: bytes) -> MadePicture | None:
    try:
        file = _FILE.decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return None
    return file.picture if file.version == FILE_VERSION and _is_possible(file.picture) else None


def _is_possible(picture: MadePicture) -> bool:
    """Whether its numbers can be shown, sorted and filled into a form: a file may say anything."""
    recipe, moment = picture.recipe, picture.made_at
    sides = (recipe.width, recipe.height, recipe.steps)
    return (
        moment.tzinfo is not None
        and _FIRST_YEAR <= moment.year <= _LAST_YEAR
        and 0 <= picture.seconds <= _LONGEST_SECONDS
        and all(0 < side <= _MOST for side in sides)
        and 0 <= recipe.seed <= MAX_SEED
        and (recipe.guidance is None or 0 <= recipe.guidance <= _MOST)
        and (recipe.strength is None or 0 <= recipe.strength <= 1)
    )


def _bytes_of(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(_LIMIT_BYTES)
    except OSError:
        return b""


def _gone(picture_id: str) -> Problem:
    return Problem(
        code="picture_gone",
        headline="This picture is no longer there.",
        advice="Its file was removed outside the program.",
        detail=picture_id,
    )


def _without_settings(path: Path) -> Problem:
    return Problem(
        code="picture_without_settings",
        headline="Nothing is known of how this picture was made.",
        advice="Its settings are damaged or it came from elsewhere. It can be saved or removed.",
        detail=str(path),
    )


def _refused(error: OSError) -> Problem:
    return write_problem(error, what="The picture", kept="What was kept before is still there.")
