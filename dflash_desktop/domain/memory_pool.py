"""How much memory there is for a model: one pool, counted once, less a reserve."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.device_identity import devices_meant
from dflash_desktop.domain.devices import Device
from dflash_desktop.domain.hardware import Gpu
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from dflash_desktop.domain.hardware import HardwareReport

_ROOM_FOR_PROGRAMS_BYTES: Final = 2_000_000_000
"""A browser with some pages: without it the first thing that the person opens starts swapping."""
_ROOM_FOR_SYSTEM_BYTES: Final = 3_000_000_000
"""A desktop that was just started; needed only where the free memory is not known."""
_CARD_RESERVE_SHARE: Final = 0.05
"""A screen on the card takes some, and the last bytes of a card are in pieces."""


class PoolKind(StrEnum):
    """Where a model would lie."""

    SHARED = "shared"  # built-in graphics: a part of the system's memory, not one more
    CARD = "card"
    SYSTEM = "system"  # the processor computes


@dataclass(frozen=True, slots=True)
class MemoryPool:
    """The memory of the device that was chosen; `gpu` is None for the processor."""

    kind: PoolKind
    gpu: Gpu | None
    total_bytes: int  # of the pool, for choosing a tier
    usable_bytes: int
    reserve_bytes: int
    explanation: str


def memory_pool(
    report: HardwareReport,
    *,
    reserve_bytes: int | None = None,
    device: str = "",
    reclaimable_bytes: int = 0,
) -> MemoryPool:
    """The pool of `device`, or of the best one; `reserve_bytes` replaces the usual reserve.

    `device` is what a choice is stored as, or OpenVINO's name; one that is not there is treated
    as the best one, since loading tells that. `reclaimable_bytes` is what the loaded pair takes:
    another one takes its place, so it counts as free.

    - Card: usable = min(reported, limit) - in use - reserve.
    - Built-in graphics: usable = min(reported - in use, free RAM - reserve). What RAM gives to the
      graphics is missing elsewhere, so the two are never added (case 58).
    - Processor: usable = free RAM - reserve.

    Where the free RAM is not known, all RAM counts as free and the reserve grows by what a system
    takes; where no RAM is known, what the graphics report takes its place. A card that does not
    tell its memory, or offers next to nothing, is not used.
    """
    gpu = _gpu_meant(report, device)
    if gpu is not None and gpu.is_usable_card:
        return _card_pool(gpu, reserve_bytes, reclaimable_bytes)
    if gpu is not None and not gpu.shares_system_memory:
        gpu = None
    return _system_pool(report, gpu, reserve_bytes, reclaimable_bytes)


def _gpu_meant(report: HardwareReport, device: str) -> Gpu | None:
    if device.strip().upper() == "CPU":
        return None
    devices = tuple(
        Device(gpu.device, gpu.name, pci_id=gpu.pci_id) for gpu in report.gpus if gpu.is_intel
    )
    meant = devices_meant(device, devices) if device else ()
    chosen = (gpu for gpu in report.gpus if gpu.device and (gpu.device,) == meant)
    return next(chosen, report.best_gpu)


def _card_pool(gpu: Gpu, wanted_reserve_bytes: int | None, reclaimable_bytes: int) -> MemoryPool:
    offered_bytes = gpu.offered_bytes or 0
    reserve = wanted_reserve_bytes
    if reserve is None:
        reserve = round(offered_bytes * _CARD_RESERVE_SHARE)
    usable = max(0, _left_bytes(gpu, reclaimable_bytes) - reserve)
    return MemoryPool(
        kind=PoolKind.CARD,
        gpu=gpu,
        total_bytes=offered_bytes,
        usable_bytes=usable,
        reserve_bytes=reserve,
        explanation=(
            f"{gpu.name} has {format_bytes(offered_bytes)} that OpenVINO may use; "
            f"{format_bytes(reserve)} stay free for the screen."
        ),
    )


def _system_pool(
    report: HardwareReport,
    gpu: Gpu | None,
    wanted_reserve_bytes: int | None,
    reclaimable_bytes: int,
) -> MemoryPool:
    total, free = report.memory.total_bytes, report.memory.available_bytes
    is_free_known = free is not None
    if free is not None:
        free += reclaimable_bytes
    left_of_gpu = None
    if gpu is not None and gpu.offered_bytes is not None:
        left_of_gpu = _left_bytes(gpu, reclaimable_bytes)
    reserve = wanted_reserve_bytes
    if reserve is None:
        reserve = _ROOM_FOR_PROGRAMS_BYTES + (0 if free is not None else _ROOM_FOR_SYSTEM_BYTES)
    told = [count for count in (free, total) if count is not None]
    if told:
        free = min(told)
        usable = free - reserve if left_of_gpu is None else min(free - reserve, left_of_gpu)
    else:
        free = left_of_gpu or 0
        usable = free - reserve
    return MemoryPool(
        kind=PoolKind.SYSTEM if gpu is None else PoolKind.SHARED,
        gpu=gpu,
        total_bytes=free if total is None else total,
        usable_bytes=max(0, usable),
        reserve_bytes=reserve,
        explanation=_explanation(
            gpu, _memory_words(free, is_free=is_free_known), left_of_gpu, reserve
        ),
    )


def _left_bytes(gpu: Gpu, reclaimable_bytes: int) -> int:
    used_by_others = max(0, (gpu.used_bytes or 0) - reclaimable_bytes)
    return max(0, (gpu.offered_bytes or 0) - used_by_others)


def _explanation(gpu: Gpu | None, memory_words: str, left_of_gpu: int | None, reserve: int) -> str:
    words = f"The processor can use the {memory_words}"
    if gpu is not None:
        words = f"{gpu.name} shares the {memory_words}"
        if left_of_gpu is not None:
            words += f" and may use {format_bytes(left_of_gpu)} of it"
    return f"{words}; {format_bytes(reserve)} of it stay free for other programs."


def _memory_words(count: int, *, is_free: bool) -> str:
    """What is counted: what is free, or all that there is when nobody told what is free."""
    if is_free:
        return f"{format_bytes(count)} of memory that are free"
    return f"{format_bytes(count)} of memory of this machine, of which the free part is not known"
