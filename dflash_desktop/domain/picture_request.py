"""One picture to be made: what is asked of the model, checked before it costs anything."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.messages import clean_message
from dflash_desktop.domain.problems import AppError, Problem

if TYPE_CHECKING:
    from dflash_desktop.domain.image_models import ImageModel

MAX_STEPS: Final = 200
MAX_SIDE_PX: Final = 2048
MAX_GUIDANCE: Final = 30.0
MAX_SEED: Final = 2**32 - 1
MAX_COUNT: Final = 64
"""More at once is a mistake of typing: at a minute each they take an hour."""
_ASPECTS: Final = ((1, 1), (4, 3), (3, 4), (3, 2), (2, 3), (16, 9), (9, 16))
_FLOOR_PX: Final = 64


@dataclass(frozen=True, slots=True)
class PictureRequest:
    """What the engine is told. Sizes are in pixels; `source` and `mask` are prepared PNG files.

    Without a source `strength` means nothing; with one it is how much of it may change, 0 to 1.
    White in the mask is what is made anew. A blank `negative_prompt` is none.
    """

    prompt: str
    width: int
    height: int
    steps: int
    guidance: float
    seed: int
    negative_prompt: str = ""
    source: Path | None = None
    mask: Path | None = None
    strength: float = 0.75

    @property
    def run_steps(self) -> int:
        """How many steps are really made: a source saves those that would have undone it."""
        return self.steps if self.source is None else int(self.steps * min(1.0, self.strength))


@dataclass(frozen=True, slots=True)
class PictureSize:
    """A size to choose, with its name."""

    width: int
    height: int
    name: str


def size_presets(model: ImageModel) -> tuple[PictureSize, ...]:
    """The usual shapes with about as many pixels as the model was trained on."""
    step, presets = model.size_step_px, []
    for across, down in _ASPECTS:
        scale = math.sqrt(model.native_px**2 / (across * down))
        width, height = (_to_step(scale * part, step) for part in (across, down))
        presets.append(PictureSize(width, height, f"{across}:{down}"))
    return tuple(presets)


def allowed_size(model: ImageModel, width: int, height: int) -> tuple[int, int]:
    """The nearest size that this model takes."""
    return _to_step(width, model.size_step_px), _to_step(height, model.size_step_px)


def new_seed() -> int:
    """A seed that nobody chose."""
    return secrets.randbelow(MAX_SEED + 1)


def checked_request(request: PictureRequest, model: ImageModel) -> PictureRequest:
    """The request with clean words. Raises `AppError` for what the model or the runtime refuses.

    The runtime's own answers to these are unclear, late, or the end of its process.
    """
    for problem in (
        _size_problem(request, model),
        _number_problem(request),
        _source_problem(request, model),
        _negative_problem(request, model),
    ):
        if problem is not None:
            raise AppError(problem)
    negative = request.negative_prompt.strip()
    return PictureRequest(
        prompt=clean_message(request.prompt).text.strip(),
        width=request.width,
        height=request.height,
        steps=request.steps,
        guidance=request.guidance,
        seed=request.seed,
        negative_prompt=clean_message(negative).text if negative else "",
        source=request.source,
        mask=request.mask,
        strength=request.strength,
    )


def _to_step(side: float, step: int) -> int:
    lowest = max(step, -(-_FLOOR_PX // step) * step)
    return min(max(round(side / step) * step, lowest), MAX_SIDE_PX // step * step)


def _size_problem(request: PictureRequest, model: ImageModel) -> Problem | None:
    width, height = allowed_size(model, request.width, request.height)
    if (width, height) == (request.width, request.height):
        return None
    return Problem(
        code="picture_size",
        headline=f"{model.title} does not make pictures of {request.width} × {request.height}.",
        advice=f"Width and height are multiples of {model.size_step_px} up to {MAX_SIDE_PX}. "
        f"The nearest size is {width} × {height}.",
    )


def _number_problem(request: PictureRequest) -> Problem | None:
    if not 1 <= request.steps <= MAX_STEPS:
        return Problem(
            code="picture_steps",
            headline=f"A picture cannot be made in {request.steps} steps.",
            advice=f"Choose between 1 and {MAX_STEPS} steps.",
        )
    if not (math.isfinite(request.guidance) and 0 <= request.guidance <= MAX_GUIDANCE):
        return Problem(
            code="picture_guidance",
            headline=f"A guidance of {request.guidance:g} is not possible.",
            advice=f"Choose a number between 0 and {MAX_GUIDANCE:g}.",
        )
    if not 0 <= request.seed <= MAX_SEED:
        return Problem(
            code="picture_seed",
            headline="This seed is not possible.",
            advice=f"Choose a whole number between 0 and {MAX_SEED:,}.",
        )
    return None


def _source_problem(request: PictureRequest, model: ImageModel) -> Problem | None:
    if request.source is not None and not model.takes_picture:
        return Problem(
            code="picture_source",
            headline=f"{model.title} cannot begin with a picture.",
            advice="Take the picture away, or choose a model that reads pictures.",
        )
    if request.mask is not None and (request.source is None or not model.takes_mask):
        return Problem(
            code="picture_mask",
            headline=f"{model.title} cannot change only a part of a picture.",
            advice="Take the mask away: then the whole picture is made anew.",
        )
    if request.source is not None and (not 0 < request.strength <= 1 or request.run_steps < 1):
        return Problem(
            code="picture_strength",
            headline="Nothing would change: the strength is too small for so few steps.",
            advice="Choose a larger strength (at most 1) or more steps.",
        )
    return None


def _negative_problem(request: PictureRequest, model: ImageModel) -> Problem | None:
    if not request.negative_prompt.strip():
        return None
    if not model.facts.takes_negative_prompt:
        return Problem(
            code="negative_prompt",
            headline=f"{model.title} knows no negative prompt.",
            advice="Empty that field and say in the prompt what you do want.",
        )
    if request.guidance <= 1:
        return Problem(
            code="negative_prompt",
            headline="The negative prompt needs guidance above 1.",
            advice="Raise the guidance, or empty the negative prompt.",
        )
    return None
