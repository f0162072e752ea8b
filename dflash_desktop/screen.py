"""Why Qt could not open a window on this Linux, said before Qt aborts in its own words."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# What Qt's X11 plugin loads beyond what every desktop has, and the Debian packages with it.
_X11_PACKAGES: Final = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
_QT_PACKAGES: Final = "libegl1 libgl1 libxkbcommon0 libdbus-1-3 libfontconfig1 libglib2.0-0"
_NO_DISPLAY: Final = (
    "DFlash Desktop cannot open a window: there is no display.\n"
    "Start it from a desktop session, or with a display forwarded (ssh -X). Without one, use the "
    "command line: dflash-desktop chat --prompt TEXT\n"
)


def why_no_window(
    environment: Mapping[str, str] = os.environ,
    *,
    platform: str = sys.platform,
    can_load: Callable[[str], bool] | None = None,
) -> str | None:
    """What is missing and how to get it, or None if a window can be opened."""
    if not platform.startswith("linux") or not _uses_desktop(environment):
        return None
    has_wayland = bool(environment.get("WAYLAND_DISPLAY"))
    if not environment.get("DISPLAY") and not has_wayland:
        return _NO_DISPLAY
    if has_wayland:
        return None
    loads = can_load or _can_load
    packages = [package for library, package in _X11_PACKAGES.items() if not loads(library)]
    if not packages:
        return None
    return (
        "DFlash Desktop cannot open a window: system libraries are missing.\n"
        f"On Debian and Ubuntu: sudo apt-get install {' '.join(packages)}\n"
    )


def why_no_qt(error: ImportError) -> str:
    """What to do when Qt itself cannot be loaded."""
    if not sys.platform.startswith("linux"):
        return f"DFlash Desktop cannot start: {error}\nInstall the program again.\n"
    return (
        f"DFlash Desktop cannot start: {error}\n"
        f"On Debian and Ubuntu: sudo apt-get install {_QT_PACKAGES}\n"
    )


def _uses_desktop(environment: Mapping[str, str]) -> bool:
    wanted = environment.get("QT_QPA_PLATFORM", "")
    return not wanted or wanted.split(":")[0].split(";")[0] in ("xcb", "wayland")


def _can_load(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
