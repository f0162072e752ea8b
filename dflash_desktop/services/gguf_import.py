"""A GGUF file becomes a model of the library: checked, converted, completed, moved into place."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

from dflash_desktop.domain.devices import choose_device
from dflash_desktop.domain.file_names import unsafe_reason
from dflash_desktop.domain.gguf_import import (
    ImportedModel,
    ImportProgress,
    ImportStage,
    ImportWeights,
    needed_disk_bytes,
    needed_memory_bytes,
)
from dflash_desktop.domain.library import ModelFile
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import gguf_problems as problems
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.engine_process import DEFAULT_LIMITS
from dflash_desktop.services.file_hashing import hash_files
from dflash_desktop.services.gguf_completion import complete_model
from dflash_desktop.services.gguf_file import look_at_gguf
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.leftovers import IMPORT_PREFIX
from dflash_desktop.services.library_place import require_place
from dflash_desktop.services.told_work import told

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from dflash_desktop.domain.gguf_import import GgufFile
    from dflash_desktop.domain.library import InstalledModel, WorkProgress
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.model_library import ModelLibrary
    from dflash_desktop.services.worker_launch import WorkerLauncher

_LIMITS: Final = replace(DEFAULT_LIMITS, restarts=0)  # a conversion that crashed is not repeated
_HEADROOM: Final = 0.5
"""Of the free memory, what the int8 form may take before the smaller one is kept."""


class GgufImport:
    """Imports one file at a time, in an engine process of its own that ends with it.

    So a conversion that crashes or is killed takes no model away from a chat.
    """

    def __init__(
        self, *, paths: AppPaths, launcher: WorkerLauncher, library: ModelLibrary
    ) -> None:
        self._paths = paths
        self._launcher = launcher
        self._library = library

    async def run(
        self, file: Path, *, name: str = "", weights: ImportWeights = ImportWeights.AUTO
    ) -> AsyncGenerator[ImportProgress | ImportedModel, None]:
        """Import it; ends with an `ImportedModel`. The file itself is only read.

        Raises `AppError`. Closing this iterator, or cancelling its task, stops the conversion;
        whatever ends it, nothing half-made stays.
        """
        yield ImportProgress(ImportStage.CHECKING, f"Looking at {file.name}.")
        source = await asyncio.to_thread(look_at_gguf, file)
        model_id = self._free_id(name or source.model.name or file.stem)
        engine = Engine(launcher=self._launcher, limits=_LIMITS)
        folder: Path | None = None
        # Says to whoever moves or tidies the library that something is being made in it.
        lock = InstallLock(self._paths.import_lock_file)
        try:
            require_place(self._paths)
            if not await lock.take():
                raise AppError(problems.already_running())
            as_int8 = await self._is_int8(weights, source, engine)
            folder = await asyncio.to_thread(self._prepare, source, as_int8=as_int8)
            converted = folder / "model"
            async with aclosing(_converted(engine, source, converted, as_int8=as_int8)) as steps:
                async for step in steps:
                    yield step
            # Windows cannot move a folder of which a process still holds a file.
            await engine.stop()
            made_from: dict[str, str] = {}
            parts = {part.name: part for part in source.parts}
            async with aclosing(
                _hashed(parts, made_from, "Noting what it was made from.")
            ) as steps:
                async for step in steps:
                    yield step
            yield ImportProgress(ImportStage.COMPLETING, "Marking where a draft reads.")
            findings = await asyncio.to_thread(
                complete_model, converted, source, made_from, as_int8=as_int8
            )
            hashes: dict[str, str] = {}
            files = await asyncio.to_thread(_files_in, converted)
            async with aclosing(_hashed(files, hashes, "Noting what every byte is.")) as steps:
                async for step in steps:
                    yield step
            yield ImportProgress(ImportStage.INSTALLING, "Taking it into the library.")
            model = await self._install(converted, model_id, hashes)
            kept = ImportWeights.INT8 if as_int8 else ImportWeights.KEEP
            yield ImportedModel(model, kept, findings, source.model.notes)
        except OSError as error:
            problem = write_problem(
                error, what="The converted model", kept="The file is as it was."
            )
            raise AppError(problem) from error
        finally:
            await engine.stop()
            if folder is not None:
                await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
            lock.release()

    def _free_id(self, wanted: str) -> str:
        """The name as an id. Raises `AppError` for one that cannot be used, or is used."""
        model_id = " ".join(wanted.split())[:100].strip(". ")
        reason = unsafe_reason(model_id) or ("it contains '/'" if "/" in model_id else None)
        if reason is not None:
            raise AppError(problems.name_refused(wanted, reason))
        if self._library.find(model_id) is not None:
            raise AppError(problems.name_taken(model_id))
        return model_id

    async def _is_int8(self, weights: ImportWeights, source: GgufFile, engine: Engine) -> bool:
        """Where a processor computes, int8 verifies a draft's rows fastest.

        Graphics unpack 4-bit groups at no cost and are bound by reading the weights, so there
        the form of the file, which is at most as large, stays.
        """
        if weights is not ImportWeights.AUTO:
            return weights is ImportWeights.INT8
        if source.model.value_count > _HEADROOM * psutil.virtual_memory().available:
            return False
        return choose_device(await engine.devices()).id == "CPU"

    def _prepare(self, source: GgufFile, *, as_int8: bool) -> Path:
        """A new folder on the library's disk, if there is room. Raises `AppError`, `OSError`."""
        incoming = self._paths.incoming_dir
        incoming.mkdir(parents=True, exist_ok=True)
        is_copied = any(_must_copy(part, incoming) for part in source.parts)
        needed = needed_disk_bytes(source, as_int8=as_int8, is_copied=is_copied)
        free = shutil.disk_usage(incoming).free
        if free < needed:
            raise AppError(problems.disk_short(incoming, needed_bytes=needed, free_bytes=free))
        needed, free = needed_memory_bytes(source.model, as_int8=as_int8), _free_memory_bytes()
        if free < needed:
            raise AppError(problems.memory_short(needed_bytes=needed, free_bytes=free))
        return Path(tempfile.mkdtemp(prefix=IMPORT_PREFIX, dir=incoming))

    async def _install(
        self, folder: Path, model_id: str, hashes: Mapping[str, str]
    ) -> InstalledModel:
        files = await asyncio.to_thread(
            lambda: tuple(
                ModelFile(name, (folder / name).stat().st_size, sha256)
                for name, sha256 in sorted(hashes.items())
            )
        )
        return await self._library.install(
            folder,
            repo_id="",
            commit="",
            endpoint="",
            files=files,
            title=model_id,
            model_id=model_id,
        )


