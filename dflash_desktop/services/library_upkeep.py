"""Room on the disk: leftovers, the compile cache, and moving the library to another disk."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.file_names import too_long_path
from dflash_desktop.domain.library import CacheSize, Leftover, LeftoverKind, WorkProgress
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services import library_problems as problems
from dflash_desktop.services.file_hashing import WorkCounter, finish
from dflash_desktop.services.file_tree import is_link, tree_entries
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.leftovers import find_leftovers, remove_leftover
from dflash_desktop.services.library_lock import library_changing
from dflash_desktop.services.library_move import library_entries, move_library, moved_bytes
from dflash_desktop.services.library_place import place_for
from dflash_desktop.services.model_removal import freed_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.file_tree import TreeEntry
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.settings_store import SettingsStore


class LibraryUpkeep:
    """What is done with the library as a whole.

    With `settings`, pairs that a person added go on when the folders they name have moved.
    """

    def __init__(
        self, *, paths: AppPaths, library: ModelLibrary, settings: SettingsStore | None = None
    ) -> None:
        self._paths = paths
        self._library = library
        self._settings = settings

    async def leftovers(self) -> tuple[Leftover, ...]:
        """What takes room for nothing, the largest first."""
        return await asyncio.to_thread(find_leftovers, self._paths)

    async def remove_leftover(self, leftover: Leftover) -> None:
        """Delete one. Raises `AppError`: "removal_refused", "library_busy" or "not_deleted"."""

        def work() -> None:
            with library_changing(self._paths):
                remove_leftover(leftover, self._paths, self._library.folders_in_use())

        try:
            await asyncio.to_thread(work)
        except OSError as error:
            raise AppError(problems.not_deleted(leftover.path.name, error)) from error
        await self._library.refresh()

    async def compile_cache(self) -> CacheSize:
        """How much compiled models take; the engine makes them again when they are gone."""
        return await asyncio.to_thread(_cache_size, self._paths.compile_cache_dir)

    async def clear_compile_cache(self) -> CacheSize:
        """Delete what is not in use, and say what is left. Raises `AppError`."""
        return await asyncio.to_thread(_clear_cache, self._paths.compile_cache_dir)

    async def move(
        self,
        chosen: Path,
        on_progress: Callable[[WorkProgress], None] = lambda _: None,
        *,
        downloads_are_held: bool = False,
    ) -> Path:
        """Move all models and what is on its way; returns the folder in which they are now.

        Cancelling, like any failure, leaves everything where it was. The window holds its
        downloads first (`Downloads.held`). Raises `AppError`: "library_in_use" while a model is
        loaded or something arrives, what `library_place` and `library_move` raise, "path_too_long"
        on Windows, or why the disk refused.
        """
        counter = WorkCounter()
        total_bytes = 0
        before = self._paths.library_dir

        def work() -> Path:
            nonlocal total_bytes
            paths = self._paths
            with problems.written("The library"), library_changing(paths):
                self._refuse_if_busy(downloads_are_held=downloads_are_held)
                clear_stale_place(paths)
                place = place_for(chosen, paths)
                entries = library_entries(paths.library_dir)
                _check_path_length(place, entries)
                total_bytes = moved_bytes(entries)
                move_library(place, entries, paths=paths, counter=counter)
            return place

        def tell(done_bytes: int) -> None:
            # Each byte was counted twice: when it was written, and when it was read back.
            on_progress(WorkProgress(min(done_bytes // 2, total_bytes), total_bytes))

        job = asyncio.get_running_loop().run_in_executor(None, work)
        try:
            await finish([job], counter, on_done_bytes=tell)
        finally:
            await self._library.refresh()
        place = job.result()
        self._follow(before, place)
        return place

    def _follow(self, before: Path, place: Path) -> None:
        """Keep the pairs that a person made of folders in the library."""
        if self._settings is None:
            return
        pairs = self._settings.look_again().added_pairs
        moved = tuple(
            replace(
                pair,
                target_dir=_moved(pair.target_dir, before, place),
                draft_dir=pair.draft_dir and _moved(pair.draft_dir, before, place),
            )
            for pair in pairs
        )
        self._settings.change(added_pairs=moved)

    def _refuse_if_busy(self, *, downloads_are_held: bool) -> None:
        models_dir = self._paths.models_dir.resolve()
        if any(
            models_dir in folder.resolve().parents for folder in self._library.folders_in_use()
        ):
            what = "A model is loaded, in the window or by a command. Move them in the window, "
            raise AppError(_in_use(f"{what}or close what uses them"))
        downloads = InstallLock(self._paths.downloads_lock_file)
        if not downloads_are_held and downloads.is_held_by_anyone():
            raise AppError(_in_use("The window is open. Move them there, or close it"))
        paths = self._paths
        for file in (
            paths.starter_lock_file,
            paths.import_lock_file,
            paths.repair_lock_file,
            paths.exports_lock_file,
        ):
            if InstallLock(file).is_held_by_anyone():
                raise AppError(_in_use("A model is being installed. Wait until it is done"))


def _moved(folder: Path, before: Path, place: Path) -> Path:
    models_dir = before / "models"
    return place / folder.relative_to(before) if folder.is_relative_to(models_dir) else folder


def clear_stale_place(paths: AppPaths) -> None:
    """Finish what a move that was cut off left, before the next. Raises `AppError`, `OSError`."""
    for leftover in find_leftovers(paths, is_lock_ours=True):
        if leftover.kind is LeftoverKind.MOVED:
            remove_leftover(leftover, paths, ())


def _check_path_length(place: Path, entries: dict[str, tuple[TreeEntry, ...]]) -> None:
    names = [f"{part}/{entry.path}" for part, found in entries.items() for entry in found]
    longest = too_long_path(str(place), names, is_windows=sys.platform == "win32")
    if longest is not None:
        raise AppError(
            Problem(
                code="path_too_long",
                headline="The names of some files would become too long there.",
                advice="Choose a folder nearer to the root of the disk.",
                detail=f"{place}/{longest}",
                remedies=(Remedy.RETRY,),
            )
        )


def _cache_size(folder: Path) -> CacheSize:
    try:
        entries = [] if is_link(folder) else [e for e in tree_entries(folder) if not e.is_folder]
    except OSError:
        entries = []
    return CacheSize(folder, len(entries), freed_bytes(entries)[0])


def _clear_cache(folder: Path) -> CacheSize:
    if is_link(folder):
        raise AppError(
            Problem(
                code="removal_refused",
                headline="The compile cache is a link to another place, so it is not cleared.",
                advice="Open the folder and look for yourself.",
                detail=str(folder),
            )
        )
    try:
        entries = tuple(tree_entries(folder)) if folder.is_dir() else ()
        for entry in entries:
            if entry.is_plain and not entry.is_folder:
                _unlink_unless_open(folder / entry.path)
    except OSError as error:
        raise AppError(problems.not_deleted("The compile cache", error)) from error
    return _cache_size(folder)


def _unlink_unless_open(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except PermissionError:
        if sys.platform != "win32":
            raise
        # There it means that the engine has the file open: it goes another time.


def _in_use(what: str) -> Problem:
    return Problem(
        code="library_in_use",
        headline="The models cannot be moved while they are in use.",
        advice=f"{what}, then try again.",
        remedies=(Remedy.RETRY,),
    )
