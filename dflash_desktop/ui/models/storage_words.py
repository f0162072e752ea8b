"""What the models page says about room on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.library import LeftoverKind
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.models.storage_card import StorageContent

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dflash_desktop.domain.library import CacheSize, InstalledModel, Leftover

_KIND_WORDS: Final = {
    LeftoverKind.TRANSFER: "an interrupted download",
    LeftoverKind.REPLACED: "an older version",
    LeftoverKind.REMOVED: "an interrupted removal",
    LeftoverKind.EXPORT: "an interrupted export",
    LeftoverKind.MOVED: "a former place of the library",
}
_NAMED: Final = 3


def removable(leftovers: Sequence[Leftover]) -> list[Leftover]:
    """Those that the program can explain; what may be a person's own is not among them."""
    return [one for one in leftovers if one.kind is not LeftoverKind.UNKNOWN]


def storage_content(
    library_dir: Path,
    *,
    models: Sequence[InstalledModel],
    free_bytes: int | None,
    leftovers: Sequence[Leftover],
    cache: CacheSize,
) -> StorageContent:
    """The whole card; `free_bytes` is None where the disk does not tell."""
    ours = [model for model in models if model.is_ours]
    taken = sum(model.manifest.size_bytes for model in ours)
    told = []
    if ours:
        count = f"{len(ours)} model{'s' if len(ours) != 1 else ''}"
        told.append(f"{format_bytes(taken)} in {count}")
    if free_bytes is not None:
        told.append(f"{format_bytes(free_bytes)} free")
    mine = removable(leftovers)
    size = format_bytes(sum(one.size_bytes for one in mine))
    cache_size = format_bytes(cache.size_bytes)
    return StorageContent(
        library_dir=str(library_dir),
        library_words=", ".join(told),
        leftover_words=size if mine else "",
        leftover_names=_names(leftovers),
        leftover_label=f"Remove {size}",
        cache_words=cache_size if cache.size_bytes > 0 else "",
        cache_label=f"Clear {cache_size}",
    )


def _names(leftovers: Sequence[Leftover]) -> str:
    mine = removable(leftovers)
    strange = [one for one in leftovers if one.kind is LeftoverKind.UNKNOWN]
    lines = [
        f"{one.title}: {_KIND_WORDS[one.kind]}, {format_bytes(one.size_bytes)}"
        for one in mine[:_NAMED]
    ]
    if len(mine) > _NAMED:
        lines.append(f"and {len(mine) - _NAMED} more")
    for one in strange[:_NAMED]:
        what = "it looks like a model: add it as a folder" if one.looks_like_model else "not ours"
        lines.append(f"{one.path}: {format_bytes(one.size_bytes)}, left alone; {what}")
    return "\n".join(lines)
