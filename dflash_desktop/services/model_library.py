"""What models are on this disk, and everything that one does with them."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dflash_desktop.domain.library import InstalledModel, ModelManifest
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.added_models import added_models
from dflash_desktop.services.catalogue_store import load_catalogue
from dflash_desktop.services.installed_pairs import installed_pairs
from dflash_desktop.services.library_lock import library_changing
from dflash_desktop.services.model_description import describe_model
from dflash_desktop.services.model_manifest import utc_now
from dflash_desktop.services.model_store import install_folder, model_key, own_models

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.catalogue import Catalogue
    from dflash_desktop.domain.library import ModelFile
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.paths import AppPaths

_log = logging.getLogger(__name__)


class ModelLibrary:
    """The models of this installation; what another process changes is seen after `refresh`.

    Everything runs in the loop's thread and returns at once, or is a coroutine whose blocking
    part runs in another thread.
    """

    def __init__(self, *, paths: AppPaths) -> None:
        self._paths = paths
        self._models: tuple[InstalledModel, ...] | None = None
        self._listeners: list[Callable[[], None]] = []

    def models(self) -> tuple[InstalledModel, ...]:
        """All models by id, as last read; the first time this reads the disk, which is quick."""
        if self._models is None:
            self._models = _read(self._paths)
        return self._models

    def find(self, model_id: str) -> InstalledModel | None:
        """The model with this id; upper and lower case are the same."""
        key = model_key(model_id)
        return next((model for model in self.models() if model_key(model.id) == key), None)

    def pairs(self) -> tuple[PairFolders, ...]:
        """What can be loaded: catalogue pairs whose parts are both here, then targets alone."""
        models = self.models()
        return installed_pairs(models, self._catalogue()) if models else ()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every change that was noticed; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def refresh(self) -> None:
        """Read the disk again, and tell the listeners if anything is not as before."""
        models = await asyncio.to_thread(_read, self._paths)
        if models == self._models:
            return
        self._models = models
        for listener in tuple(self._listeners):
            listener()

    async def install(
        self,
        incoming: Path,
        *,
        repo_id: str,
        commit: str,
        endpoint: str,
        files: tuple[ModelFile, ...],
        title: str = "",
    ) -> InstalledModel:
        """Take in a folder whose files were all verified while they arrived.

        What it is, its role and its precision, is found here. Raises `AppError` as
        `install_folder` and `library_changing` do; `incoming` is then still there.
        """

        def work() -> InstalledModel:
            role, precision = describe_model(incoming, name=repo_id)
            now = utc_now()
            manifest = ModelManifest(
                repo_id=repo_id,
                commit=commit,
                endpoint=endpoint,
                files=files,
                role=role,
                precision=precision,
                installed_at=now,
                verified_at=now,
            )
            with library_changing(self._paths):
                models_dir = self._paths.models_dir
                return install_folder(incoming, manifest, models_dir=models_dir, title=title)

        model = await asyncio.to_thread(work)
        await self.refresh()
        return model

    def _catalogue(self) -> Catalogue:
        try:
            return load_catalogue(own_file=self._paths.own_pairs_file)
        except AppError as error:
            # It is said where pairs are recommended; here the others must still be there.
            _log.warning("without the own pairs: %s", error)
            return load_catalogue()


def _read(paths: AppPaths) -> tuple[InstalledModel, ...]:
    """Own models, and added ones whose id is free."""
    models = {model_key(model.id): model for model in own_models(paths.models_dir)}
    for model in added_models(paths.added_models_dir):
        models.setdefault(model_key(model.id), model)
    return tuple(models[key] for key in sorted(models))
