"""What is known of the export environments without starting anything: states and sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflash_desktop.domain.export_environment import (
    ENVIRONMENTS,
    EnvironmentState,
    EnvironmentStatus,
)
from dflash_desktop.services.export_lock import read_lock
from dflash_desktop.services.own_export_tools import own_python

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.export_environment import ExportEnvironment
    from dflash_desktop.services.export_environment_store import ExportEnvironmentStore
    from dflash_desktop.services.export_lock import ExportLock


class ExportEnvironmentLook:
    """Reads a few names and records only, so it is quick."""

    def __init__(self, *, store: ExportEnvironmentStore, locks_dir: Path | None) -> None:
        self._store = store
        self._locks_dir = locks_dir

    def lock(self, environment: ExportEnvironment) -> ExportLock:
        """What it is made of. Raises `AppError` on other platforms."""
        return read_lock(environment, locks_dir=self._locks_dir)

    def statuses(self, *, installing_id: str) -> tuple[EnvironmentStatus, ...]:
        """All environments; what several share is counted for the first. Raises `AppError`."""
        present: dict[str, str] = {}
        found = []
        for environment in ENVIRONMENTS:
            lock = self.lock(environment)
            status = self._status(environment, lock, installing_id, present)
            if status.state is EnvironmentState.READY and status.size_bytes:
                present |= {package.name: package.version for package in lock.packages}
            found.append(status)
        return tuple(found)

    def is_ready(self, environment: ExportEnvironment) -> bool:
        """Whether exports can run in it."""
        return self.has_own_folder(environment) or own_python(environment) is not None

    def has_own_folder(self, environment: ExportEnvironment) -> bool:
        """Whether it is installed here, from the lock of this program."""
        folder = self._store.folder(environment.id, self.lock(environment).digest)
        return self._store.installed(folder) is not None

    def _status(
        self,
        environment: ExportEnvironment,
        lock: ExportLock,
        installing_id: str,
        present: dict[str, str],
    ) -> EnvironmentStatus:
        own_bytes = sum(
            package.unpacked_bytes
            for package in lock.packages
            if present.get(package.name) != package.version
        )
        own_bytes += lock.estimated_bytes
        state, detail = self._state(environment, installing_id)
        is_here = any(map(self._store.installed, self._store.folders(environment.id)))
        return EnvironmentStatus(
            id=environment.id,
            title=environment.title,
            state=state,
            used_for=environment.used_for,
            size_bytes=own_bytes if is_here else 0,
            needed_bytes=0 if state is EnvironmentState.READY else self.needed_bytes(lock),
            is_development=environment.is_development,
            detail=detail,
        )

    def _state(
        self, environment: ExportEnvironment, installing_id: str
    ) -> tuple[EnvironmentState, str]:
        if installing_id == environment.id:
            return EnvironmentState.INSTALLING, "They are being installed now."
        if self.has_own_folder(environment):
            return EnvironmentState.READY, ""
        if own_python(environment):
            return EnvironmentState.READY, "They are a part of the program's own Python."
        folders = self._store.folders(environment.id)
        if any(self._store.installed(folder) for folder in folders):
            return EnvironmentState.OUTDATED, "This version of the program brings newer ones."
        if folders:
            return EnvironmentState.DAMAGED, "The installation was cut off, or files are gone."
        return EnvironmentState.ABSENT, ""

    def needed_bytes(self, lock: ExportLock) -> int:
        """What it takes besides what the other environments have already."""
        present: dict[str, set[str]] = {}
        for environment in ENVIRONMENTS:
            for name, version in self.packages(environment.id).items():
                present.setdefault(name, set()).add(version)
        return lock.estimated_bytes + sum(
            package.unpacked_bytes
            for package in lock.packages
            if package.version not in present.get(package.name, ())
        )

    def packages(self, environment_id: str) -> dict[str, str]:
        """Names and versions in one environment, as its records say."""
        packages: dict[str, str] = {}
        for folder in self._store.folders(environment_id):
            if installed := self._store.installed(folder):
                packages |= installed.packages
        return packages

    def packages_of_others(self, environment_id: str) -> dict[str, str]:
        """Names and versions in all environments but this one."""
        packages: dict[str, str] = {}
        for environment in ENVIRONMENTS:
            if environment.id != environment_id:
                packages |= self.packages(environment.id)
        return packages
