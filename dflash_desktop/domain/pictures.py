"""A picture that belongs to a message: prepared once, then known by its bytes."""

from __future__ import annotations

from dataclasses import dataclass


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
