"""What a command hands back: one object for programs, the same in words for people."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping

    from dflash_desktop.domain.problems import Problem

JSON_VERSION = 1
"""Rises when a field of any JSON form goes away or changes its meaning, not for new fields."""


EXIT_FAULT: Final = 1
EXIT_FAULT_OF_GRADED: Final = 2
EXIT_INTERRUPTED: Final = 130
_FAULT_CODE: Final = "exit_code_of_fault"


def answer_with_grades(parser: ArgumentParser) -> None:
    """Of a command whose exit code grades: 1 is a grade already, so that a fault answers with 2.

    Who asks whether something is good must not take a folder that is not there for a warning.
    """
    parser.set_defaults(**{_FAULT_CODE: EXIT_FAULT_OF_GRADED})


def fault_code_of(args: Namespace) -> int:
    """The exit code of a fault in the command that these arguments chose."""
    return int(getattr(args, _FAULT_CODE, EXIT_FAULT))


def print_event(event: str, fields: Mapping[str, object]) -> None:
    """One line of a command that tells while it works; what is no JSON number is a fault of ours.

    Raises `ValueError` for such a number.
    """
    form = {"json_version": JSON_VERSION, "event": event, **fields}
    print(json.dumps(form, allow_nan=False), flush=True)


def problem_form(problem: Problem) -> dict[str, object]:
    """What every command prints of a problem for programs, as in docs/json.md."""
    return {"code": problem.code, "headline": problem.headline, "advice": problem.advice}


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


@dataclass(frozen=True, slots=True)
class ToldResult:
    """All was told on the way."""

    exit_code: int
    is_printed: bool = True

    def as_json(self) -> dict[str, object]:
        """Nothing more."""
        return {}

    def as_text(self) -> str:
        """Nothing more."""
        return ""
