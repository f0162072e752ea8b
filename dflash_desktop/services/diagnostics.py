"""A report that a person can copy into the open: everything useful, nothing private."""

from __future__ import annotations

import getpass
import platform
import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.domain.problems import Problem

_SECRETS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Tokens that can be told by their shape: hubs, code hosts, clouds, JWT.
        r"\b(?:hf|api_org|ghp|gho|ghs|ghu|glpat|pypi|sk|xox[abp])[-_][A-Za-z0-9_\-]{16,}",
        r"\bgithub_pat_\w{20,}",
        r"\bAKIA[0-9A-Z]{16}\b",
        r"\beyJ[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]*",
        # What follows a word that says so.
        r"(?<=bearer )\S+",
        r"(?<=authorization: )\S+(?: \S+)?",
        r"(?<=\btoken[=:])\s*(?!\d+\b)[^\s&\"',;]{6,}",  # and not "mask token: 16"
        r"(?<=\b(?:passwd|secret|apikey)[=:])\s*[^\s&\"',;]+",
        r"(?<=\b(?:password)[=:])\s*[^\s&\"',;]+",
        r"(?<=\b(?:api[_-]key)[=:])\s*[^\s&\"',;]+",
        r"(?<=://)[^\s/@]+:[^\s/@]*(?=@)",  # user:password@host
    )
)
_MAIL: Final = re.compile(r"\b[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+\b")
_WORD: Final = r"(?:[^\\/\s:\"'<>|]|(?<=\w)'(?=\w)|\\{1,2}u[0-9a-f]{4})+"
"""Of a person's name: O'Neil, and as JSON writes what is not ASCII."""
_HOMES: Final = re.compile(
    r"(?:(?<=(?P<quote>[\"'“\u2018]))|)"
    r"(?:/home/|/Users/|[a-z]:[\\/]{1,4}(?:Users|Documents and Settings)[\\/]{1,4})(?!<)"
    # Two words or more are a name if the path goes on behind them, or a quotation ends there.
    rf"(?:{_WORD}(?:[ \xa0]{_WORD}){{1,5}}(?=[\\/]|(?(quote)[\"'”\u2019]|(?!)))"
    # Else at most those that are written like names: better a word of the text too few.
    rf"|{_WORD}(?:[ \xa0](?-i:(?=[^\W\d_a-zß-öø-ÿ])){_WORD}(?![\w:=])){{0,2}})",
    re.IGNORECASE,
)
_PART: Final = r"[^\\/\s:*?\"<>|](?:[^\\/\r\n\t:*?\"<>|]*[^\\/\s:*?\"<>|])?"
"""Of a path; it may have spaces inside."""
_PATHS: Final = re.compile(
    rf"(?<![\w/.:])/(?:{_PART}/)+"
    rf"|\b[A-Za-z]:[\\/]{{1,4}}(?:{_PART}[\\/]{{1,4}})+"
    rf"|(?<![\w\\])\\{{2,4}}(?:{_PART}\\{{1,4}})+"  # \\server\share\
)
"""A folder's absolute path, up to the name of what is in it."""
_NAMES_OF_NOBODY: Final = frozenset({"", "root", "user", "admin", "administrator", "localhost"})
_MIN_NAME_CHARACTERS: Final = 3
"""Shorter names would be found inside of ordinary text."""


@dataclass(frozen=True, slots=True)
class PrivateFacts:
    """What must not leave this machine; `home_dir` is shown as "~", of `places` each its word."""

    home_dir: Path
    user: str
    host: str
    places: tuple[tuple[Path, str], ...] = ()

    def mask(self, text: str) -> str:
        """`text` without home folders, user and host name, mail addresses, passwords, tokens."""
        for pattern in _SECRETS:
            text = pattern.sub("<secret>", text)
        for place, word in (*self.places, (self.home_dir, "~")):
            text = _folder_pattern(place).sub(word, text)
        text = _HOMES.sub("~", text)
        text = _MAIL.sub("<mail>", text)
        hosts = (self.host, self.host.split(".")[0])  # with its domain first
        for name, shown in ((self.user, "<user>"), *((host, "<host>") for host in hosts)):
            if name.lower() not in _NAMES_OF_NOBODY and len(name) >= _MIN_NAME_CHARACTERS:
                text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", shown, text, flags=re.IGNORECASE)
        return text

    def mask_folders(self, text: str) -> str:
        """Like `mask`, and of absolute paths only the last name stays."""
        return _PATHS.sub("", self.mask(text))


def private_facts() -> PrivateFacts:
    """The facts of this machine and person."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container without a user database
        user = ""
    return PrivateFacts(home_dir=Path.home(), user=user, host=socket.gethostname())


def system_lines() -> tuple[str, ...]:
    """The program's version and the system's."""
    return (
        f"DFlash Desktop {__version__}",
        f"System: {platform.platform()}, Python {platform.python_version()}",
    )


def problem_report(
    problem: Problem, *, private: PrivateFacts, facts: Iterable[tuple[str, str]] = ()
) -> str:
    """The text behind "Copy details"; `facts` are further lines, such as device and model."""
    lines = [
        *system_lines(),
        *(f"{name}: {value}" for name, value in facts if value),
        "",
        f"{problem.code}: {problem.headline}",
        problem.advice,
        *(("", "Details:", problem.detail) if problem.detail else ()),
    ]
    return private.mask("\n".join(lines)) + "\n"


def _folder_pattern(folder: Path) -> re.Pattern[str]:
    """The folder in any spelling: either slash, doubled as in JSON and Python's repr."""
    parts = [part for part in re.split(r"[\\/]+", str(folder)) if part]
    if not parts:
        return re.compile(r"(?!)")  # "/" is the home of a container's user, and nobody's name
    start = r"[\\/]{1,2}" if str(folder).startswith(("/", "\\")) else ""
    path = r"[\\/]{1,2}".join(re.escape(part) for part in parts)
    return re.compile(rf"(?<!\w){start}{path}(?!\w)", re.IGNORECASE)
