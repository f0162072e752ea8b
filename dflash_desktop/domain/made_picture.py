"""A picture that was made here, with everything needed to make it again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dflash_desktop.domain.image_models import ImageKind


@dataclass(frozen=True, slots=True)
class Pixels:
    """RGB in sRGB, 8 bits each, row by row from the top, without gaps."""

    width: int
    height: int
    rgb: bytes


@dataclass(frozen=True, slots=True)
class PictureRecipe:
    """All settings of one picture; `model_id` is the library's, never a path.

    `source_id` is the picture that it began with, if that is in the gallery; `has_mask` says that
    only a part of it was made anew. `strength` is None without a source, `guidance`
    where the model made nothing of it.
    """

    prompt: str
    negative_prompt: str
    width: int
    height: int
    steps: int
    guidance: float | None
    seed: int
    model_id: str
    model_title: str
    kind: ImageKind
    runtime: str
    device_name: str
    strength: float | None = None
    source_id: str = ""
    has_mask: bool = False


@dataclass(frozen=True, slots=True)
class MadePicture:
    """One entry of the gallery; `id` is its file's name without the ending."""

    id: str
    made_at: datetime
    recipe: PictureRecipe
    seconds: float
    alt_text: str = ""
