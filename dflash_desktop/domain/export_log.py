"""What an export prints, made readable: lines, rewritten lines, broken bytes, and our own reports.

A converter redraws its progress with carriage returns and escape sequences, its libraries print
block glyphs, and a process that dies may stop in the middle of a character.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field
from typing import Final

REPORT_MARK: Final = "\x1e"
"""Begins a line of standard output that holds one JSON object for the program."""

MAX_LINE_CHARACTERS: Final = 2_000
_MAX_OPEN_CHARACTERS: Final = 4 * MAX_LINE_CHARACTERS
_MAX_REPORT_CHARACTERS: Final = 1_000_000
"""Of a line without an end; more is cut, so that a binary file in the log takes no memory."""

_ESCAPES: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|[@-Z\\^_]|[ -/]+[0-~])"
)
_CONTROLS: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)
"""Also the marks that turn the reading direction: text in a log must not hide other text."""


@dataclass(frozen=True, slots=True)
class LogNews:
    """What came in: finished lines, how the open line reads now, and objects for the program."""

    lines: tuple[str, ...] = ()
    open_line: str = ""
    reports: tuple[dict[str, object], ...] = ()


@dataclass(slots=True)
class LogReader:
    """Takes bytes as they come, in any pieces; `feed` tells what is new."""

    _decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )
    _open: str = ""

    def feed(self, data: bytes, *, is_last: bool = False) -> LogNews:
        """The news in these bytes; with `is_last` the open line counts as finished."""
        text = self._open + self._decoder.decode(data, final=is_last)
        *finished, self._open = text.replace("\r\n", "\n").split("\n")
        if is_last and self._open:
            finished.append(self._open)
            self._open = ""
        is_report = self._open.startswith(REPORT_MARK)
        limit = _MAX_REPORT_CHARACTERS if is_report else _MAX_OPEN_CHARACTERS
        self._open = self._open[-limit:]
        lines, reports = [], []
        for raw in finished:
            report = _report(raw)
            if report is not None:
                reports.append(report)
            elif line := readable(raw):
                lines.append(line)
        return LogNews(tuple(lines), "" if is_report else readable(self._open), tuple(reports))


def readable(raw: str) -> str:
    """One line as a terminal would show it in the end, without colours and control characters."""
    shown = ""
    for part in _ESCAPES.sub("", raw).rstrip("\r").split("\r"):
        # A shorter text that is written over a longer one leaves the rest of that standing.
        shown = part + shown[len(part) :]
    shown = _without_backspaces(shown).expandtabs(4)
    shown = _CONTROLS.sub("", shown).rstrip()
    if len(shown) > MAX_LINE_CHARACTERS:
        return shown[: MAX_LINE_CHARACTERS - 1] + "…"
    return shown


def _without_backspaces(text: str) -> str:
    if "\b" not in text:
        return text
    kept: list[str] = []
    for character in text:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def _report(raw: str) -> dict[str, object] | None:
    """The object in a marked line; a line that only looks like one is text."""
    if not raw.startswith(REPORT_MARK):
        return None
    try:
        loaded = json.loads(raw[len(REPORT_MARK) :])
    except (ValueError, RecursionError):
        return None
    return loaded if isinstance(loaded, dict) else None
