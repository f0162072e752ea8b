"""How this program came onto this machine, which decides how a newer one gets here."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_PACKAGED_BELOW: Final = Path("/usr/lib")
_UNINSTALLER: Final = "unins000.exe"  # Inno Setup's, beside the program


class InstallationKind(StrEnum):
    """What a person did to have it."""

    PACKAGE = "package"
    APPIMAGE = "appimage"
    INSTALLER = "installer"
    FOLDER = "folder"
    SOURCES = "sources"


def installation_kind(
    *,
    executable: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    is_frozen: bool | None = None,
) -> InstallationKind:
    """That of this process, unless other facts are given."""
    program = executable or Path(sys.executable)
    frozen = getattr(sys, "frozen", False) if is_frozen is None else is_frozen
    if not frozen:
        return InstallationKind.SOURCES
    if environment.get("APPIMAGE"):
        return InstallationKind.APPIMAGE
    if program.is_relative_to(_PACKAGED_BELOW):
        return InstallationKind.PACKAGE
    if program.with_name(_UNINSTALLER).exists():
        return InstallationKind.INSTALLER
    return InstallationKind.FOLDER
