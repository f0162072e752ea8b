"""Brings pixels of every mode to 8-bit sRGB: depth, palettes, transparency, profiles.

In two steps, so that a large picture is never held twice: `plain_strip` for a few rows, before
they are reduced, and `to_srgb` for what is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from PIL import Image

_WHITE: Final = (255, 255, 255)
_DEEP_MODES: Final = ("I;16", "I;16B", "I;16L", "I;16N")
_SHORT_MAX: Final = 65535
_BYTE_MAX: Final = 255
_ALPHA_MODES: Final = ("RGBA", "RGBa", "LA", "La", "PA")
_NAME_CHARACTERS: Final = 40
_SPACE_OF_MODE: Final = {"L": "GRAY", "RGB": "RGB", "CMYK": "CMYK", "LAB": "Lab"}


@dataclass(frozen=True, slots=True)
class ColourPlan:
    """What is the same for all strips: the plain mode, and how deep values become bytes."""

    mode: str  # "L", "RGB", "CMYK" or "LAB"
    has_alpha: bool
    scale: float = 1.0
    is_guessed: bool = False  # no rule says what its values mean


def colour_plan(image: Image.Image) -> ColourPlan:
    """How this picture, which is loaded, becomes plain."""
    mode = image.mode
    if mode in (*_DEEP_MODES, "I", "F"):
        scale, is_guessed = _scale_of(image)
        return ColourPlan("L", has_alpha=False, scale=scale, is_guessed=is_guessed)
    if mode in _ALPHA_MODES or "transparency" in image.info:
        return ColourPlan("RGB", has_alpha=True)
    if mode == "P":
        has_alpha = image.palette is not None and image.palette.mode.endswith("A")
        return ColourPlan("RGB", has_alpha=has_alpha)
    if mode in ("1", "L"):
        return ColourPlan("L", has_alpha=False)
    return ColourPlan(mode if mode in _SPACE_OF_MODE else "RGB", has_alpha=False)


def plain_strip(strip: Image.Image, plan: ColourPlan) -> tuple[Image.Image, bool]:
    """The strip in `plan.mode`, on white, and whether anything of it let the white through."""
    if plan.has_alpha:
        return _on_white(strip)
    if strip.mode in _DEEP_MODES:
        strip = strip.convert("I")  # straight to "L" it would be cut off at 255
    if strip.mode in ("I", "F"):
        scale = plan.scale
        return strip.point(lambda value: value * scale + 0.0).convert("L"), False
    return (strip if strip.mode == plan.mode else strip.convert(plan.mode)), False


def to_srgb(image: Image.Image, profile: bytes | None) -> tuple[Image.Image, str]:
    """A plain image as sRGB, and a sentence on its colours if one is due ("" if not)."""
    from PIL import ImageCms

    note = ""
    if image.mode == "LAB":
        return _transformed(image, ImageCms.createProfile("LAB")), ""
    if profile:
        try:
            source = ImageCms.ImageCmsProfile(BytesIO(profile))
            if source.profile.xcolor_space.strip() == _SPACE_OF_MODE[image.mode]:
                name = _name_of(source)
                changed = f"Its colours were converted from {name} to sRGB."
                is_srgb = "srgb" in name.lower()
                return _transformed(image, source), "" if is_srgb else changed
        except (ImageCms.PyCMSError, OSError, ValueError, AttributeError):
            pass
        note = "Its colour profile cannot be used, so its colours may be a little off."
    return image.convert("RGB"), note


def _transformed(image: Image.Image, source: object) -> Image.Image:
    from PIL import ImageCms

    transform = ImageCms.buildTransform(
        source,  # type: ignore[arg-type]  # a profile of either of the library's two kinds
        ImageCms.createProfile("sRGB"),
        image.mode,
        "RGB",
        renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
        flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
    )
    converted = ImageCms.applyTransform(image, transform)
    if converted is None:  # only when it changes an image in its place
        raise ValueError("no converted image")
    return converted


def _name_of(profile: object) -> str:
    from PIL import ImageCms

    try:
        name = ImageCms.getProfileDescription(profile)  # type: ignore[arg-type]  # as above
    except ImageCms.PyCMSError:
        name = ""
    clean = " ".join("".join(c for c in name if c.isprintable()).split())[:_NAME_CHARACTERS]
    return f"“{clean}”" if clean else "another colour space"


def _on_white(strip: Image.Image) -> tuple[Image.Image, bool]:
    """What is transparent shows white, and never the colour that hides in it (case 115)."""
    from PIL import Image

    if strip.mode == "La":
        strip = strip.convert("LA")
    rgba = strip.convert("RGBA")
    alpha = rgba.getchannel("A")
    lowest = alpha.getextrema()[0]
    if lowest == _BYTE_MAX:
        return rgba.convert("RGB"), False
    white = Image.new("RGB", strip.size, _WHITE)
    white.paste(rgba, mask=alpha)
    return white, True


def _scale_of(image: Image.Image) -> tuple[float, bool]:
    """What turns deep values into bytes, and whether that is a guess."""
    if image.mode in _DEEP_MODES:
        return _BYTE_MAX / _SHORT_MAX, False
    high = image.getextrema()[1]
    if not isinstance(high, int | float) or not high > 0:
        return 1.0, False
    if image.mode == "F" and high <= 1:
        return float(_BYTE_MAX), False
    if high <= _BYTE_MAX:
        return 1.0, image.mode == "F"
    if high <= _SHORT_MAX:
        return _BYTE_MAX / _SHORT_MAX, False
    return _BYTE_MAX / high, True
