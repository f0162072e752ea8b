"""The export environments of this installation: made when an export needs one, apart from the app.

The app and the exporters want different releases of the same packages, and a person who only chats
shall not have PyTorch on the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_environment import (
    EnvironmentProgress,
    EnvironmentStage,
    EnvironmentStatus,
    export_environment,
)
from dflash_desktop.domain.problems import AppError
from dflash_desktop.services import export_environment_problems as problems
from dflash_desktop.services.atomic_file import write_problem
from dflash_desktop.services.export_environment_look import ExportEnvironmentLook
from dflash_desktop.services.export_environment_store import ExportEnvironmentStore
from dflash_desktop.services.export_install import ExportInstall
from dflash_desktop.services.install_lock import InstallLock
from dflash_desktop.services.own_export_tools import own_python
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

    def __init__(
        self,
        *,
        paths: AppPaths,
        locks_dir: Path | None = None,
        is_network_off: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = ExportEnvironmentStore(paths.exporters_dir)
        self._lock = InstallLock(paths.exporters_lock_file)
        self._exports_lock = InstallLock(paths.exports_lock_file)
        self._look = ExportEnvironmentLook(store=self._store, locks_dir=locks_dir)
        self._install = ExportInstall(
            store=self._store,
            log_file=paths.log_dir / "export-environment.log",
            is_network_off=is_network_off,
        )
        self._listeners: list[Callable[[], None]] = []

    # --- what can be seen ---------------------------------------------------------------------

    def status(self) -> tuple[EnvironmentStatus, ...]:
        """All of them; looks at a few names only. Raises `AppError` on other platforms."""
        is_busy = self._lock.is_held_by_anyone()
        return self._look.statuses(installing_id=self._store.installing_id if is_busy else "")

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def python(self, environment_id: str) -> Path:
        """The interpreter that exports. Raises `AppError` unless the environment is ready."""
        environment = export_environment(environment_id)
        if self._look.has_own_folder(environment):
            lock = self._look.lock(environment)
            return python_inside(self._store.folder(environment_id, lock.digest))
        own = own_python(environment)
        if own is None:
            is_damaged = bool(self._store.folders(environment_id))
            raise AppError(problems.not_ready(environment, is_damaged=is_damaged))
        return own

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
        lock = self._look.lock(environment)
        async with self._turn(environment_id):
            if not self._look.is_ready(environment):
                await self._make(environment, lock, report)
            report(EnvironmentProgress(EnvironmentStage.DONE, "The export tools are ready."))

    async def repair(
        self,
        environment_id: str,
        report: Callable[[EnvironmentProgress], None] = lambda progress: None,
    ) -> None:
        """Look at every file of it, and make it anew unless all are right. Raises `AppError`."""
        environment = export_environment(environment_id)
        lock = self._look.lock(environment)
        folder = self._store.folder(environment_id, lock.digest)
        async with self._turn(environment_id):
            self._refuse_while_exporting(environment)
            if self._store.installed(folder) is not None:
                report(
                    EnvironmentProgress(EnvironmentStage.CHECKING, "Checking the export tools.")
                )
                fault, packages = await self._install.fault(folder, lock)
                if fault:
                    await asyncio.to_thread(self._store.discard, folder)
                    # A file that changed here has changed in the cache: it is the same file.
                    await self._install.forget(packages, lock)
            if not self._look.is_ready(environment):
                await self._make(environment, lock, report)
            report(EnvironmentProgress(EnvironmentStage.DONE, "The export tools are ready."))

    async def remove(self, environment_id: str) -> None:
        """Delete it, and what no other environment shares. Raises `AppError`."""
        environment = export_environment(environment_id)
        lock = self._look.lock(environment)
        async with self._turn(environment_id):
            self._refuse_while_exporting(environment)
            kept = self._look.packages_of_others(environment_id)
            folders = self._store.folders(environment_id)
            # Of what was cut off there may be more than a record says.
            had = {package.name: package.version for package in lock.packages}
            had |= self._look.packages(environment_id)
            lost = {name for name, version in had.items() if kept.get(name) != version}
            try:
                for folder in folders:
                    await asyncio.to_thread(self._store.discard, folder)
            except PermissionError as error:
                raise AppError(problems.in_use(environment, str(error))) from error
            if kept and lock.is_hashed:
                await self._install.forget(tuple(sorted(lost)), lock)
            else:
                await asyncio.to_thread(self._store.discard_shared, lock)

    # --- how ----------------------------------------------------------------------------------

    def _refuse_while_exporting(self, environment: ExportEnvironment) -> None:
        """Nothing is taken from under an export that runs. Raises `AppError`."""
        if self._exports_lock.is_held_by_anyone():
            raise AppError(problems.in_use(environment, "an export is running"))

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
                folder, lock, expected_bytes=self._look.needed_bytes(lock), report=report
            )
            await asyncio.to_thread(
                self._store.write_record,
                folder,
                environment_id=environment.id,
                lock=lock,
            )
        except BaseException:
            # What it is made of stays in the cache, where the next time finds it.
            with contextlib.suppress(OSError):
                await asyncio.to_thread(self._store.discard, folder)
            raise
        for one in outdated:
            with contextlib.suppress(OSError):  # in use: it goes with the next update
                await asyncio.to_thread(self._store.discard, one)

    def _prepare(self, folder: Path, lock: ExportLock) -> None:
        """A clean place with enough room. Blocking; raises `AppError`, `OSError`."""
        self._store.discard(folder)
        self._store.clear_unfinished(lock)
        needed_bytes = self._look.needed_bytes(lock)
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
