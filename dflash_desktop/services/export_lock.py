"""The locks of the export environments: which packages, byte for byte, for this platform."""

from __future__ import annotations

import hashlib
import platform
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.paths import resources_dir

_MACHINES: Final = {"amd64": "x86_64", "x86_64": "x86_64", "arm64": "arm64", "aarch64": "arm64"}
_SYSTEMS: Final = {"linux": "linux", "win32": "windows"}
_PACKAGE: Final = re.compile(r"# (\d+) (\d+)\n([a-z0-9-]+)==(\S+)")
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
    packages: tuple[LockedPackage, ...]

    @property
    def unpacked_bytes(self) -> int:
        """What the packages take on a disk."""
        return sum(package.unpacked_bytes for package in self.packages)


def platform_name() -> str:
    """This platform, as the folders of the locks are called: "linux-x86_64"."""
    machine = platform.machine().lower()
    return f"{_SYSTEMS.get(sys.platform, sys.platform)}-{_MACHINES.get(machine, machine)}"


def export_locks_dir() -> Path:
    """Where the locks of this installation are."""
    return resources_dir() / "export"


def read_lock(environment_id: str, *, locks_dir: Path | None = None) -> ExportLock:
    """The lock of an environment. Raises `AppError` where there is none for this platform."""
    file = (locks_dir or export_locks_dir()) / platform_name() / f"{environment_id}.txt"
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
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST_LENGTH]
    return ExportLock(file, digest, packages)
