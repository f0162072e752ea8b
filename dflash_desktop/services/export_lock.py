"""The locks of the export environments: which packages, byte for byte, for this platform."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.paths import resources_dir

if TYPE_CHECKING:
    from dflash_desktop.domain.export_environment import ExportEnvironment

_MACHINES: Final = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}
_SYSTEMS: Final = {"linux": "linux", "win32": "windows"}
_PACKAGE: Final = re.compile(r"# (\d+) (\d+)\n([a-z0-9-]+)==(\S+)")
_ESTIMATE: Final = re.compile(r"# estimated: (\d+)")
_DIGEST_LENGTH: Final = 8


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One package of a lock."""

    name: str
    version: str
    wheel_bytes: int
    unpacked_bytes: int


@dataclass(frozen=True, slots=True)
class ExportLock:
    """What an environment is made of; `digest` is another one whenever anything of it is."""

    file: Path
    digest: str
    packages: tuple[LockedPackage, ...]  # none where nothing is held to a hash
    estimated_bytes: int = 0  # of those that are not listed

    @property
    def is_hashed(self) -> bool:
        """Whether every byte of it is known before; development builds change every day."""
        return bool(self.packages)

    @property
    def unpacked_bytes(self) -> int:
        """What the packages take on a disk."""
        return self.estimated_bytes + sum(package.unpacked_bytes for package in self.packages)


def platform_name() -> str:
    """This platform, as the folders of the locks are called: "linux-x86_64"."""
    machine = platform.machine().lower()
    return f"{_SYSTEMS.get(sys.platform, sys.platform)}-{_MACHINES.get(machine, machine)}"


def export_locks_dir() -> Path:
    """Where the locks of this installation are."""
    return resources_dir() / "export"


def read_lock(environment: ExportEnvironment, *, locks_dir: Path | None = None) -> ExportLock:
    """The lock of an environment. Raises `AppError` where there is none for this platform."""
    folder = locks_dir or export_locks_dir()
    platform_dir = folder / platform_name()
    # Development builds are not locked, but for the same platforms.
    place = folder if environment.is_development and platform_dir.is_dir() else platform_dir
    file = place / f"{environment.id}.txt"
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise AppError(
            Problem(
                code="export_platform_unsupported",
                headline="Models cannot be exported on this computer.",
                advice=(
                    "The export tools exist for Windows and Linux on Intel and AMD processors. "
                    "Export on such a computer, and bring the folder here."
                ),
                detail=f"{platform_name()}: {error}",
            )
        ) from error
    packages = tuple(
        LockedPackage(name, version, int(wheel), int(unpacked))
        for wheel, unpacked, name, version in _PACKAGE.findall(text)
    )
    estimate = _ESTIMATE.search(text)
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]
    return ExportLock(file, digest, packages, int(estimate[1]) if estimate else 0)
