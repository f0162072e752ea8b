"""Says which system libraries Qt is missing on this Linux, before Qt says it in its own words.

Runs with any Python 3 and nothing installed: `make` calls it before it downloads anything.
The lists are what the libraries and platform plugins of PySide6-Essentials link to; a test
compares them with the installed ones.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ALWAYS = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxkbcommon.so.0": "libxkbcommon0",
}
"""Every program with Qt widgets loads these, also one that draws off screen."""

FOR_A_WINDOW = {
    "libX11-xcb.so.1": "libx11-xcb1",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
}
"""Qt's X11 plugin loads these too; on Wayland desktops it is what Qt falls back to."""


def can_load(library: str) -> bool:
    """Whether the system's loader finds `library` and everything that it needs."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def missing_libraries(
    libraries: Mapping[str, str], can_load: Callable[[str], bool] = can_load
) -> dict[str, str]:
    """Those of `libraries` (library to Debian package) that cannot be loaded."""
    return {name: package for name, package in libraries.items() if not can_load(name)}


def advice(missing: Mapping[str, str], *, has_apt: bool, is_root: bool) -> str:
    """What to tell the person: the libraries, and on Debian and Ubuntu the command."""
    packages = " ".join(sorted(set(missing.values())))
    lines = ["Qt needs system libraries that are missing here:", f"  {', '.join(sorted(missing))}"]
    if has_apt:
        sudo = "" if is_root else "sudo "
        lines += ["Install them with this command, then try again:"]
        lines += [f"  {sudo}apt-get install {packages}"]
    else:
        lines += ["Install the packages of your system that bring them, then try again."]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Exit code 0 when Qt can start, else 1 with the advice on standard error.

    With "--packages" only the Debian packages are printed that bring all of it.
    """
    if arguments == ["--packages"]:
        print(*sorted({*ALWAYS.values(), *FOR_A_WINDOW.values()}))
        return 0
    if not sys.platform.startswith("linux"):
        return 0
    draws_off_screen = os.environ.get("QT_QPA_PLATFORM") == "offscreen"
    missing = missing_libraries(ALWAYS if draws_off_screen else {**ALWAYS, **FOR_A_WINDOW})
    if missing:
        has_apt = shutil.which("apt-get") is not None
        print(advice(missing, has_apt=has_apt, is_root=os.geteuid() == 0), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
