"""What of the window can be missing: Qt, the plugin that draws on a screen, icons, the theme.

`dflash-desktop self-test` starts this as a process of its own, since Qt ends the process that
finds no platform plugin, and the command line itself must work without Qt.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.self_check import SelfCheck, all_passed

if TYPE_CHECKING:
    from collections.abc import Callable

_MEND: Final = "Install the program again."
_PLATFORM_PLUGIN: Final = {"linux": "qxcb", "win32": "qwindows"}
_ICON_PX: Final = 24


class _NotRightError(Exception):
    """Something is here and not as it should be."""


def main() -> int:
    """Print one JSON object; 1 if a check failed."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"  # looks at files, so no screen is needed
    works: tuple[tuple[str, Callable[[], str]], ...] = (
        ("window.qt", _qt),
        ("window.platform", _platform),
        ("window.icons", _icons),
        ("window.theme", _theme),
    )
    checks = [_checked(code, work) for code, work in works]
    fields = [{"code": c.code, "passed": c.passed, "detail": c.detail} for c in checks]
    # On Windows a program without a console has no `sys.stdout`, but the pipe is there.
    with contextlib.suppress(OSError):
        os.write(1, json.dumps({"checks": fields}).encode() + b"\n")
    return 0 if all_passed(checks) else 1


def _checked(code: str, work: Callable[[], str]) -> SelfCheck:
    try:
        return SelfCheck(code, True, work())
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        return SelfCheck(code, False, f"{error or type(error).__name__} {_MEND}")


def _qt() -> str:
    import qasync  # noqa: F401 - that it can be imported is the check
    from PySide6.QtCore import qVersion
    from PySide6.QtWidgets import QApplication

    if QApplication.instance() is None:
        QApplication(sys.argv[:1]).setApplicationName("DFlash Desktop")
    return f"Qt {qVersion()}"


def _platform() -> str:
    from PySide6.QtCore import QLibraryInfo

    name = _PLATFORM_PLUGIN.get(sys.platform)
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms"
    found = sorted(path.name for path in folder.glob("*"))
    if name is not None and not any(name in one for one in found):
        raise _NotRightError(f"Qt's plugin for this system's screens is missing in {folder}.")
    return ", ".join(found)


def _icons() -> str:
    from PySide6.QtGui import QIcon

    from dflash_desktop.paths import resources_dir
    from dflash_desktop.ui.icons import IconName

    folder = resources_dir() / "icons"
    files = [folder / f"{name.value}.svg" for name in IconName]
    for file in (*files, folder / "app.svg"):
        if not file.is_file() or QIcon(str(file)).pixmap(_ICON_PX, _ICON_PX).isNull():
            raise _NotRightError(f"The icon {file.name} is missing or damaged.")
    return f"{len(files) + 1} drawn"


def _theme() -> str:
    from PySide6.QtWidgets import QApplication

    from dflash_desktop.ui.theme import Theme

    application = QApplication.instance()
    if not isinstance(application, QApplication):
        raise _NotRightError("Qt did not start.")
    Theme(application)
    return f"{len(application.styleSheet())} characters"
