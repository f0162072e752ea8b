"""From a transfer's incoming folder into the library, and back what is there already."""

from __future__ import annotations

import asyncio
import os
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.library import ModelCondition
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.transfer import incoming_folder_name

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from dflash_desktop.domain.library import InstalledModel, ModelFile
    from dflash_desktop.domain.transfer import RepoPlan
    from dflash_desktop.services.model_library import ModelLibrary


class LibraryInstalling:
    """What `TransferRun` asks of the library; a repository becomes one model."""

    def __init__(self, *, library: ModelLibrary) -> None:
        self._library = library

    def known(self, plan: RepoPlan) -> RepoPlan:
        """The plan, with what is installed already counted as present."""
        paths = self._same_files(plan)
        files = (
            replace(file, present_bytes=file.size_bytes) if file.path in paths else file
            for file in plan.files
        )
        return replace(plan, files=tuple(files))

    async def bring_back(self, incoming: Path, plan: RepoPlan) -> None:
        """Link installed files of the same content into the incoming folder. Raises `OSError`.

        A new version of a model often changes only a few of its files.
        """
        model = self._own(plan.repo_id)
        if model is not None:
            folder = incoming / incoming_folder_name(plan.repo_id)
            await asyncio.to_thread(_lay, model.path, folder, self._same_files(plan))

    async def install(
        self, incoming: Path, plan: RepoPlan, files: tuple[ModelFile, ...], *, endpoint: str
    ) -> None:
        """Take one repository into the library; files of the same commit that are there stay.

        Raises `AppError`. A repository that is installed already is left alone.
        """
        folder = incoming / incoming_folder_name(plan.repo_id)
        model = self._own(plan.repo_id)
        is_same = model is not None and model.manifest.commit == plan.commit
        if not await asyncio.to_thread(folder.is_dir):
            if is_same:  # the program ended right after it had been moved
                return
            raise AppError(_vanished(folder))
        # Of a damaged model nothing may pass as verified that was not looked at again.
        if model is not None and is_same and model.condition is not ModelCondition.DAMAGED:
            names = {file.path for file in files}
            others = tuple(file for file in model.manifest.files if file.path not in names)
            await asyncio.to_thread(_lay, model.path, folder, [file.path for file in others])
            files = (*files, *(f for f in others if (folder / f.path).is_file()))
        await self._library.install(
            folder, repo_id=plan.repo_id, commit=plan.commit, endpoint=endpoint, files=files
        )

    def _same_files(self, plan: RepoPlan) -> frozenset[str]:
        """Planned files that are installed: by hash, or by name and size in the same commit."""
        model = self._own(plan.repo_id)
        if model is None:
            return frozenset()
        hashes = {(file.path, file.size_bytes, file.sha256) for file in model.manifest.files}
        is_same = model.manifest.commit == plan.commit
        sizes = {(file.path, file.size_bytes) for file in model.manifest.files if is_same}
        return frozenset(
            file.path
            for file in plan.files
            if (file.path, file.size_bytes, file.sha256) in hashes
            or (file.path, file.size_bytes) in sizes
        )

    def _own(self, repo_id: str) -> InstalledModel | None:
        model = self._library.find(repo_id)
        return model if model is not None and model.is_ours else None


def _lay(source: Path, folder: Path, paths: Iterable[str]) -> None:
    """Link each file, or copy it where the disk has no links; what is there already stays."""
    for path in paths:
        old, new = source / path, folder / path
        if new.exists() or not old.is_file() or old.is_symlink():
            continue
        new.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(old, new)
        except OSError:
            shutil.copyfile(old, new)


def _vanished(folder: Path) -> Problem:
    return Problem(
        code="model_incomplete",
        headline="What was downloaded is no longer there.",
        advice="Something removed it, perhaps a virus scanner or a clean-up. Try again.",
        detail=str(folder),
        remedies=(Remedy.RETRY,),
    )
