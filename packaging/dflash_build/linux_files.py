"""What tells a Linux desktop of the program: entry, metadata, icons, the kind of .gguf files."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from dflash_build import icons, layout

if TYPE_CHECKING:
    from pathlib import Path

_TEMPLATES: Final = layout.PACKAGING / "linux"
_NAME: Final = layout.PACKAGE_NAME


def write_share(share: Path) -> None:
    """Everything below /usr/share but what one packaging format alone wants."""
    for template, place in (
        (f"{_NAME}.desktop", f"applications/{_NAME}.desktop"),
        (f"{_NAME}.metainfo.xml", f"metainfo/{_NAME}.metainfo.xml"),
        (f"{_NAME}.xml", f"mime/packages/{_NAME}.xml"),
    ):
        target = share / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(filled(template), encoding="utf-8")
    for size in icons.SIZES:
        target = share / f"icons/hicolor/{size}x{size}/apps/{_NAME}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(icons.png(size))
    scalable = share / f"icons/hicolor/scalable/apps/{_NAME}.svg"
    scalable.parent.mkdir(parents=True)
    scalable.write_bytes(icons.DRAWING.read_bytes())
    manual = share / f"man/man1/{_NAME}.1.gz"
    manual.parent.mkdir(parents=True)
    manual.write_bytes(gzip.compress(filled(f"{_NAME}.1").encode(), 9, mtime=0))


def filled(template: str) -> str:
    """A file of packaging/linux with the version and the date of this checkout in it."""
    text = (_TEMPLATES / template).read_text(encoding="utf-8")
    date = datetime.fromtimestamp(layout.source_date(), UTC).date().isoformat()
    return text.replace("@VERSION@", layout.project().version).replace("@DATE@", date)
