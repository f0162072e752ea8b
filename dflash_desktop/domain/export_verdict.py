"""Whether an export can work on a machine as it is now, and what to do if not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_estimate import largest_likely_bytes
from dflash_desktop.domain.export_plan import ExportAlternative, ExportVerdict
from dflash_desktop.domain.export_request import ExportRole, SourceKind, WeightFormat
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflash_desktop.domain.catalogue import CataloguePair
    from dflash_desktop.domain.export_request import ExportItem, ExportRequest

_LAST_BYTES: Final = 500_000_000
"""What must stay free even where it is tight: below it a desktop stands still."""
_LARGEST_FAT_FILE_BYTES: Final = (4 << 30) - 1


@dataclass(frozen=True, slots=True)
class ExportRoom:
    """The machine at this moment, in bytes."""

    memory_total_bytes: int
    memory_free_bytes: int
    swap_free_bytes: int
    reserve_bytes: int  # for what else the person does
    disk_free_bytes: int
    file_system: str = ""  # "vfat"; empty: not known
    commit_left_bytes: int | None = None  # Windows only

    @property
    def available_bytes(self) -> int:
        """Memory that an export can take without harming other programs."""
        free = self.memory_free_bytes - self.reserve_bytes
        if self.commit_left_bytes is not None:
            free = min(free, self.commit_left_bytes - _LAST_BYTES)
        return max(0, free)

    @property
    def largest_file_bytes(self) -> int | None:
        """Of the output's file system; None: no limit that matters."""
        is_fat = self.file_system.lower() in {"vfat", "fat", "fat32", "msdos"}
        return _LARGEST_FAT_FILE_BYTES if is_fat else None


@dataclass(frozen=True, slots=True)
class ExportNeed:
    """What an export takes at its worst moment, in bytes."""

    peak_bytes: int
    disk_bytes: int  # of all that is written, what stays and what goes
    largest_file_bytes: int


def judge(need: ExportNeed, room: ExportRoom) -> tuple[ExportVerdict, tuple[str, ...]]:
    """The verdict, and the reasons for it in sentences, the weightiest first."""
    blocking = (*_disk_reasons(need, room), *_memory_reasons(need, room))
    if blocking:
        return ExportVerdict.CANNOT, blocking
    likely = largest_likely_bytes(need.peak_bytes)
    if likely <= room.available_bytes:
        words = (
            f"It takes about {format_bytes(need.peak_bytes)} of memory at most, and "
            f"{format_bytes(room.available_bytes)} can be had without harming other programs."
        )
        return ExportVerdict.FITS, (words,)
    words = (
        f"It takes about {format_bytes(need.peak_bytes)} of memory, perhaps "
        f"{format_bytes(likely)}, and {format_bytes(room.available_bytes)} can be had without "
        "harming other programs. Close some first; the export is stopped before the machine "
        "stands still."
    )
    return ExportVerdict.TIGHT, (words,)


def _memory_reasons(need: ExportNeed, room: ExportRoom) -> tuple[str, ...]:
    left = room.commit_left_bytes
    if left is not None and left < need.peak_bytes:
        words = (
            f"Windows can promise {format_bytes(max(0, left))} more memory, and the export asks "
            f"for {format_bytes(need.peak_bytes)}. Let Windows manage the size of the paging "
            "file, or close other programs."
        )
        return (words,)
    most = room.memory_free_bytes + room.swap_free_bytes // 2 - _LAST_BYTES
    if need.peak_bytes <= most:
        return ()
    words = f"It takes about {format_bytes(need.peak_bytes)} of memory. "
    if need.peak_bytes > room.memory_total_bytes:
        return (words + f"This machine has {format_bytes(room.memory_total_bytes)} in all.",)
    return (words + f"Only {format_bytes(room.memory_free_bytes)} are free now.",)


def _disk_reasons(need: ExportNeed, room: ExportRoom) -> tuple[str, ...]:
    reasons = []
    if need.disk_bytes > room.disk_free_bytes:
        reasons.append(
            f"It writes up to {format_bytes(need.disk_bytes)}, its temporary files included, and "
            f"{format_bytes(room.disk_free_bytes)} are free on the disk of the output."
        )
    limit = room.largest_file_bytes
    if limit is not None and need.largest_file_bytes > limit:
        reasons.append(
            f"The disk of the output is formatted as FAT, which holds no file over 4 GB, and the "
            f"largest file has {format_bytes(need.largest_file_bytes)}."
        )
    return tuple(reasons)


def alternatives(
    request: ExportRequest,
    *,
    pairs: Iterable[CataloguePair],
    commands: tuple[str, ...],
    smaller_helps: bool,
) -> tuple[ExportAlternative, ...]:
    """The ways out, the best first: what somebody made, a smaller format, another machine."""
    found = [_prebuilt(pair) for pair in pairs if pair.is_prebuilt and _is_of(pair, request)]
    smaller = _smaller(request) if smaller_helps else None
    if smaller is not None:
        formats = " and ".join(dict.fromkeys(str(item.weight_format) for item in smaller.items))
        advice = "Smaller weights take less memory at the end of the export, and less to run."
        found.append(ExportAlternative(f"Export to {formats}", advice, request=smaller))
    found.append(
        ExportAlternative(
            "Export on another machine",
            "Run these lines on a machine with more memory, then copy the new folders here and "
            "add them to the models.",
            commands=commands,
        )
    )
    return tuple(found)


def _prebuilt(pair: CataloguePair) -> ExportAlternative:
    return ExportAlternative(
        f"Get {pair.title}",
        "Somebody has exported it already: it only has to be downloaded.",
        pair_id=pair.id,
    )


def _is_of(pair: CataloguePair, request: ExportRequest) -> bool:
    """Whether it is the same model, by the last part of its repository's name.

    A name of one word ("qwen3") is a family's, or anything: it names no model.
    """
    wanted = {_stem(item) for item in request.items if item.role is ExportRole.TARGET}
    wanted = wanted or {_stem(item) for item in request.items}
    words = f"{pair.target.id} {pair.target.title} {pair.target.repository or ''}".lower()
    return any("-" in stem and stem in words.replace(" ", "-") for stem in wanted)


def _stem(item: ExportItem) -> str:
    if item.source.kind is SourceKind.HUB:
        return item.source.repo_id.rpartition("/")[2].lower()
    return "" if item.source.path is None else item.source.path.name.lower()


def _smaller(request: ExportRequest) -> ExportRequest | None:
    """The next smaller format for every item that has one; None when all are the smallest."""
    step = {WeightFormat.FP16: WeightFormat.INT8, WeightFormat.INT8: WeightFormat.INT4}
    items = tuple(
        replace(item, weight_format=step.get(item.weight_format, item.weight_format))
        for item in request.items
    )
    return None if items == request.items else replace(request, items=items)
