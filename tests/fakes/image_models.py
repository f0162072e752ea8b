"""Tiny models that really make pictures (tests/data/image_models/README.md)."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Final

from dflash_desktop.domain.image_models import ImageKind, ImageModel

_DATA: Final = Path(__file__).parents[1] / "data" / "image_models"

STABLE_DIFFUSION: Final = "stable_diffusion"
QWEN_IMAGE: Final = "qwen_image"

MODEL: Final = ImageModel(
    id="sd",
    title="Tiny",
    folder=Path("sd"),
    kind=ImageKind.STABLE_DIFFUSION,
    native_px=512,
    size_step_px=64,
    weights_bytes=1,
    decoder_bytes_per_pixel=1,
    has_picture_encoder=True,
)
"""What is known of a model that is on no disk."""


def unpack_image_model(name: str, folder: Path) -> Path:
    """The model as a folder, which is made."""
    folder.mkdir(parents=True)
    with tarfile.open(_DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder
