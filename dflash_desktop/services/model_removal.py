"""Remove a model, and nothing else: whatever is not wholly ours is refused, with the reason.

A folder is deleted only if it lies directly in the library, holds nothing but what its manifest
names, and nobody uses it. Links and junctions are never followed and never deleted.
"""

from __future__ import annotations

import re
import secrets
import stat
import sys
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.file_names import RECORD_FOLDER
from dflash_desktop.domain.library import RemovalPlan
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services import library_problems as problems
from dflash_desktop.services.file_tree import is_link, is_same, rename_folder, tree_entries
from dflash_desktop.services.model_manifest import RECORD_NAMES, read_record, record_dir
from dflash_desktop.services.repair_record import RECORD_FILE as REPAIR_RECORD
from dflash_desktop.services.repair_record import repaired_files

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from dflash_desktop.domain.library import InstalledModel
    from dflash_desktop.services.file_tree import TreeEntry

REMOVING_PREFIX: Final = ".removing-"
"""What a folder is called while its files go: nothing in the library sees it any more."""

_FROM_FILE_MANAGERS: Final = frozenset({".ds_store", "thumbs.db", "desktop.ini", ".directory"})
_HALF_WRITTEN_RECORD: Final = re.compile(
    rf"\.({'|'.join(map(re.escape, sorted(RECORD_NAMES)))})\..*\.new"
)
_KEPT_ORIGINAL: Final = re.compile(r"(.+)\.original(-[0-9]{1,3})?")  # beside a repaired file
_NAMED: Final = 3  # of foreign files, in the words of a refusal


def removable_entries(model: InstalledModel, *, models_dir: Path) -> tuple[TreeEntry, ...]:
    """Everything in the model's folder, if all of it is ours. Blocking.

    Raises `AppError` ("removal_refused") that says what is not, and `OSError`.
    """
    folder = model.path
    if not model.is_ours or is_link(folder) or not folder.is_dir():
        raise AppError(_refused(model, "It is not a folder that this program made."))
    if folder.parent.resolve() != models_dir.resolve():
        raise AppError(_refused(model, f"It is not in {models_dir}."))
    if read_record(record_dir(folder)) is None:
        raise AppError(_refused(model, "Its manifest is gone."))
    entries = tuple(tree_entries(folder))
    known = {file.path for file in model.manifest.files}
    foreign = _foreign(entries, known.union(repaired_files(model.path)))
    if foreign:
        more = f" and {len(foreign) - _NAMED} more" if len(foreign) > _NAMED else ""
        names = ", ".join(foreign[:_NAMED]) + more
        raise AppError(
            _refused(model, f"It also holds what this program did not put there: {names}.")
        )
    return entries


def planned_removal(
    model: InstalledModel,
    *,
    models_dir: Path,
    others: Iterable[InstalledModel],
    used_by: tuple[str, ...],
) -> RemovalPlan:
    """What a removal would free, and with whom of the `others` the rest is shared. Blocking.

    Raises what `removable_entries` raises.
    """
    if not model.is_ours:
        return RemovalPlan(model, 0, 0, used_by)
    entries = removable_entries(model, models_dir=models_dir)
    freed, shared = freed_bytes(entries)
    if not shared:
        return RemovalPlan(model, freed, 0, used_by)
    held = {
        entry.identity: entry.size_bytes
        for entry in entries
        if not entry.is_folder and entry.name_count > 1
    }
    theirs = [(other, held.keys() & _identities(other.path)) for other in others]
    with_models = {identity for _, identities in theirs for identity in identities}
    return RemovalPlan(
        model,
        freed,
        shared,
        used_by,
        shared_with=tuple(other for other, identities in theirs if identities),
        shared_with_models_bytes=sum(held[identity] for identity in with_models),
    )


