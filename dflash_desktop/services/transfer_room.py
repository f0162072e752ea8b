"""Whether there is room for what a transfer still needs, before its first byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.transfer import TransferPlan
from dflash_desktop.services import transfer_problems as problems
from dflash_desktop.workers.disk_room import free_disk_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.transfer import RepoPlan

_MARGIN_BYTES: Final = 32 * 1024 * 1024


def prepare_folder(folder: Path, plans: tuple[RepoPlan, ...]) -> bool:
    """Make the folder, and refuse what cannot fit; whether something is here already. Blocking.

    Raises `AppError` ("disk_full") with what is needed and free, and `OSError`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plan = kept_plan(folder, plans)
    needed, free = plan.needed_disk_bytes, plan.free_disk_bytes
    if needed > 0 and needed + min(_MARGIN_BYTES, needed // 10) > free:
        raise AppError(problems.disk_full(folder, needed_bytes=needed, free_bytes=free))
    return needed < plan.total_bytes


def kept_plan(folder: Path, plans: tuple[RepoPlan, ...]) -> TransferPlan:
    """What was planned before, with what is here and free by now. Blocking; raises `OSError`."""
    present = max(folder_bytes(folder), sum(plan.present_bytes for plan in plans))
    needed = sum(plan.size_bytes for plan in plans) - present
    return TransferPlan(plans, max(needed, 0), free_disk_bytes(folder))


def folder_bytes(folder: Path) -> int:
    """The sum of all files below a folder; what vanishes meanwhile counts nothing. Blocking."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:
            continue
    return total
