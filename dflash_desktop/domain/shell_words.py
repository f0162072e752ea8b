"""Command lines as people paste them: each shell reads quotes its own way."""

from __future__ import annotations

import re
import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_PLAIN_ON_WINDOWS: Final = re.compile(r"[A-Za-z0-9_./\\:=+-]+")


class Shell(StrEnum):
    """Where a line is pasted."""

    SH = "sh"
    CMD = "cmd"
    POWERSHELL = "powershell"


def shells_of(platform: str) -> tuple[Shell, ...]:
    """The shells that people have on this `sys.platform`."""
    return (Shell.POWERSHELL, Shell.CMD) if platform == "win32" else (Shell.SH,)


def command_line(words: Sequence[str], shell: Shell) -> str:
    """The words as one line that the shell takes apart into exactly these again.

    cmd replaces %NAME% even inside quotes, which no quoting prevents; in file names it is rare.
    """
    match shell:
        case Shell.SH:
            return shlex.join(words)
        case Shell.CMD:
            return " ".join(map(_for_cmd, words))
        case Shell.POWERSHELL:
            return " ".join(map(_for_powershell, words))


def _for_cmd(word: str) -> str:
    """As the C runtime of the program reads its command line; quotes also keep & and ^ plain."""
    if _PLAIN_ON_WINDOWS.fullmatch(word):
        return word
    # Backslashes count only before a quote, where each must be doubled.
    escaped = re.sub(r'(\\*)"', r'\1\1\\"', word)
    escaped = re.sub(r"(\\+)$", r"\1\1", escaped)
    return f'"{escaped}"'


def _for_powershell(word: str) -> str:
    """Nothing is special between single quotes but the quote, also the curly ones."""
    if _PLAIN_ON_WINDOWS.fullmatch(word):
        return word
    return "'" + re.sub("(['\u2018\u2019\u201a\u201b])", r"\1\1", word) + "'"