def freed_bytes(entries: Iterable[TreeEntry]) -> tuple[int, int]:
    """What deleting these files frees, and what stays since it is also elsewhere.

    A file with several names is counted once; it is freed only if all its names are among these.
    """
    names: dict[tuple[int, int], list[TreeEntry]] = {}
    for entry in entries:
        if not entry.is_folder:
            names.setdefault(entry.identity, []).append(entry)
    freed = shared = 0
    for same in names.values():
        if len(same) >= same[0].name_count:
            freed += same[0].size_bytes
        else:
            shared += same[0].size_bytes
    return freed, shared


def refuse_if_in_use(model: InstalledModel, in_use: Collection[Path]) -> None:
    """Raises `AppError` ("model_in_use") while one of these folders is the model's."""
    if any(is_same(model.path, folder) for folder in in_use):
        raise AppError(problems.in_use(model.title))


def remove_model(model: InstalledModel, *, models_dir: Path) -> None:
    """Delete the model's folder after looking once more. Blocking; hold the library's lock.

    First it gets a name under which nothing finds it, so that it is there whole or not at all.
    Raises `AppError` ("removal_refused", "model_in_use", "not_removable") with nothing changed,
    and `OSError`.
    """
    removable_entries(model, models_dir=models_dir)
    aside = models_dir / f"{REMOVING_PREFIX}{secrets.token_hex(3)}"
    try:
        rename_folder(model.path, aside)
    except PermissionError as error:
        # On Windows this means that somebody has a file of it open.
        explain = problems.in_use if sys.platform == "win32" else problems.not_removable
        raise AppError(explain(model.title, detail=str(error))) from error
    delete_entries(aside, tuple(tree_entries(aside)))


def delete_entries(folder: Path, entries: Iterable[TreeEntry]) -> None:
    """Delete these plain files and empty folders, then the folder. Raises `OSError`.

    What came in the meantime stays, and with it the folders that hold it.
    """
    folders = [folder]
    for entry in entries:
        path = folder / entry.path
        if entry.is_folder:
            folders.append(path)
        elif entry.is_plain:
            _delete_file(path)
    for path in sorted(folders, key=lambda one: len(one.parts), reverse=True):
        path.rmdir()


def _identities(folder: Path) -> set[tuple[int, int]]:
    """Of all files in it; none where it cannot be looked into, as on a stick that is not there."""
    try:
        return {entry.identity for entry in tree_entries(folder) if not entry.is_folder}
    except OSError:
        return set()


def _foreign(entries: Iterable[TreeEntry], files: set[str]) -> list[str]:
    """The names of what the manifest does not account for."""
    parents = {
        path.rsplit("/", depth)[0] for path in files for depth in range(1, path.count("/") + 1)
    }
    foreign = []
    for entry in entries:
        head, _, rest = entry.path.partition("/")
        if not entry.is_plain:
            is_ours = False
        elif entry.is_folder:
            is_ours = entry.path in parents or entry.path == RECORD_FOLDER
        elif head == RECORD_FOLDER:
            is_ours = rest in RECORD_NAMES or bool(_HALF_WRITTEN_RECORD.fullmatch(rest))
        else:
            is_ours = entry.path in files or _is_ours_by_name(entry.path, files)
        if not is_ours:
            foreign.append(entry.path)
    return foreign


def _is_ours_by_name(path: str, files: set[str]) -> bool:
    """What a repair keeps beside the files, and what file managers put everywhere."""
    kept = _KEPT_ORIGINAL.fullmatch(path)
    is_of_repair = path == REPAIR_RECORD or (kept is not None and kept[1] in files)
    return is_of_repair or path.rpartition("/")[2].lower() in _FROM_FILE_MANAGERS


def _delete_file(path: Path) -> None:
    try:
        path.unlink()
    except PermissionError:  # Windows does not delete what is read-only
        path.chmod(stat.S_IWRITE)
        path.unlink()


def _refused(model: InstalledModel, reason: str) -> Problem:
    return Problem(
        code="removal_refused",
        headline=f"“{model.title}” is not removed, since its folder is not wholly ours.",
        advice=f"{reason} Open the folder, move out what is yours, then try again.",
        detail=str(model.path),
    )
