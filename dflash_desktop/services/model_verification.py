"""Compare every byte of a model with its manifest, and tell apart how files differ."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.file_names import RECORD_FOLDER
from dflash_desktop.domain.library import (
    FileDifference,
    ModelFile,
    VerificationReport,
    WorkProgress,
)
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.file_hashing import hash_files
from dflash_desktop.services.file_tree import tree_entries
from dflash_desktop.services.model_manifest import utc_now

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from dflash_desktop.domain.library import InstalledModel


async def verify_model(
    model: InstalledModel, on_progress: Callable[[WorkProgress], None] = lambda _: None
) -> VerificationReport:
    """Read every file of the manifest. Files without a hash count as right in their size.

    Raises `AppError` ("model_absent") when the folder is not there; cancelling stops it quickly.
    """
    if not await asyncio.to_thread(model.path.is_dir):
        raise AppError(_absent(model))
    differences = await asyncio.to_thread(_glance, model)
    odd = {difference.path for difference in differences}
    readable = [file for file in model.manifest.files if file.path not in odd]
    total_bytes = sum(file.size_bytes for file in readable)
    hashes = await hash_files(
        {file.path: model.path / file.path for file in _largest_first(readable)},
        total_bytes=total_bytes,
        on_progress=on_progress,
    )
    for file in readable:
        found = hashes[file.path]
        if isinstance(found, FileNotFoundError):
            differences.append(FileDifference(file.path, "missing"))
        elif isinstance(found, OSError):
            differences.append(FileDifference(file.path, "unreadable"))
        elif file.sha256 and found != file.sha256:
            differences.append(FileDifference(file.path, "bytes"))
    return VerificationReport(
        model_id=model.id,
        checked_files=len(readable),
        checked_bytes=total_bytes,
        differences=tuple(sorted(differences, key=lambda one: (one.kind == "extra", one.path))),
        at=utc_now(),
    )


async def with_hashes(
    model: InstalledModel, on_progress: Callable[[WorkProgress], None] = lambda _: None
) -> InstalledModel:
    """An added model whose manifest knows what its files are now.

    Raises `AppError`: "model_absent", or "model_unreadable" when a file cannot be read.
    """
    if not await asyncio.to_thread(model.path.is_dir):
        raise AppError(_absent(model))
    files = model.manifest.files
    hashes = await hash_files(
        {file.path: model.path / file.path for file in _largest_first(files)},
        total_bytes=model.manifest.size_bytes,
        on_progress=on_progress,
    )
    known = []
    for file in files:
        found = hashes[file.path]
        if isinstance(found, OSError):
            raise AppError(_unreadable(model, file.path, found))
        known.append(replace(file, sha256=found))
    return replace(model, manifest=replace(model.manifest, files=tuple(known)))


def bad_paths(report: VerificationReport) -> tuple[str, ...]:
    """The files that a repair must bring anew."""
    return tuple(one.path for one in report.differences if one.kind != "extra")


def _glance(model: InstalledModel) -> list[FileDifference]:
    """What names and sizes tell. Only in our own folders is anything else a difference."""
    if not model.is_ours:
        return [
            found for file in model.manifest.files if (found := _size_difference(model.path, file))
        ]
    try:
        entries = {entry.path: entry for entry in tree_entries(model.path)}
    except OSError:
        return [FileDifference(file.path, "unreadable") for file in model.manifest.files]
    differences: list[FileDifference] = []
    for file in model.manifest.files:
        entry = entries.pop(file.path, None)
        if entry is None or entry.is_folder or not entry.is_plain:
            differences.append(FileDifference(file.path, "missing"))
        elif entry.size_bytes != file.size_bytes:
            differences.append(FileDifference(file.path, "size"))
    differences += [
        FileDifference(entry.path, "extra")
        for entry in entries.values()
        if not entry.is_folder and entry.path.split("/")[0] != RECORD_FOLDER
    ]
    return differences


def _size_difference(folder: Path, file: ModelFile) -> FileDifference | None:
    try:
        size = (folder / file.path).stat().st_size
    except FileNotFoundError:
        return FileDifference(file.path, "missing")
    except OSError:
        return FileDifference(file.path, "unreadable")
    return None if size == file.size_bytes else FileDifference(file.path, "size")


def _largest_first(files: Iterable[ModelFile]) -> list[ModelFile]:
    """So that no thread begins with the largest when all others are done."""
    return sorted(files, key=lambda file: -file.size_bytes)


def _absent(model: InstalledModel) -> Problem:
    return Problem(
        code="model_absent",
        headline=f"The folder of “{model.title}” is not there.",
        advice="Plug in the disk that it is on, then try again.",
        detail=str(model.path),
        remedies=(Remedy.RETRY,),
    )


def _unreadable(model: InstalledModel, path: str, error: OSError) -> Problem:
    return Problem(
        code="model_unreadable",
        headline=f"A file of “{model.title}” cannot be read.",
        advice="Check that you may open it and that the disk is well, then try again.",
        detail=f"{path}: {error}",
        remedies=(Remedy.RETRY,),
    )
