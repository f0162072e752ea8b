"""What models are on this disk, and everything that one does with them."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from dflash_desktop.domain.library import (
    InstalledModel,
    VerificationReport,
    WorkProgress,
)
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import library_problems as problems
from dflash_desktop.services.added_models import (
    add_folder,
    all_models,
    forget_added,
    keep_hashes,
    records_of_added,
)
from dflash_desktop.services.file_tree import is_same
from dflash_desktop.services.installed_pairs import KeptPairs
from dflash_desktop.services.library_lock import library_changing
from dflash_desktop.services.library_place import absence
from dflash_desktop.services.model_description import arrived_manifest
from dflash_desktop.services.model_manifest import (
    MANIFEST_NAME,
    StoredCondition,
    record_dir,
    utc_now,
    write_condition,
    write_last_use,
)
from dflash_desktop.services.model_removal import (
    planned_removal,
    refuse_if_in_use,
    remove_model,
)
from dflash_desktop.services.model_store import (
    install_folder,
    installed_already,
    model_key,
    remove_superseded,
)
from dflash_desktop.services.model_verification import verify_model, with_hashes
from dflash_desktop.services.models_in_use import ModelsInUse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from pathlib import Path

    from dflash_desktop.domain.library import ModelFile, RemovalPlan
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.domain.settings import AddedPair
    from dflash_desktop.paths import AppPaths

_log = logging.getLogger(__name__)


class ModelLibrary:
    """The models of this installation; what another process changes is seen after `refresh`.

    `in_use` gives the folders that this process has loaded now, `added_pairs` the pairs of folders
    that a person made. What is no coroutine returns at once.
    """

    def __init__(
        self,
        *,
        paths: AppPaths,
        in_use: Callable[[], Collection[Path]] = lambda: (),
        added_pairs: Callable[[], Collection[AddedPair]] = lambda: (),
    ) -> None:
        self._paths = paths
        self._in_use = in_use
        self._added_pairs = added_pairs
        self._marks = ModelsInUse(paths.in_use_dir)
        self._models: tuple[InstalledModel, ...] | None = None
        self._pairs = KeptPairs(paths.own_pairs_file)
        self._listeners: list[Callable[[], None]] = []

    def models(self) -> tuple[InstalledModel, ...]:
        """All models by id, as last read; the first time this reads the disk, which is quick."""
        if self._models is None:
            self._models = all_models(self._paths)
        return self._models

    def absence(self) -> Problem | None:
        """Why the models are missing when their disk is not there; None when all is well."""
        return absence(self._paths)

    def find(self, model_id: str) -> InstalledModel | None:
        """The model with this id; upper and lower case are the same."""
        key = model_key(model_id)
        return next((model for model in self.models() if model_key(model.id) == key), None)

    def known(self, model_id: str) -> InstalledModel:
        """The model with this id. Raises `AppError` ("model_unknown")."""
        model = self.find(model_id)
        if model is None:
            raise AppError(problems.unknown(model_id))
        return model

    def pairs(self) -> tuple[PairFolders, ...]:
        """What can be loaded: catalogue pairs whose parts are both here, then targets alone."""
        return self._pairs.of(self.models())

    def folders_in_use(self) -> tuple[Path, ...]:
        """The folders of models that are loaded now, here or by another process. Blocking."""
        return (*self._in_use(), *self._marks.by_others())

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after every change that was noticed; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    async def refresh(self) -> None:
        """Read the disk again, and tell the listeners if anything is not as before."""
        models = await asyncio.to_thread(all_models, self._paths)
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
        model_id: str = "",
    ) -> InstalledModel:
        """Take in a folder whose files were all verified while they arrived.

        What it is, its role and its precision, is found here. An older model of the same id goes
        once this one is in place, or stays if nothing is new. A model of no repository needs a
        `model_id`. Raises `AppError` as `install_folder` and `library_changing` do; `incoming` is
        then still there.
        """

        def work() -> InstalledModel:
            manifest = arrived_manifest(
                incoming,
                repo_id=repo_id,
                commit=commit,
                endpoint=endpoint,
                files=files,
                name=repo_id or model_id,
            )
            models_dir = self._paths.models_dir
            with problems.written(title or model_id or repo_id), library_changing(self._paths):
                known = installed_already(incoming, manifest, models_dir=models_dir)
                if known is not None:
                    return known
                model = install_folder(
                    incoming, manifest, models_dir=models_dir, model_id=model_id, title=title
                )
                remove_superseded(model, models_dir=models_dir, in_use=self.folders_in_use())
            return model

        model = await asyncio.to_thread(work)
        await self.refresh()
        return model

    async def add_folder(self, folder: Path, title: str = "") -> InstalledModel:
        """Use a model where it lies, a stick for instance; nothing is copied or written there.

        It is unverified until `verify` has hashed it, which whoever added it starts next. Raises
        `AppError` as `added_models.add_folder` does, "already_ours", or why it was not kept.
        """

        def work() -> InstalledModel:
            models = all_models(self._paths)
            if any(model.is_ours and is_same(model.path, folder) for model in models):
                raise AppError(problems.already_ours(folder))
            added_dir = self._paths.added_models_dir
            records = records_of_added(added_dir, folder)
            taken = [m.id for m in models if self.records(m) != records]
            with problems.written("The folder"), library_changing(self._paths):
                return add_folder(folder, title=title, added_dir=added_dir, taken_ids=taken)

        model = await asyncio.to_thread(work)
        await self.refresh()
        return model

    async def verify(
        self, model_id: str, on_progress: Callable[[WorkProgress], None] = lambda _: None
    ) -> VerificationReport:
        """Compare every byte with the manifest and keep what was found; may take minutes.

        Of an added folder the first time gives the hashes that later ones compare with.
        `on_progress` is called in the loop's thread. Raises `AppError`: "model_unknown",
        "model_absent", "model_unreadable", or why the outcome was not kept.
        """
        model = self.known(model_id)
        if all(file.sha256 for file in model.manifest.files):
            report = await verify_model(model, on_progress)
        else:
            report = await self._learn_hashes(model, on_progress)
        await self.keep_report(model, report)
        return report

    async def keep_report(self, model: InstalledModel, report: VerificationReport) -> None:
        """Remember what a comparison found. Raises `AppError`."""
        records = self.records(model)

        def work() -> None:
            with library_changing(self._paths):  # or a removal would meet a file made meanwhile
                if (records / MANIFEST_NAME).exists():  # else it was removed in the meantime
                    write_condition(records, StoredCondition(report.at, report.differences))

        with problems.written("The outcome"):
            await asyncio.to_thread(work)
        await self.refresh()

    async def plan_removal(self, model_id: str) -> RemovalPlan:
        """What removing would free and end. Raises `AppError` when it would be refused."""
        model = self.known(model_id)
        refuse_if_in_use(model, self.folders_in_use())
        used_by = (*_users(model, self.pairs()), *_users(model, self._added_pairs()))
        return await asyncio.to_thread(
            planned_removal,
            model,
            models_dir=self._paths.models_dir,
            others=tuple(one for one in self.models() if one.id != model.id),
            used_by=used_by,
        )

    async def remove(self, model_id: str) -> None:
        """Delete a model of ours; of an added one only what is known of it.

        Raises `AppError`: "model_unknown", "model_in_use", "removal_refused", "library_busy", or
        why the disk refused; in the last case what is left over is found by `leftovers`.
        """
        model = self.known(model_id)

        def work() -> None:
            with library_changing(self._paths):
                refuse_if_in_use(model, self.folders_in_use())
                if model.is_ours:
                    remove_model(model, models_dir=self._paths.models_dir)
                else:
                    forget_added(self.records(model))

        try:
            await asyncio.to_thread(work)
        except OSError as error:
            raise AppError(problems.not_deleted(model.title, error)) from error
        finally:
            await self.refresh()

    async def note_used(self, folders: PairFolders) -> None:
        """Remember that this pair was loaded now, and is in use until the next one is."""
        held = [one for one in (folders.target_dir, folders.draft_dir) if one is not None]
        models = self.models()

        def work() -> None:
            self._marks.mark(held)
            for model in models:
                is_used = any(is_same(model.path, folder) for folder in held)
                if is_used and (self.records(model) / MANIFEST_NAME).exists():
                    write_last_use(self.records(model), utc_now())

        try:
            await asyncio.to_thread(work)
        except OSError as error:
            _log.warning("the last use could not be kept: %s", error)
        await self.refresh()

    def records(self, model: InstalledModel) -> Path:
        """Where what is known of a model lies."""
        if model.is_ours:
            return record_dir(model.path)
        return records_of_added(self._paths.added_models_dir, model.path)

    async def _learn_hashes(
        self, model: InstalledModel, on_progress: Callable[[WorkProgress], None]
    ) -> VerificationReport:
        model = await with_hashes(model, on_progress)
        with problems.written("What its files are"):
            await asyncio.to_thread(keep_hashes, self.records(model), model)
        manifest = model.manifest
        return VerificationReport(
            model.id, len(manifest.files), manifest.size_bytes, (), utc_now()
        )


def _users(model: InstalledModel, pairs: Iterable[PairFolders | AddedPair]) -> list[str]:
    return [p.title for p in pairs if model.path in (p.target_dir, p.draft_dir)]
