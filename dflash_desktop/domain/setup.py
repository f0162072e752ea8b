"""How far a person is with setting the program up, so that it can go on another day."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class SetupStep(StrEnum):
    """The four pages in their order; the value is stable."""

    MACHINE = "machine"
    CHOOSE = "choose"
    GET = "get"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class SetupPlace:
    """Where one was, what was chosen, and whether the person left it for later."""

    step: SetupStep = SetupStep.MACHINE
    pair_id: str = ""  # of the catalogue, or that of the starter pair; empty: nothing yet
    context_tokens: int | None = None  # None: the usual length
    is_left: bool = False  # do not open it again by itself
