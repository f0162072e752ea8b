"""From any picture file to the pixels a model sees: upright, sRGB, on white, not too large."""

from __future__ import annotations

import math
import warnings
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.picture_kinds import PILLOW_FORMATS, PictureKind
from dflash_desktop.domain.pictures import (
    PictureLimits,
    enlarged_times,
    fitted_size,
    padded_size,
)
from dflash_desktop.workers.picture_colours import colour_plan, plain_strip, to_srgb
from dflash_desktop.workers.picture_file import PictureFaultError, open_picture_file

if TYPE_CHECKING:
    from pathlib import Path

    from PIL import ImageFile
    from PIL.Image import Image as PillowImage  # noqa: TC004 - nothing evaluates it

_ORIENTATION_TAG: Final = 0x0112
_UPRIGHT: Final = 1
_ON_ITS_SIDE: Final = (5, 6, 7, 8)
_STRIP_PIXELS: Final = 2_000_000
_REDUCING_GAP: Final = 1.4
"""Reduced by a whole factor to this many times the size at least, strip by strip, then exactly.

Twice the size would look the same and keep two large pictures in memory.
"""

_MADE_OF_PAGES: Final = (PictureKind.TIFF,)
_MADE_OF_ONE: Final = (PictureKind.JPEG, PictureKind.ICO, PictureKind.HEIC)
"""What these hold beside the picture is the same one in other sizes, or depth."""


@dataclass(frozen=True, slots=True)
class ReadPicture:
    """RGB pixels in sRGB, the upright size in the file, and what was done, in sentences."""

    image: PillowImage
    original_width: int
    original_height: int
    notes: tuple[str, ...]


def read_picture(path: Path, limits: PictureLimits) -> ReadPicture:
    """Read a file. Raises `PictureFaultError`, and `MemoryError` when that is too little."""
    from PIL import Image

    # The limits are ours, by the header and by the process's memory.
    Image.MAX_IMAGE_PIXELS = None
    file, kind = open_picture_file(path, limits)
    with file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(file, formats=_readers(kind)) as image:
                return _read(image, kind, limits)
        except (PictureFaultError, MemoryError):
            raise
        # Pillow's readers raise whatever a damaged file makes them stumble over.
        except Exception as error:
            raise _damage(error) from error


def _readers(kind: PictureKind) -> tuple[str, ...]:
    if kind is PictureKind.HEIC:
        try:
            import pi_heif
        except ImportError as error:
            words = {"kind": kind.value}
            raise PictureFaultError("picture_kind_not_read", str(error), words=words) from error
        pi_heif.register_heif_opener(thumbnails=False, decode_threads=1)
    return PILLOW_FORMATS[kind]


def _read(image: ImageFile.ImageFile, kind: PictureKind, limits: PictureLimits) -> ReadPicture:
    width, height = image.size
    # A JPEG gives itself at a half, a quarter or an eighth, at a fraction of work and memory.
    image.draft(None, fitted_size(width, height, limits))
    if image.width * image.height > limits.max_decoded_pixels:
        facts = {"width": width, "height": height, "max_pixels": limits.max_decoded_pixels}
        raise PictureFaultError("picture_too_large", facts=facts)
    profile = image.info.get("icc_profile")
    image.load()
    # Not before: a PNG is loaded to find out, and then its damage would be overlooked. TIFF is
    # turned by its reader, the size in its header included.
    orientation = _orientation(image)
    if orientation in _ON_ITS_SIDE:
        width, height = height, width
    plain, notes = _reduced(image, limits)
    notes[:0] = _frames_note(image, kind)
    srgb, colour_note = to_srgb(plain, profile if isinstance(profile, bytes) else None)
    if colour_note:
        notes.append(colour_note)
    upright = _upright(srgb, orientation)
    roomy, room_notes = _with_room(upright, limits)
    return ReadPicture(roomy, width, height, (*notes, *room_notes))


def _reduced(image: PillowImage, limits: PictureLimits) -> tuple[PillowImage, list[str]]:
    """The picture in its plain mode and its final size."""
    from PIL import Image

    plan = colour_plan(image)
    width, height = image.size
    wanted = fitted_size(width, height, limits)
    share = min(width / wanted[0], height / wanted[1])
    factor = max(1, math.floor(share / _REDUCING_GAP))
    rows = max(1, _STRIP_PIXELS // width // factor) * factor
    size = (math.ceil(width / factor), math.ceil(height / factor))
    plain = Image.new(plan.mode, size)
    shows_white = False
    for top in range(0, height, rows):
        strip = image.crop((0, top, width, min(height, top + rows)))
        strip, is_seen_through = plain_strip(strip, plan)
        shows_white = shows_white or is_seen_through
        plain.paste(strip.reduce(factor) if factor > 1 else strip, (0, top // factor))
    if plain.size != wanted:
        plain = plain.resize(wanted, Image.Resampling.LANCZOS)
    notes = []
    if shows_white:
        notes.append("White was put behind what is transparent.")
    if plan.is_guessed:
        notes.append("Its brightness was scaled, since the file does not say what is white.")
    return plain, notes


def _upright(image: PillowImage, orientation: int) -> PillowImage:
    from PIL import Image

    method = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_270,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_90,
    }.get(orientation)
    return image if method is None else image.transpose(method)


def _with_room(image: PillowImage, limits: PictureLimits) -> tuple[PillowImage, list[str]]:
    """Large enough and square enough for every model: they refuse, or crash at, what is not."""
    from PIL import Image

    notes = []
    times = enlarged_times(*image.size, limits)
    if times > 1:
        size = (image.width * times, image.height * times)
        image = image.resize(size, Image.Resampling.NEAREST)
        notes.append(f"Enlarged {times} times, since models do not see anything so small.")
    size = padded_size(*image.size, limits)
    if size != image.size:
        padded = Image.new("RGB", size, (255, 255, 255))
        padded.paste(image, ((size[0] - image.width) // 2, (size[1] - image.height) // 2))
        image = padded
        notes.append("White was added beside it, since models do not take anything so narrow.")
    return image, notes


def _orientation(image: PillowImage) -> int:
    # What a camera noted may be damaged in every way, and the picture may be good all the same.
    with suppress(Exception):
        value = image.getexif().get(_ORIENTATION_TAG, _UPRIGHT)
        return value if isinstance(value, int) else _UPRIGHT
    return _UPRIGHT


def _frames_note(image: PillowImage, kind: PictureKind) -> list[str]:
    if kind in _MADE_OF_ONE:
        return []
    with suppress(Exception):  # damage behind the first frame does not matter
        count = int(getattr(image, "n_frames", 1))
        if count > 1:
            of = "pages" if kind in _MADE_OF_PAGES else "frames"
            return [f"The first of {count:,} {of}."]
    return []


def _damage(error: Exception) -> PictureFaultError:
    raw = f"{type(error).__name__}: {error}"
    lower = raw.lower()
    if "truncated" in lower or "unexpected end" in lower or isinstance(error, EOFError):
        return PictureFaultError("picture_truncated", raw)
    return PictureFaultError("picture_damaged", raw)
