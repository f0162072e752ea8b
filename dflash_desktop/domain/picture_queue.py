"""Pictures that are waiting or being made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from dflash_desktop.domain.image_models import ImageModel
from dflash_desktop.domain.made_picture import Pixels
from dflash_desktop.domain.picture_request import PictureRequest
from dflash_desktop.domain.problems import Problem
from dflash_desktop.domain.units import format_seconds_left


class QueuePhase(Enum):
    """Where one picture is."""

    WAITING = auto()
    LOADING = auto()
    MAKING = auto()
    STOPPING = auto()
    FAILED = auto()  # stays in view until it is dismissed


@dataclass(frozen=True, slots=True)
class QueuedPicture:
    """One picture of the queue; those of one order were asked for together.

    `source_id` is the gallery's picture that it begins with, if it is one.
    """

    id: int
    order: int
    model: ImageModel
    request: PictureRequest
    phase: QueuePhase = QueuePhase.WAITING
    stage: str = ""
    done_steps: int = 0
    total_steps: int = 0
    seconds_per_step: float = 0.0
    preview: Pixels | None = None
    problem: Problem | None = None
    source_id: str = ""

    @property
    def is_active(self) -> bool:
        """Whether the engine works on it, or is about to."""
        return self.phase in {QueuePhase.LOADING, QueuePhase.MAKING, QueuePhase.STOPPING}

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1; turning it into pixels counts as nothing."""
        return self.done_steps / self.total_steps if self.total_steps else 0.0

    @property
    def seconds_left(self) -> float | None:
        """What the steps that are left will take; None before two steps were made."""
        if self.done_steps < 2:
            return None
        return (self.total_steps - self.done_steps) * self.seconds_per_step


def phase_words(item: QueuedPicture) -> str:
    """What happens with it, in a sentence without a full stop."""
    match item.phase:
        case QueuePhase.WAITING:
            return "Waiting"
        case QueuePhase.LOADING:
            return item.stage or f"Loading {item.model.title}"
        case QueuePhase.STOPPING:
            return "Stopping after this step"
        case QueuePhase.FAILED:
            return "It was not made"
        case QueuePhase.MAKING:
            if not item.total_steps:
                return "Reading the prompt"
            if item.done_steps >= item.total_steps:
                return "Turning the result into pixels"
            return f"Step {item.done_steps} of {item.total_steps}"


def pace_words(item: QueuedPicture) -> str:
    """Time per step and time left, as far as they are known."""
    if item.phase is not QueuePhase.MAKING or not item.seconds_per_step:
        return ""
    words = [f"{step_seconds(item.seconds_per_step)} per step"]
    left = item.seconds_left
    if left is not None and left >= 1:
        words.append(format_seconds_left(left))
    return " · ".join(words)


def step_seconds(seconds: float) -> str:
    """A step's time with what can be told of it: "0.24 s", "3.1 s", "12 s"."""
    if seconds < 1:
        return f"{seconds:.2g} s"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
