"""Why a step of an export ended badly: the guard, somebody outside, the disk, the exporter."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_faults import export_problem
from dflash_desktop.domain.export_guard import GuardReason
from dflash_desktop.domain.problems import Problem, Remedy
from dflash_desktop.domain.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from dflash_desktop.workers.guard_messages import StepEnded

_FULL_BYTES: Final = 64 << 20
"""With less left, what could not be written was refused for want of room."""
_CRASHES: Final = frozenset({"SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGTRAP"})
_WINDOWS_CRASHES: Final = {
    0xC0000005: "access violation",
    0xC000001D: "illegal instruction",
    0xC00000FD: "stack overflow",
    0xC0000409: "stack buffer overrun",
}
_KEPT: Final = "Finished stages are kept, and nothing half-made is."
_AGAIN: Final = (Remedy.RETRY, Remedy.OPEN_LOG)


def step_problem(
    ended: StepEnded,
    *,
    estimated_bytes: int,
    failed: Mapping[str, object],
    log: Sequence[str],
    work_dir: Path,
    free_disk_bytes: int | None,
) -> Problem:
    """The words for a step that did not end well.

    `failed` is what the step reported of its own end, empty if it did not; `estimated_bytes` is
    what the plan gave it in memory, 0 if it gave nothing.
    """
    if ended.stopped_by:
        return stopped_by_guard(ended, estimated_bytes=estimated_bytes)
    if not failed and (killed := _killed(ended)) is not None:
        return killed
    problem = export_problem(
        code=str(failed.get("code", "")),
        raw=str(failed.get("raw", "")),
        log=log,
        exit_code=ended.code,
    )
    if free_disk_bytes is not None and free_disk_bytes < _FULL_BYTES:
        return _disk_full(work_dir, free_disk_bytes, detail=problem.detail)
    return problem


def stopped_by_guard(ended: StepEnded, *, estimated_bytes: int) -> Problem:
    """The memory guard ended it: where, why, and how much was missing."""
    tree, available = format_bytes(ended.tree_bytes), format_bytes(ended.available_bytes)
    match ended.stopped_by:
        case GuardReason.LIMIT:
            why = f"its limit of {format_bytes(ended.limit_bytes)} was reached"
        case GuardReason.COMMIT:
            why = "Windows had almost no memory left to promise"
        case GuardReason.SWAP:
            why = "other programs were being moved out to the disk"
        case GuardReason.PRESSURE:
            why = "the whole machine was waiting for memory"
        case _:
            why = f"only {available} of the machine's memory were still available"
    missing = estimated_bytes - ended.tree_bytes
    if missing > 0:
        words = f"About {format_bytes(missing)} more would have been needed"
    else:
        words = "It took more than was estimated, so how much more it needs is not known"
    return Problem(
        code=f"export_guard_{ended.stopped_by}",
        headline=f"The export was stopped by the memory guard at {tree}: {why}.",
        advice=f"{words}. {_way_out(ended.stopped_by)} {_KEPT}",
        detail=(
            f"tree {ended.tree_bytes}, limit {ended.limit_bytes}, available "
            f"{ended.available_bytes}, floor {ended.floor_bytes}, estimate {estimated_bytes}"
        ),
        remedies=_AGAIN,
    )


def _way_out(reason: str) -> str:
    if reason == GuardReason.LIMIT:
        return (
            "Raise the limit in the settings if this machine has the memory, choose a smaller "
            "weight format, or export on another machine."
        )
    if reason == GuardReason.COMMIT:
        return (
            "Let Windows manage the size of its paging file and keep that disk half free, or "
            "close other programs."
        )
    return (
        "Close other programs and unload the chat's model, choose a smaller weight format, or "
        "export on another machine."
    )


def _killed(ended: StepEnded) -> Problem | None:
    """Ended by a signal that the guard did not send; None for an end of its own."""
    if sys.platform == "win32":
        crash = _WINDOWS_CRASHES.get(ended.code & 0xFFFFFFFF)
        return None if crash is None else _crashed(crash)
    if ended.code >= 0:
        return None
    try:
        name = signal.Signals(-ended.code).name
    except ValueError:
        name = f"signal {-ended.code}"
    if name in _CRASHES:
        return _crashed(name)
    if ended.oom_kills and name == "SIGKILL":
        return Problem(
            code="export_out_of_memory",
            headline="Linux ended the export because the machine's memory ran out.",
            advice=f"It had taken {format_bytes(ended.tree_bytes)}. Close other programs, choose "
            f"a smaller weight format, or export on another machine. {_KEPT}",
            detail=f"{name}, {ended.oom_kills} ended by the kernel",
            remedies=_AGAIN,
        )
    return Problem(
        code="export_killed_outside",
        headline=f"The export was ended from outside this program ({name}).",
        advice="A task manager, another person or the system did it, not the memory guard. "
        f"{_KEPT} Let it go on when that is settled.",
        detail=f"{name} at {ended.tree_bytes} bytes, {ended.available_bytes} available",
        remedies=_AGAIN,
    )


def _crashed(how: str) -> Problem:
    return Problem(
        code="export_crashed",
        headline=f"The exporter crashed ({how}).",
        advice="That is a fault in its native code. Try once more; if it happens again, repair "
        f"the export tools or report it with the log. {_KEPT}",
        detail=how,
        remedies=_AGAIN,
    )


def _disk_full(folder: Path, free_bytes: int, *, detail: str) -> Problem:
    return Problem(
        code="disk_full",
        headline="The export stopped: the disk is full.",
        advice=f"{format_bytes(free_bytes)} are left where it works. Free as much as the plan "
        f"says, then let it go on. {_KEPT}",
        detail=f"{folder}\n{detail}",
        remedies=_AGAIN,
    )
