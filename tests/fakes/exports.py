"""Real exports of tiny models, without their weights (tests/data/exports/README.md)."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

_DATA = Path(__file__).parents[1] / "data" / "exports"

ANNOTATED = ("qwen3", "qwen3_moe", "qwen3_5", "qwen3_5_mtp", "gemma4")
"""Targets that optimum-intel annotates."""
BARE = ("llama", "llama_int8", "qwen2_5_vl")
"""Targets that it does not annotate."""


def unpack(name: str, folder: Path) -> Path:
    """The export as a folder; files that no test reads are empty, but of the right size."""
    folder.mkdir(parents=True)
    with tarfile.open(_DATA / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    sizes = folder / "sizes.json"
    for file, size in json.loads(sizes.read_text()).items():
        with (folder / file).open("wb") as stream:
            stream.truncate(size)
    sizes.unlink()
    return folder


def graph_file(folder: Path) -> Path:
    """The XML of the language model."""
    vision = folder / "openvino_language_model.xml"
    return vision if vision.exists() else folder / "openvino_model.xml"
