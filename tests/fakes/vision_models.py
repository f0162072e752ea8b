"""Real models that see pictures, tiny and untrained, with drafts that really get accepted."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.pair import PairFolders

if TYPE_CHECKING:
    from collections.abc import Sequence

_ARCHIVES = Path(__file__).parents[1] / "data" / "vision"
KINDS = ("qwen3_5", "gemma4", "qwen2_5_vl")


def vision_pair(folder: Path, kind: str) -> PairFolders:
    """Unpack a target and its draft into `folder`, unless they are there."""
    for part in ("target", "draft"):
        place = folder / f"{kind}_{part}"
        if not place.is_dir():
            with tarfile.open(_ARCHIVES / f"{kind}_{part}.tar.xz") as archive:
                archive.extractall(place, filter="data")
    return PairFolders(kind, kind, folder / f"{kind}_target", folder / f"{kind}_draft")


def write_picture(
    file: Path, width: int, height: int, colour: Sequence[int] = (200, 40, 40)
) -> Path:
    """A prepared picture: a gradient of one colour."""
    from PIL import Image

    ramp = Image.linear_gradient("L").resize((width, height))
    bands = [ramp.point([level * value // 255 for level in range(256)]) for value in colour]
    Image.merge("RGB", bands).save(file)
    return file
