"""Words to a person who started the program by an icon, when Qt cannot open a window.

Standard error then goes where nobody looks. Most desktops have a small program that shows a
box; on Windows the system itself has one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TITLE: Final = "DFlash Desktop"

_LONGEST_READING_SECONDS: Final = 600.0


def tell(
    words: str,
    *,
    environment: Mapping[str, str] = os.environ,
    find: Callable[[str], str | None] = shutil.which,
) -> None:
    """Write `words` to standard error, and show them where there is no terminal. Blocking."""
    sys.stderr.write(words)
    sys.stderr.flush()
    if sys.stderr.isatty():
        return
    if sys.platform == "win32":
        import ctypes

        warning_icon = 0x30
        ctypes.windll.user32.MessageBoxW(None, words, TITLE, warning_icon)
        return
    if argv := box_command(words, environment=environment, find=find):
        try:
            subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_LONGEST_READING_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return  # it was said on standard error


def box_command(
    words: str, *, environment: Mapping[str, str], find: Callable[[str], str | None]
) -> tuple[str, ...] | None:
    """The first program of this desktop that can show a box; None without a desktop or one."""
    if not environment.get("DISPLAY") and not environment.get("WAYLAND_DISPLAY"):
        return None
    commands: tuple[tuple[str, ...], ...] = (
        ("zenity", "--error", "--no-markup", "--no-wrap", f"--title={TITLE}", f"--text={words}"),
        ("kdialog", "--title", TITLE, "--error", words),
        ("notify-send", "--urgency=critical", TITLE, words),
        ("xmessage", "-center", "-title", TITLE, words),
    )
    return next((command for command in commands if find(command[0])), None)
