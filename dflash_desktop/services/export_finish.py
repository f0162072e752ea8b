"""The last stages of an export: what was made is checked, measured, and put in its place."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import aclosing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_summary import CheckSummary, summary_of
from dflash_desktop.domain.export_names import item_name
from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.export_run import ExportedModel, ExportResult
from dflash_desktop.domain.library import ModelFile
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.problems import AppError, Problem, Remedy
from dflash_desktop.services.export_completion import complete_exported
from dflash_desktop.services.export_result import check_exported, check_pair
from dflash_desktop.services.export_steps import item_of, model_dir, source_dir
from dflash_desktop.services.file_hashing import hash_files
from dflash_desktop.services.file_tree import rename_folder, tree_entries

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.export_plan import ExportStep
    from dflash_desktop.domain.export_request import ExportItem
    from dflash_desktop.domain.library import WorkProgress
    from dflash_desktop.services.check_history import CheckHistory
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.export_journal import StoredExport
    from dflash_desktop.services.export_stages import StageTelling
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.pair_check import PairCheck
    from dflash_desktop.services.pair_library import PairLibrary
    from dflash_desktop.services.settings_store import SettingsStore

_NAMES_TRIED: Final = 100


class ExportFinish:
    """Works in the export's folder until the last step, which moves whole models out of it."""

    def __init__(
        self,
        *,
        library: ModelLibrary,
        pairs: PairLibrary,
        settings: SettingsStore,
        history: CheckHistory,
        measurements: MeasurementStore,
        make_check: Callable[[], tuple[Engine, PairCheck]],
    ) -> None:
        """`make_check` gives an engine of its own: the chat's keeps its model."""
        self._library = library
        self._pairs = pairs
        self._settings = settings
        self._history = history
        self._measurements = measurements
        self._make_check = make_check

    async def check(
        self, stored: StoredExport, step: ExportStep, telling: StageTelling, *, work_dir: Path
    ) -> StoredExport:
        """Hold the model against the contract, and give it its papers. Raises `AppError`."""
        item = item_of(stored.plan, step)
        folder = model_dir(item.role, work_dir)
        source = source_dir(item, work_dir)
        telling.progress(None, "Reading its files")
        try:
            found = await asyncio.to_thread(
                check_exported, folder, item.role, source=source if source.is_dir() else None
            )
        except AppError:
            # What is not right is no model: it is exported anew, if at all.
            await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            raise
        await asyncio.to_thread(
            complete_exported, folder, stored.plan, item, notes=(*stored.notes, *found.notes)
        )
        others = tuple(one for one in stored.models if one.role != item.role)
        model = ExportedModel(item.role, "", folder, found.verdict.value)
        notes = (*stored.notes, *(note for note in found.notes if note not in stored.notes))
        stored = replace(stored, models=(*others, model), notes=notes)
        if len(stored.models) == len(ExportRole):
            telling.progress(None, "Holding both models against each other")
            both = [model_dir(role, work_dir) for role in (ExportRole.TARGET, ExportRole.DRAFT)]
            await asyncio.to_thread(check_pair, *both)
        return stored

    async def measure(
        self, stored: StoredExport, telling: StageTelling, *, work_dir: Path
    ) -> StoredExport:
        """Run the pair with and without its draft; what cannot be measured becomes a note."""
        engine, check = self._make_check()
        folders = PairFolders(
            id=f"export-{stored.id}",
            title=stored.plan.request.title,
            target_dir=model_dir(ExportRole.TARGET, work_dir),
            draft_dir=model_dir(ExportRole.DRAFT, work_dir),
        )
        report: CheckReport | None = None
        settings = self._settings.value  # as the chat will load it: else nothing would compare
        run = check.run(
            folders, device=settings.device, kv_cache_precision=settings.kv_cache_precision
        )
        try:
            async with aclosing(run) as steps:
                async for step in steps:
                    if isinstance(step, CheckReport):
                        report = step
                    else:
                        share = step.done / step.total if step.total else None
                        telling.progress(share, step.sentence)
        except AppError as error:
            note = f"The pair was not measured: {error.problem.headline}"
            return replace(stored, notes=(*stored.notes, note))
        finally:
            await engine.stop()
        if report is None:
            return stored
        if report.report is not None:
            with suppress(AppError):  # it cannot be written, and holds until the program ends
                self._measurements.put_check(report.report)
        return replace(
            stored,
            pair_verdict=report.judgement.verdict.value,
            speed_up=None if report.numbers is None else report.numbers.speedup,
            check=summary_of(report, pair_id="", checked_at=datetime.now(UTC)),
        )

    async def put_in_place(
        self, stored: StoredExport, telling: StageTelling, *, work_dir: Path
    ) -> StoredExport:
        """Into the library, or into the folder that was chosen; each model whole or not at all.

        Raises `AppError`, `OSError`. What is in place stays there whatever comes afterwards.
        """
        for item in stored.plan.request.items:
            stored = await self._place(stored, item, telling, work_dir)
        folders = {one.role: one.path for one in stored.models}
        target, draft = folders.get(ExportRole.TARGET), folders.get(ExportRole.DRAFT)
        if target is not None and draft is not None:
            pair = await self._pairs.add(stored.plan.request.title, target, draft)
            if stored.check is not None:
                await asyncio.to_thread(self._keep, replace(stored.check, pair_id=pair.id))
        result = ExportResult(stored.models, stored.pair_verdict, stored.speed_up, stored.notes)
        return replace(stored, result=result)

    def _keep(self, check: CheckSummary) -> None:
        """For the page of the pair, once: this stage may be done again. Blocking."""
        if check not in self._history.of_pair(check.pair_id):
            with suppress(AppError):  # the models are in place, and can be checked again
                self._history.add(check)

    def is_in_place(self, stored: StoredExport, role: ExportRole) -> bool:
        """Whether the model is where it shall stay. Blocking."""
        model_id = next((one.model_id for one in stored.models if one.role == role), "")
        if not model_id:
            return False
        if stored.plan.output_dir is not None:
            return (stored.plan.output_dir / model_id).is_dir()
        return self._library.find(model_id) is not None

    async def _place(
        self, stored: StoredExport, item: ExportItem, telling: StageTelling, work_dir: Path
    ) -> StoredExport:
        folder = model_dir(item.role, work_dir)
        model = next(one for one in stored.models if one.role == item.role)
        if not model.model_id:
            # Kept before it is done: a program that dies in between must look in the right place.
            model = replace(model, model_id=await self._free_id(item_name(item), stored))
            stored = _with_model(stored, model)
            await telling.keep(stored)
        if stored.plan.output_dir is not None:
            path = stored.plan.output_dir / model.model_id
            await asyncio.to_thread(_move, folder, path)
        else:
            path = await self._install(folder, model.model_id, telling)
        return _with_model(stored, replace(model, path=path))

    async def _install(self, folder: Path, model_id: str, telling: StageTelling) -> Path:
        if not await asyncio.to_thread(folder.is_dir):
            await self._library.refresh()
            known = self._library.find(model_id)
            if known is None:
                raise AppError(_vanished(folder))
            return known.path
        sizes = await asyncio.to_thread(
            lambda: {e.path: e.size_bytes for e in tree_entries(folder) if not e.is_folder}
        )

        def tell(done: WorkProgress) -> None:
            share = done.done_bytes / done.total_bytes if done.total_bytes else None
            telling.progress(share, "Noting what every byte is")

        hashes = await hash_files(
            {name: folder / name for name in sizes},
            total_bytes=sum(sizes.values()),
            on_progress=tell,
        )
        files = []
        for name, answer in sorted(hashes.items()):
            if isinstance(answer, OSError):
                raise answer
            files.append(ModelFile(name, sizes[name], answer))
        installed = await self._library.install(
            folder,
            repo_id="",
            commit="",
            endpoint="",
            files=tuple(files),
            title=model_id,
            model_id=model_id,
        )
        return installed.path

    async def _free_id(self, name: str, stored: StoredExport) -> str:
        """The name, or the first of "name-2", "name-3"… that nothing has. Raises `AppError`."""
        await self._library.refresh()
        taken = {one.model_id for one in stored.models}
        for number in range(1, _NAMES_TRIED):
            wanted = name if number == 1 else f"{name}-{number}"
            place = stored.plan.output_dir
            is_there = (
                self._library.find(wanted) is not None
                if place is None
                else await asyncio.to_thread((place / wanted).exists)
            )
            if not is_there and wanted not in taken:
                return wanted
        raise AppError(_no_name(name))


def _with_model(stored: StoredExport, model: ExportedModel) -> StoredExport:
    models = tuple(model if one.role == model.role else one for one in stored.models)
    return replace(stored, models=models)


def _move(folder: Path, path: Path) -> None:
    """Blocking; a model that is in its place already is left alone. Raises `OSError`."""
    if folder.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        rename_folder(folder, path)
    elif not path.is_dir():
        raise AppError(_vanished(folder))


def _vanished(folder: Path) -> Problem:
    return Problem(
        code="model_incomplete",
        headline="The exported model is no longer there.",
        advice="Something removed it, perhaps a virus scanner or a clean-up. Let the export go "
        "on: it is made again.",
        detail=str(folder),
        remedies=(Remedy.RETRY,),
    )


def _no_name(name: str) -> Problem:
    return Problem(
        code="name_taken",
        headline=f"There are a hundred models called “{name}” already.",
        advice="Remove some of them, then let the export go on.",
    )
