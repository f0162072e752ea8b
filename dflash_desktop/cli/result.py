"""What a command hands back: one object for programs, the same in words for people."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

JSON_VERSION = 1
"""Rises when a field of any JSON form goes away or changes its meaning, not for new fields."""


class Result(Protocol):
    """The outcome of one command; the frame prints one of the two forms."""

    def as_json(self) -> dict[str, object]:
        """The form of docs/json.md, without `json_version`, which the frame adds."""

    def as_text(self) -> str:
        """The same for a person; empty when everything was already shown on the way."""


@runtime_checkable
class ResultWithExitCode(Result, Protocol):
    """An outcome that a script can tell by the exit code alone."""

    @property
    def exit_code(self) -> int:
        """0 when all is good."""


@runtime_checkable
class PrintedResult(ResultWithExitCode, Protocol):
    """An outcome that was told on the way, line by line; nothing more is printed."""

    @property
    def is_printed(self) -> bool:
        """True."""
