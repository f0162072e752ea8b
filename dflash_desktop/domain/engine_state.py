"""The states of the engine process, as the status line shows them."""

from __future__ import annotations

from dataclasses import dataclass

from dflash_desktop.domain.image_models import LoadedImageModel
from dflash_desktop.domain.pair import LoadedPair


@dataclass(frozen=True, slots=True)
class Absent:
    """No process runs, and none was asked for."""


@dataclass(frozen=True, slots=True)
class Starting:
    """The process was started and has not said hello yet."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The process runs and holds no model."""

    runtime: str


@dataclass(frozen=True, slots=True)
class Loading:
    """A model is being read and compiled; `slow` after the time in which most are done."""

    stage: str
    fraction: float | None = None
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model waits for a question."""

    pair: LoadedPair


@dataclass(frozen=True, slots=True)
class Generating:
    """An answer is on its way; `slow` when no event came for a long time."""

    pair: LoadedPair
    slow: bool = False


@dataclass(frozen=True, slots=True)
class HoldsImageModel:
    """A model that makes pictures waits for a request.

    `resting` is the pair that was let go for it, and comes back with the next question.
    """

    model: LoadedImageModel
    resting: LoadedPair | None = None


@dataclass(frozen=True, slots=True)
class MakingPicture:
    """A picture is on its way; `slow` when no step came for a long time."""

    model: LoadedImageModel
    resting: LoadedPair | None = None
    slow: bool = False


@dataclass(frozen=True, slots=True)
class Stopping:
    """The process was told to end."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The process ended by itself or was ended as tainted; restarts count against the limit."""

    cause: str
    exit_code: int | None
    log_tail: tuple[str, ...]
    will_restart: bool


def loaded_pair(state: EngineState) -> LoadedPair | None:
    """The pair that answers come from, or None when none is loaded."""
    return state.pair if isinstance(state, Loaded | Generating) else None


def will_hold_pair(state: EngineState) -> bool:
    """Whether a model can answer later without anyone doing anything."""
    match state:
        case Crashed(will_restart=will_restart):
            return will_restart
        case Starting() | Loading() | MakingPicture():
            return True
        case _:
            return False


def pair_for_questions(state: EngineState) -> LoadedPair | None:
    """The pair that would answer now: the loaded one, or the one that rests for pictures."""
    if isinstance(state, HoldsImageModel | MakingPicture):
        return state.resting
    return loaded_pair(state)


EngineState = (
    Absent
    | Starting
    | Ready
    | Loading
    | Loaded
    | Generating
    | HoldsImageModel
    | MakingPicture
    | Stopping
    | Crashed
)
