"""The export environments of this installation: made when an export needs one, apart from the app.

The app and the exporters want different releases of the same packages, and a person who only chats
shall not have PyTorch on the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_environment import (
    ENVIRONMENTS,
    EnvironmentProgress,
    EnvironmentStage,
    EnvironmentState,
    EnvironmentStatus,
    export_environment,
)
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import export_environment_problems as problems
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.export_environment_store import ExportEnvironmentStore
from dflash_desktop.services.export_install import ExportInstall
from dflash_desktop.services.export_lock import read_lock
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.uv_program import python_inside
from dflash_desktop.workers.disk_room import free_disk_bytes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from dflash_desktop.domain.export_environment import ExportEnvironment
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.export_lock import ExportLock

_MARGIN_BYTES: Final = 64 << 20


class ExportEnvironments:
    """Installs, repairs and removes them; one process at a time does."""

    def __init__(self, *, paths: AppPaths, locks_dir: Path | None = None) -> None:
        self._store = ExportEnvironmentStore(paths.exporters_dir)
        self._lock = InstallLock(paths.exporters_lock_file)
        self._locks_dir = locks_dir
        self._install = ExportInstall(
            store=self._store, log_file=paths.log_dir / "export-environment.log"
        )
        self._listeners: list[Callable[[], None]] = []

    # --- what can be seen ---------------------------------------------------------------------

    def status(self) -> tuple[EnvironmentStatus, ...]:
        """All of them; looks at a few names only. Raises `AppError` on other platforms."""
        installing = self._store.installing_id if self._lock.is_held_by_anyone() else ""
        present: dict[str, str] = {}  # packages of those before, which are counted there
        found = []
        for environment in _RELEASED:
            lock = self._read(environment)
            status = self._status(environment, lock, installing, present)
            if status.state in (EnvironmentState.READY, EnvironmentState.DAMAGED):
                present |= {package.name: package.version for package in lock.packages}
            found.append(status)
        return tuple(found)

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def python(self, environment_id: str) -> Path:
        """The interpreter that exports. Raises `AppError` unless the environment is ready."""
        environment = export_environment(environment_id)
        lock = self._read(environment)
        folder = self._store.folder(environment_id, lock.digest)
        if self._store.installed(folder) is None:
            is_damaged = bool(self._store.folders(environment_id))
            problem = problems.not_ready(
                environment.title, is_damaged=is_damaged, environment_id=environment_id
            )
            raise AppError(problem)
        return python_inside(folder)

    # --- what can be done ---------------------------------------------------------------------

    async def install(
        self,
        environment_id: str,
        report: Callable[[EnvironmentProgress], None] = lambda progress: None,
    ) -> None:
        """Install or update it; when it is ready this is over at once.

        Raises `AppError`. Cancelled, it ends everything that it started; the packages that have
        arrived are kept for the next time.
        """
        environment = export_environment(environment_id)
        lock = self._read(environment)
        async with self._turn(environment_id):
            if self._store.installed(self._store.folder(environment_id, lock.digest)) is None:
                await self._make(environment, lock, report)
            report(EnvironmentProgress(EnvironmentStage.DONE, "The export tools are ready."))

    async def repair(
        self,
        environment_id: str,
        report: Callable[[EnvironmentProgress], None] = lambda progress: None,
    ) -> None:
        """Look at every file of it, and make it anew unless all are right. Raises `AppError`."""
        environment = export_environment(environment_id)
        lock = self._read(environment)
        folder = self._store.folder(environment_id, lock.digest)
        async with self._turn(environment_id):
            if self._store.installed(folder) is not None:
                report(
                    EnvironmentProgress(EnvironmentStage.CHECKING, "Checking the export tools.")
                )
                fault, packages = await self._install.fault(folder, lock)
                if fault:
                    await asyncio.to_thread(self._store.discard, folder)
                    # A file that changed here has changed in the cache: it is the same file.
                    await self._install.forget(packages)
            if self._store.installed(folder) is None:
                await self._make(environment, lock, report)
            report(EnvironmentProgress(EnvironmentStage.DONE, "The export tools are ready."))

    async def remove(self, environment_id: str) -> None:
        """Delete it, and what no other environment shares. Raises `AppError`."""
        environment = export_environment(environment_id)
        async with self._turn(environment_id):
            kept = self._packages_of_others(environment_id)
            folders = self._store.folders(environment_id)
            lost = {
                name
                for folder in folders
                if (installed := self._store.installed(folder))
                for name, version in installed.packages.items()
                if kept.get(name) != version
            }
            try:
                for folder in folders:
                    await asyncio.to_thread(self._store.discard, folder)
            except PermissionError as error:
                raise AppError(problems.in_use(environment.title, str(error))) from error
            if kept:
                await self._install.forget(tuple(sorted(lost)))
            else:
                await asyncio.to_thread(self._store.discard_all)

    # --- how ----------------------------------------------------------------------------------

    def _read(self, environment: ExportEnvironment) -> ExportLock:
        return read_lock(environment.id, locks_dir=self._locks_dir)

    def _status(
        self,
        environment: ExportEnvironment,
        lock: ExportLock,
        installing: str,
        present: dict[str, str],
    ) -> EnvironmentStatus:
        own_bytes = sum(
            package.unpacked_bytes
            for package in lock.packages
            if present.get(package.name) != package.version
        )
        state, detail = self._state(environment.id, lock, installing)
        is_here = state in (EnvironmentState.READY, EnvironmentState.OUTDATED)
        return EnvironmentStatus(
            id=environment.id,
            title=environment.title,
            state=state,
            used_for=environment.used_for,
            size_bytes=own_bytes if is_here else 0,
            needed_bytes=0 if state is EnvironmentState.READY else self._needed_bytes(lock),
            detail=detail,
        )

    def _state(
        self, environment_id: str, lock: ExportLock, installing: str
    ) -> tuple[EnvironmentState, str]:
        if installing == environment_id:
            return EnvironmentState.INSTALLING, "They are being installed now."
        current = self._store.folder(environment_id, lock.digest)
        if self._store.installed(current):
            return EnvironmentState.READY, ""
        folders = self._store.folders(environment_id)
        if any(self._store.installed(folder) for folder in folders):
            return EnvironmentState.OUTDATED, "This version of the program brings newer ones."
        if folders:
            return EnvironmentState.DAMAGED, "The installation was cut off, or files are gone."
        return EnvironmentState.ABSENT, ""

    def _needed_bytes(self, lock: ExportLock) -> int:
        """What it takes besides what the other environments have already."""
        present: dict[str, set[str]] = {}
        for environment in ENVIRONMENTS:
            for name, version in self._packages(environment.id).items():
                present.setdefault(name, set()).add(version)
        return sum(
            package.unpacked_bytes
            for package in lock.packages
            if package.version not in present.get(package.name, ())
        )

    def _packages(self, environment_id: str) -> dict[str, str]:
        packages: dict[str, str] = {}
        for folder in self._store.folders(environment_id):
            if installed := self._store.installed(folder):
                packages |= installed.packages
        return packages

    def _packages_of_others(self, environment_id: str) -> dict[str, str]:
        packages: dict[str, str] = {}
        for environment in ENVIRONMENTS:
            if environment.id != environment_id:
                packages |= self._packages(environment.id)
        return packages

    async def _make(
        self,
        environment: ExportEnvironment,
        lock: ExportLock,
        report: Callable[[EnvironmentProgress], None],
    ) -> None:
        folder = self._store.folder(environment.id, lock.digest)
        outdated = [one for one in self._store.folders(environment.id) if one != folder]
        await asyncio.to_thread(self._prepare, folder, lock)
        try:
            await self._install.install(
                folder, lock, expected_bytes=self._needed_bytes(lock), report=report
            )
            await asyncio.to_thread(
                self._store.write_record,
                folder,
                environment_id=environment.id,
                lock=lock.digest,
                packages=lock.packages,
            )
        except BaseException:
            # What it is made of stays in the cache, where the next time finds it.
            with contextlib.suppress(OSError):
                self._store.discard(folder)
            raise
        for one in outdated:
            with contextlib.suppress(OSError):  # in use: it goes with the next update
                await asyncio.to_thread(self._store.discard, one)

    def _prepare(self, folder: Path, lock: ExportLock) -> None:
        """A clean place with enough room. Blocking; raises `AppError`, `OSError`."""
        self._store.discard(folder)
        needed_bytes = self._needed_bytes(lock)
        if not self._store.shares_files():
            needed_bytes += lock.unpacked_bytes  # the cache and the environment are two copies
        free_bytes = free_disk_bytes(self._store.root)
        if free_bytes < needed_bytes + _MARGIN_BYTES:
            raise AppError(
                problems.disk_full(
                    self._store.root, needed_bytes=needed_bytes, free_bytes=free_bytes
                )
            )

    @contextlib.asynccontextmanager
    async def _turn(self, environment_id: str) -> AsyncIterator[None]:
        try:
            if not await self._lock.take():
                raise AppError(problems.already_installing())
            try:
                self._store.say_installing(environment_id)
                self._tell()
                yield
            finally:
                with contextlib.suppress(OSError):
                    self._store.say_installing("")
                self._lock.release()
                self._tell()
        except OSError as error:
            problem = write_problem(
                error, what="The export tools", kept="What has arrived is kept."
            )
            raise AppError(problem) from error

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()


_RELEASED: Final = tuple(one for one in ENVIRONMENTS if not one.is_development)
