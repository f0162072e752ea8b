"""Tiny models that really make pictures (tests/data/image_models/README.md)."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Final

_DATA: Final = Path(__file__).parents[1] / "data" / "image_models"

STABLE_DIFFUSION: Final = "stable_diffusion"
QWEN_IMAGE: Final = "qwen_image"


def unpack_image_model(name: str, folder: Path) -> Path:
    """The model as a folder, which is made."""
    folder.mkdir(parents=True)
    with tarfile.open(_DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
