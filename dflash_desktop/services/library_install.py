"""From a transfer's incoming folder into the library, and back what is there already."""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.domain.transfer import incoming_folder_name

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.library import InstalledModel, ModelFile
    from dflash_desktop.domain.transfer import RepoPlan
    from dflash_desktop.services.model_library import ModelLibrary


class LibraryInstalling:
    """What `TransferRun` asks of the library; a repository becomes one model."""

    def __init__(self, *, library: ModelLibrary) -> None:
        self._library = library

    async def bring_back(self, incoming: Path, plan: RepoPlan) -> None:
        """Link installed files of the same content into the incoming folder. Raises `OSError`.

        A new version of a model often changes only a few of its files.
        """
        model = self._own(plan.repo_id)
        if model is None:
            return
        known = {(file.path, file.size_bytes, file.sha256) for file in model.manifest.files}
        same_commit = model.manifest.commit == plan.commit
        sizes = {(file.path, file.size_bytes) for file in model.manifest.files}
        wanted = [
            file.path
            for file in plan.files
            if (file.path, file.size_bytes, file.sha256) in known
            or (same_commit and (file.path, file.size_bytes) in sizes)
        ]
        folder = incoming / incoming_folder_name(plan.repo_id)
        await asyncio.to_thread(_lay, model.path, folder, wanted)

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
        if model is not None and is_same:
            names = {file.path for file in files}
            others = tuple(file for file in model.manifest.files if file.path not in names)
            await asyncio.to_thread(_lay, model.path, folder, [file.path for file in others])
            files = (*files, *(f for f in others if (folder / f.path).is_file()))
        await self._library.install(
            folder, repo_id=plan.repo_id, commit=plan.commit, endpoint=endpoint, files=files
        )

    def _own(self, repo_id: str) -> InstalledModel | None:
        model = self._library.find(repo_id)
        return model if model is not None and model.is_ours else None


def _lay(source: Path, folder: Path, paths: list[str]) -> None:
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
