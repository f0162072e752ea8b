"""Where the library is, where it may go, and what a move that was cut off left behind.

A journal is written before a move touches anything: it names both places, so that after any end
of the program the one that does not count can be found, and only that.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.services.atomic_file import write_atomically
from dflash_desktop.services.file_tree import is_link, is_same
from dflash_desktop.workers.disk_room import existing_folder, free_disk_bytes

if TYPE_CHECKING:
    from dflash_desktop.paths import AppPaths

PARTS: Final = ("models", "incoming")
"""The folders of a library; a place that a person chose may hold anything else beside them."""

FOLDER_NAME: Final = "DFlash"  # short: Windows counts every character of a path
_SPARE_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class MoveJournal:
    """A move that was begun, and perhaps ended."""

    from_dir: Path
    to_dir: Path

    def stale_dir(self, library_dir: Path) -> Path:
        """The place that does not count."""
        return self.from_dir if is_same(library_dir, self.to_dir) else self.to_dir


class _JournalForm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    from_dir: Annotated[str, msgspec.Meta(min_length=1)]
    to_dir: Annotated[str, msgspec.Meta(min_length=1)]


def read_journal(paths: AppPaths) -> MoveJournal | None:
    """The journal of the last move, if it has not been cleared away."""
    try:
        form = msgspec.json.decode(paths.library_journal_file.read_bytes(), type=_JournalForm)
    except (OSError, ValueError):
        return None
    return MoveJournal(Path(form.from_dir), Path(form.to_dir))


def write_journal(paths: AppPaths, journal: MoveJournal) -> None:
    """Say what is about to begin. Raises `OSError`."""
    fields = {"version": 1, "from_dir": str(journal.from_dir), "to_dir": str(journal.to_dir)}
    write_atomically(paths.library_journal_file, msgspec.json.encode(fields))


def clear_journal(paths: AppPaths) -> None:
    """Say that neither place holds anything that does not count. Raises `OSError`."""
    paths.library_journal_file.unlink(missing_ok=True)


def settle(paths: AppPaths, library_dir: Path) -> None:
    """From now on the library is here: one write, so it is here or where it was.

    Raises `OSError`.
    """
    if is_same(library_dir, paths.data_dir):
        paths.library_place_file.unlink(missing_ok=True)
        return
    fields = {"version": 1, "library_dir": str(library_dir)}
    write_atomically(paths.library_place_file, msgspec.json.encode(fields))


def place_for(chosen: Path, paths: AppPaths) -> Path:
    """The folder of the library in a place that a person chose: that folder itself if it is empty.

    Raises `AppError`: "place_is_ours" for the present place or one inside it, "place_taken" when
    there is something in the way, "place_refused" when it is a link or no folder.
    """
    chosen = chosen.absolute()
    home = paths.data_dir
    is_bare = is_same(chosen, home) or not chosen.exists() or _is_empty(chosen)
    place = chosen if is_bare else chosen / FOLDER_NAME
    present = paths.library_dir
    inside = [present / part for part in PARTS]
    is_inside = any(folder in (place, *place.parents) for folder in inside)
    if is_inside or present in (chosen, place) or is_same(place, present):
        raise AppError(_is_present(present))
    if is_link(place) or not existing_folder(place).is_dir():
        raise AppError(_refused(place))
    taken = [place / part for part in PARTS if (place / part).exists() or is_link(place / part)]
    if taken or (place != home and place.exists() and not _is_empty(place)):
        raise AppError(_is_taken(taken[0] if taken else place))
    return place


def absence(paths: AppPaths) -> Problem | None:
    """Why there are no models although there should be: their disk is not there. Quick."""
    place = paths.library_dir
    if place == paths.data_dir or place.is_dir():
        return None
    return Problem(
        code="library_absent",
        headline="The disk with your models is not there.",
        advice=f"They are in {place}. Plug it in, then try again.",
        remedies=(Remedy.RETRY,),
    )


def require_place(paths: AppPaths) -> None:
    """Raises `AppError` ("library_absent"): no second library shall grow at a mount point."""
    problem = absence(paths)
    if problem is not None:
        raise AppError(problem)


def check_room(place: Path, needed_bytes: int) -> None:
    """Raises `AppError` ("disk_full") unless so much is free where `place` will be."""
    free_bytes = free_disk_bytes(place)
    if free_bytes < needed_bytes + _SPARE_BYTES:
        raise AppError(
            Problem(
                code="disk_full",
                headline=f"There is not enough room in {place}.",
                advice=f"The library needs {format_bytes(needed_bytes)}, "
                f"{format_bytes(free_bytes)} are free. Choose another disk, or make room.",
                remedies=(Remedy.RETRY,),
            )
        )


def _is_empty(folder: Path) -> bool:
    return folder.is_dir() and not any(folder.iterdir())


def _is_present(present: Path) -> Problem:
    return Problem(
        code="place_is_ours",
        headline="The models are there already.",
        advice=f"They are in {present}. Choose another folder.",
    )


def _is_taken(folder: Path) -> Problem:
    return Problem(
        code="place_taken",
        headline=f"{folder} is there already.",
        advice="Choose an empty folder, or one in which there is none of this name. What an "
        "earlier move left is shown under leftovers.",
    )


def _refused(place: Path) -> Problem:
    return Problem(
        code="place_refused",
        headline=f"{place} cannot hold the models.",
        advice="It is a link or no folder. Choose the folder itself.",
    )
