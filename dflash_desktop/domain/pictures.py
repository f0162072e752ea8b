"""A picture that belongs to a message: prepared once, then known by its bytes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

THUMBNAIL_SIDE: Final = 256
"""The longer side of a kept thumbnail: sharp at 128 px on a screen of 200 %."""

MAX_PICTURES: Final = 10
"""Of one message: each takes up to thousands of tokens, and 22 at once took 28 GB elsewhere."""


@dataclass(frozen=True, slots=True)
class Picture:
    """What is kept of a picture; the sizes are in pixels.

    `id` is the sha256 of the prepared file, which lies as `<id>.png` beside the conversations:
    upright, RGB in sRGB, without metadata, as large as the model will see it.
    """

    id: str
    title: str  # the file's name without its folders
    width: int
    height: int
    original_width: int
    original_height: int
    notes: tuple[str, ...] = ()  # what was done to it, in sentences: "The first of 12 frames."
    alt_text: str = ""  # what the person says is on it


@dataclass(frozen=True, slots=True)
class PictureLimits:
    """What a prepared picture fits into, in pixels, and what is not even begun.

    Models that see take the longer side to 2,048 or less and refuse what is smaller than one of
    their patches (32 at most) or 200 times as long as wide; `min_side` over `max_side` keeps
    every ratio far from that.
    """

    max_side: int = 2048
    max_pixels: int = 2048 * 2048
    min_side: int = 32
    max_decoded_pixels: int = 92_000_000  # by the header; four bytes each, and 500 MB for all
    max_file_bytes: int = 256_000_000


DEFAULT_LIMITS: Final = PictureLimits()


def fitted_size(width: int, height: int, limits: PictureLimits) -> tuple[int, int]:
    """The size a picture is reduced to, its ratio kept; the same when it fits."""
    share = min(
        1.0,
        limits.max_side / max(width, height),
        math.sqrt(limits.max_pixels / (width * height)),
    )
    return max(1, math.floor(width * share + 0.5)), max(1, math.floor(height * share + 0.5))


def enlarged_times(width: int, height: int, limits: PictureLimits) -> int:
    """How many times a tiny picture is enlarged, by whole pixels so that nothing is made up.

    Until its shorter side has `min_side`, or its longer one a quarter of `max_side`.
    """
    wanted = math.ceil(limits.min_side / min(width, height))
    return max(1, min(wanted, limits.max_side // 4 // max(width, height)))


def padded_size(width: int, height: int, limits: PictureLimits) -> tuple[int, int]:
    """The size with white beside a picture that is too narrow; the same when it is not."""
    least = max(limits.min_side, math.ceil(max(width, height) * limits.min_side / limits.max_side))
    return max(width, least), max(height, least)


def size_words(width: int, height: int) -> str:
    """ "4,032 × 3,024"."""
    return f"{width:,} × {height:,}"
