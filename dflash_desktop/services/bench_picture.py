"""The picture that measurements ask about: drawn by code, so that every machine asks the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.made_picture import Pixels
from dflash_desktop.services.png_file import png_bytes

if TYPE_CHECKING:
    from pathlib import Path

SIDE_PIXELS: Final = 448
"""A few hundred tokens for most models: seen in full, and no long wait on a processor."""

_PAPER: Final = (250, 248, 240)
_RED: Final = (208, 48, 40)
_BLUE: Final = (36, 92, 200)
_GREEN: Final = (40, 150, 80)


def draw_bench_picture(file: Path) -> Path:
    """Write a red circle, a blue square and a green triangle on light paper, as a PNG.

    Raises `OSError`.
    """
    places = ((x, y) for y in range(SIDE_PIXELS) for x in range(SIDE_PIXELS))
    rgb = bytes(value for x, y in places for value in _colour(x, y))
    file.write_bytes(png_bytes(Pixels(SIDE_PIXELS, SIDE_PIXELS, rgb), {}))
    return file


def _colour(x: int, y: int) -> tuple[int, int, int]:
    if (x - 120) ** 2 + (y - 130) ** 2 < 80**2:
        return _RED
    if 250 <= x < 400 and 60 <= y < 210:
        return _BLUE
    if 270 <= y < 400 and abs(x - 224) <= (y - 270) * 3 // 4:
        return _GREEN
    return _PAPER
