"""Pictures as the window has them, without the process that prepares them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QImage

from dflash_desktop.domain.pictures import Picture

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class FolderOfPictures:
    """Where the files are: the same one is shown small and large."""

    folder: Path

    def path(self, picture: Picture) -> Path:
        return self.folder / f"{picture.id}.png"

    def thumbnail(self, picture: Picture) -> Path:
        return self.path(picture)


NO_PICTURES = FolderOfPictures(Path("there-is-no-such-folder"))


def picture(name: str, *, width: int = 64, height: int = 48, notes: Iterable[str] = ()) -> Picture:
    """A picture whose id tells its name."""
    number = name.encode().hex()
    return Picture(number.ljust(64, "0")[:64], name, width, height, width, height, tuple(notes))


def write_picture(files: FolderOfPictures, made: Picture, colour: str) -> None:
    """Put a file of one colour in its place, with a black pixel in the corner."""
    image = QImage(made.width, made.height, QImage.Format.Format_RGB32)
    image.fill(QColor(colour))
    image.setPixelColor(0, 0, QColor("black"))
    files.folder.mkdir(parents=True, exist_ok=True)
    assert image.save(str(files.path(made)))
