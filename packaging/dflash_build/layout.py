"""Names and places that more than one step of the build uses."""

from __future__ import annotations

import os
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).parents[2]
PACKAGING: Final = REPOSITORY / "packaging"

APP_NAME: Final = "DFlash Desktop"
PACKAGE_NAME: Final = "dflash-desktop"
WINDOW: Final = "dflash-desktop"
ENGINE: Final = "dflash-engine"
INSIDE: Final = "_internal"
LICENCES: Final = "licences"
TOOLS: Final = "tools"


@dataclass(frozen=True, slots=True)
class Project:
    """What pyproject.toml says of the program."""

    version: str
    summary: str
    requirements: tuple[str, ...]


def project() -> Project:
    """Read anew from pyproject.toml."""
    said = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Project(
        version=said["version"],
        summary=said["description"],
        requirements=tuple(said["dependencies"]),
    )


def source_date() -> int:
    """When the checkout was last changed, in seconds since 1970, for everything with a date."""
    if said := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(said)
    try:
        shown = subprocess.run(
            ["git", "log", "-1", "--format=%ct"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
        return int(shown.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):  # an archive of the sources
        return int((REPOSITORY / "pyproject.toml").stat().st_mtime)
