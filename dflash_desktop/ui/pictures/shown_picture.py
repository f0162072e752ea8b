"""What the screen knows of a picture: its file, its name, and what was done to it, in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.pictures import size_words

if TYPE_CHECKING:
    from dflash_desktop.domain.pictures import Picture


class PictureFiles(Protocol):
    """Where the files of prepared pictures are; they may be gone."""

    def path(self, picture: Picture) -> Path:
        """What the model sees."""

    def thumbnail(self, picture: Picture) -> Path:
        """A smaller one, quick to draw."""


@dataclass(frozen=True, slots=True)
class ShownPicture:
    """A file to be looked at; `facts` are its size and what was done to it, for a caption."""

    path: Path
    title: str
    facts: str = ""
    alt_text: str = ""


def shown_picture(picture: Picture, files: PictureFiles) -> ShownPicture:
    """A picture of a message, for the full view."""
    return ShownPicture(
        files.path(picture), picture.title, picture_facts(picture), picture.alt_text
    )


def picture_facts(picture: Picture) -> str:
    """What the model sees: the size, what it was made of, and what was done on the way."""
    seen = size_words(picture.width, picture.height)
    original = size_words(picture.original_width, picture.original_height)
    sizes = f"The model sees {seen} pixels"
    sizes += "." if seen == original else f", made of {original}."
    return " ".join((sizes, *picture.notes))


def picture_caption(picture: Picture) -> str:
    """The same in a few words, for a card: the size, and whether there is more to read."""
    seen = size_words(picture.width, picture.height)
    if not picture.notes:
        return seen
    return f"{seen} · {'1 note' if len(picture.notes) == 1 else f'{len(picture.notes)} notes'}"


def picture_name(picture: Picture) -> str:
    """What a screen reader says: the description, or else the file's name."""
    return picture.alt_text or picture.title