async def _converted(
    engine: Engine, source: GgufFile, folder: Path, *, as_int8: bool
) -> AsyncGenerator[ImportProgress, None]:
    """Run the conversion and tell its stages; raises `AppError` with the numbers of memory."""
    free_bytes = _free_memory_bytes()

    async def convert(report: Callable[[str], None]) -> None:
        await engine.convert_gguf(
            source.parts[0],
            folder,
            more_parts=source.parts[1:],
            as_int8=as_int8,
            report=report,
        )

    try:
        async with aclosing(told(convert)) as stages:
            async for stage in stages:
                yield ImportProgress(ImportStage.CONVERTING, f"{stage}.")
    except AppError as error:
        needed = needed_memory_bytes(source.model, as_int8=as_int8)
        problem = problems.conversion_failed(error, needed_bytes=needed, free_bytes=free_bytes)
        raise AppError(problem) from error


async def _hashed(
    paths: Mapping[str, Path], hashes: dict[str, str], sentence: str
) -> AsyncGenerator[ImportProgress, None]:
    """Fill `hashes`, by name, and tell how far it is. Raises `OSError`."""
    total = await asyncio.to_thread(lambda: sum(path.stat().st_size for path in paths.values()))

    async def work(report: Callable[[WorkProgress], None]) -> None:
        answers = await hash_files(paths, total_bytes=total, on_progress=report)
        for name, answer in answers.items():
            if isinstance(answer, OSError):
                raise answer
            hashes[name] = answer

    async with aclosing(told(work)) as steps:
        async for done in steps:
            yield ImportProgress(ImportStage.HASHING, sentence, done.done_bytes, total)


def _files_in(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir()}


def _must_copy(part: Path, incoming: Path) -> bool:
    """Whether the engine can only read a copy of it: another disk, or a read-only file."""
    return not os.access(part, os.W_OK) or part.stat().st_dev != incoming.stat().st_dev


def _free_memory_bytes() -> int:
    return psutil.virtual_memory().available + psutil.swap_memory().free
