"""What takes room in the library's folders for nothing: found, told apart, and removed with care.

Only what the program can explain is a leftover. What may be a person's own is shown, but never
removed together with the rest.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.library import Leftover, LeftoverKind
from dflash_desktop.domain.model_facts import TEXT_GRAPH, VISION_GRAPH
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.domain.transfer import repo_id_of_folder
from dflash_desktop.services.added_models import added_models
from dflash_desktop.services.export_journal import EXPORT_PREFIX, known_export_ids
from dflash_desktop.services.file_tree import is_link, is_same, tree_entries
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.library_place import PARTS, clear_journal, read_journal
from dflash_desktop.services.model_removal import REMOVING_PREFIX, delete_entries, freed_bytes
from dflash_desktop.services.model_store import own_models, superseded_models
from dflash_desktop.services.transfer_store import stored_folder_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from pathlib import Path

    from dflash_desktop.paths import AppPaths

_STARTER: Final = "starter"
_TRANSFERS: Final = "transfers"
REPAIRS: Final = "repairs"
IMPORT_PREFIX: Final = "gguf-"
_STRANGER_SECONDS: Final = 24 * 3600
"""What nobody here knows is left alone for a day: another version's work, perhaps."""


def find_leftovers(paths: AppPaths, *, is_lock_ours: bool = False) -> tuple[Leftover, ...]:
    """All of them, the largest first; none of a move that still runs. Blocking."""
    lock = InstallLock(paths.library_lock_file)
    is_moving = not is_lock_ours and lock.is_held_by_anyone()
    moved = () if is_moving else _of_a_move(paths)
    found = (*_in_models(paths), *_in_incoming(paths), *moved)
    return tuple(sorted(found, key=lambda one: (-one.size_bytes, str(one.path))))


def remove_leftover(leftover: Leftover, paths: AppPaths, in_use: Collection[Path]) -> None:
    """Delete it if it still is a leftover. Blocking; the caller holds the library's lock.

    Raises `AppError` ("removal_refused") for what is none, holds a link or is in use, and
    `OSError`.
    """
    known = {one.path: one.kind for one in find_leftovers(paths, is_lock_ours=True)}
    path = leftover.path
    if known.get(path) is not leftover.kind:
        raise AppError(_refused(path, "It is in use, or gone already."))
    if any(is_same(path, folder) or path in folder.parents for folder in in_use):
        raise AppError(_refused(path, "A model in it is loaded now."))
    if is_link(path):
        raise AppError(_refused(path, "It is a link to another place."))
    if path.is_dir():
        entries = tuple(tree_entries(path))
        links = [entry.path for entry in entries if not entry.is_plain]
        if links:
            raise AppError(_refused(path, f"It holds a link to another place: {links[0]}."))
        delete_entries(path, entries)
    else:
        path.unlink()
    if leftover.kind is LeftoverKind.MOVED and not list(_of_a_move(paths)):
        clear_journal(paths)
        with suppress(OSError):  # it holds something else: the conversations, for instance
            path.parent.rmdir()


def _in_models(paths: AppPaths) -> Iterator[Leftover]:
    models_dir = paths.models_dir
    known = {model.path for model in own_models(models_dir)}
    replaced = {model.path for model in superseded_models(models_dir)}
    added = [model.path for model in added_models(paths.added_models_dir)]
    for path in _children(models_dir):
        if path in known or path.name == _STARTER:
            continue
        if path.name.startswith(REMOVING_PREFIX):
            yield _leftover(path, LeftoverKind.REMOVED)
        elif path in replaced:
            yield _leftover(path, LeftoverKind.REPLACED)
        elif not any(is_same(path, folder) or path in folder.parents for folder in added):
            yield _leftover(path, LeftoverKind.UNKNOWN)


def _in_incoming(paths: AppPaths) -> Iterator[Leftover]:
    exports = known_export_ids(paths.exports_dir)
    for path in _children(paths.incoming_dir):
        lock_file = _lock_of(path.name, paths)
        if path.name.startswith(EXPORT_PREFIX):
            if path.name.removeprefix(EXPORT_PREFIX) not in exports:
                yield _leftover(path, LeftoverKind.EXPORT)
        elif path.name == _TRANSFERS:
            yield from _forgotten_transfers(path, paths)
        elif lock_file is not None:
            if not InstallLock(lock_file).is_held_by_anyone():
                yield _leftover(path, LeftoverKind.TRANSFER)
        elif path.is_dir() and _age_seconds(path) > _STRANGER_SECONDS:
            yield _leftover(path, LeftoverKind.UNKNOWN)


def _lock_of(name: str, paths: AppPaths) -> Path | None:
    """What is held while somebody works in this folder."""
    if name.startswith(IMPORT_PREFIX):
        return paths.import_lock_file
    return {_STARTER: paths.starter_lock_file, REPAIRS: paths.repair_lock_file}.get(name)


def _forgotten_transfers(folder: Path, paths: AppPaths) -> Iterator[Leftover]:
    open_names = stored_folder_names(paths.downloads_file)
    if open_names is None:
        return  # nobody can tell which are open
    for path in _children(folder):
        if path.name not in open_names:
            repo_ids = (repo_id_of_folder(child.name) for child in _children(path))
            leftover = _leftover(path, LeftoverKind.TRANSFER)
            yield replace(leftover, repo_ids=tuple(filter(None, repo_ids)))


def _of_a_move(paths: AppPaths) -> Iterator[Leftover]:
    journal = read_journal(paths)
    if journal is None:
        return
    stale = journal.stale_dir(paths.library_dir)
    for part in PARTS:
        if (stale / part).is_dir() and not is_link(stale / part):
            yield _leftover(stale / part, LeftoverKind.MOVED)


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _leftover(path: Path, kind: LeftoverKind) -> Leftover:
    try:
        if is_link(path) or not path.is_dir():
            return Leftover(path, kind, path.lstat().st_size)
        entries = tuple(tree_entries(path))
    except OSError:
        return Leftover(path, kind, 0)
    names = {entry.path for entry in entries}
    freed, _ = freed_bytes(entries)
    is_model = bool(names & {TEXT_GRAPH, VISION_GRAPH})
    return Leftover(path, kind, freed, kind is LeftoverKind.UNKNOWN and is_model)


def _age_seconds(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _refused(path: Path, reason: str) -> Problem:
    return Problem(
        code="removal_refused",
        headline=f"{path.name} is not removed.",
        advice=f"{reason} Open the folder and look for yourself.",
        detail=str(path),
    )
