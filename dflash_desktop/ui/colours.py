"""Colours by role as two frozen sets, and the arithmetic that keeps them readable."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass, fields, replace
from enum import StrEnum

MIN_TEXT_CONTRAST = 4.5
MIN_READING_CONTRAST = 7.0


class ColourRole(StrEnum):
    """What a colour is for; the value is the field's name in `Colours`."""

    SURFACE = "surface"  # the page that one reads on
    SURFACE_RAISED = "surface_raised"  # panels, cards, code
    BORDER = "border"
    TEXT = "text"
    TEXT_MUTED = "text_muted"
    ACCENT = "accent"
    ACCENT_TEXT = "accent_text"  # text on the accent
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"
    DRAFT_TINT = "draft_tint"  # behind words that the draft proposed


@dataclass(frozen=True, slots=True)
class Colours:
    """One set of colours, each as "#RRGGBB"."""

    surface: str
    surface_raised: str
    border: str
    text: str
    text_muted: str
    accent: str
    accent_text: str
    good: str
    warn: str
    bad: str
    draft_tint: str

    def of(self, role: ColourRole) -> str:
        """The colour of a role."""
        return str(getattr(self, role.value))

    @property
    def is_dark(self) -> bool:
        """Whether text is lighter than the surface."""
        return luminance(self.text) > luminance(self.surface)

    @property
    def hover(self) -> str:
        """Behind a control under the pointer."""
        return mix(self.surface_raised, self.text, 0.07)

    @property
    def pressed(self) -> str:
        """Behind a control that is held down."""
        return mix(self.surface_raised, self.text, 0.14)

    @property
    def control_border(self) -> str:
        """Around fields and buttons: stronger than the border of a card."""
        return mix(self.border, self.text_muted, 0.35)

    @property
    def accent_hover(self) -> str:
        """The accent under the pointer."""
        return mix(self.accent, self.text, 0.14)

    @property
    def disabled(self) -> str:
        """Text of a control that cannot be used now."""
        return mix(self.text_muted, self.surface_raised, 0.4)


LIGHT = Colours(
    surface="#FFFFFF",
    surface_raised="#F5F6F8",
    border="#DADEE5",
    text="#1B1F26",
    text_muted="#5A6372",
    accent="#1D5FD1",
    accent_text="#FFFFFF",
    good="#1A7442",
    warn="#8A5700",
    bad="#B4231A",
    draft_tint="#D9E8FD",
)

DARK = Colours(
    surface="#16181D",
    surface_raised="#1F2229",
    border="#363B45",
    text="#E7E9EE",
    text_muted="#A3ABB8",
    accent="#82B1FF",
    accent_text="#0C1A30",
    good="#6FCF97",
    warn="#E8B75A",
    bad="#FF8F87",
    draft_tint="#22406B",
)


def _channels(colour: str) -> tuple[float, float, float]:
    return (
        int(colour[1:3], 16) / 255,
        int(colour[3:5], 16) / 255,
        int(colour[5:7], 16) / 255,
    )


def _hex(red: float, green: float, blue: float) -> str:
    return "#" + "".join(f"{round(max(0.0, min(1.0, c)) * 255):02X}" for c in (red, green, blue))


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2, 0 to 1."""
    linear = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in _channels(colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio by WCAG 2, 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mix(base: str, other: str, share: float) -> str:
    """`base` with a share (0 to 1) of `other`."""
    pairs = zip(_channels(base), _channels(other), strict=True)
    red, green, blue = (a * (1 - share) + b * share for a, b in pairs)
    return _hex(red, green, blue)


def with_accent(colours: Colours, wish: str) -> Colours:
    """The set with another accent, made as light or dark as it takes to stay readable."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*_channels(wish))
    end = 1.0 if colours.is_dark else 0.0
    accent = wish
    while contrast(accent, colours.surface_raised) < MIN_TEXT_CONTRAST and lightness != end:
        lightness += max(-0.02, min(0.02, end - lightness))
        accent = _hex(*colorsys.hls_to_rgb(hue, lightness, saturation))
    on_accent = max(("#FFFFFF", "#000000"), key=lambda ink: contrast(ink, accent))
    return replace(colours, accent=accent, accent_text=on_accent)


def with_high_contrast(colours: Colours) -> Colours:
    """The set for people who asked their system for more contrast."""
    ink, paper = ("#FFFFFF", "#000000") if colours.is_dark else ("#000000", "#FFFFFF")
    strong = {
        role.name: mix(colours.of(ColourRole(role.name)), ink, 0.35)
        for role in fields(colours)
        if role.name in {"accent", "good", "warn", "bad"}
    }
    return replace(
        colours,
        surface=paper,
        surface_raised=paper,
        border=ink,
        text=ink,
        text_muted=ink,
        accent_text=paper,
        **strong,
    )
