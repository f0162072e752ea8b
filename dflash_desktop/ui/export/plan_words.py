"""How a plan is told: the verdict, the memory as parts of a bar, disk and downloads in a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_plan import ExportVerdict
from dflash_desktop.domain.memory_parts import MemoryPart, PartKind
from dflash_desktop.domain.shell_words import command_line
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import TextRole

if TYPE_CHECKING:
    from dflash_desktop.domain.export_plan import ExportFetch, ExportPlan, ExportStep
    from dflash_desktop.domain.shell_words import Shell

VERDICT_LOOKS: Final = {
    ExportVerdict.FITS: ("This machine can do it", TextRole.GOOD, IconName.CIRCLE_CHECK),
    ExportVerdict.TIGHT: (
        "It is tight, but it may work",
        TextRole.WARN,
        IconName.TRIANGLE_ALERT,
    ),
    ExportVerdict.CANNOT: ("This machine cannot do it now", TextRole.BAD, IconName.CIRCLE_ALERT),
}
"""The word of a verdict, its role, and an icon, so that colour is not needed."""

_IN_USE: Final = "What the system and other programs use now."
_PEAK: Final = "What the largest step takes at its peak. It is watched, and stopped before the "
_LEFT: Final = "What stays free at the peak."


def memory_parts(plan: ExportPlan) -> tuple[MemoryPart, ...]:
    """What is in use, what the export adds, and what is left; more than there is if it lacks."""
    in_use = max(0, plan.memory_total_bytes - plan.available_bytes)
    left = plan.available_bytes - plan.peak_bytes
    parts = (
        MemoryPart(PartKind.OTHERS, in_use, _IN_USE),
        MemoryPart(PartKind.EXPORT, plan.peak_bytes, f"{_PEAK}machine suffers."),
        MemoryPart(PartKind.FREE, left, _LEFT),
    )
    return tuple(part for part in parts if part.size_bytes > 0)


def memory_limit(plan: ExportPlan) -> int:
    """Where the bar has its line: all the memory that there is."""
    return plan.memory_total_bytes or plan.available_bytes


def memory_line(plan: ExportPlan) -> str:
    """The peak against what is free: "9.20 GB at its peak, 11.4 GB are available"."""
    peak, available = format_bytes(plan.peak_bytes), format_bytes(plan.available_bytes)
    return f"About {peak} at its peak. {available} are available now."


def disk_line(plan: ExportPlan) -> str:
    """What it takes of the disk, and what is free."""
    stays, free = format_bytes(plan.disk_bytes), format_bytes(plan.free_disk_bytes)
    while_it_runs = format_bytes(plan.disk_bytes + plan.temporary_bytes)
    tools = ", the export tools among them" if plan.brings_tools else ""
    return f"{while_it_runs} while it runs, {stays} stay{tools}. {free} are free."


def lacks_disk(plan: ExportPlan) -> bool:
    """Whether there is not enough room."""
    return plan.disk_bytes + plan.temporary_bytes > plan.free_disk_bytes


def plan_facts(plan: ExportPlan) -> tuple[tuple[str, str], ...]:
    """Names and values beside one another."""
    disk = disk_line(plan)
    if lacks_disk(plan):
        disk += " That is too little."
    downloads = tuple(("", fetch_line(fetch)) for fetch in plan.fetches)
    return (("Download", download_line(plan)), *downloads, ("Disk", disk))


def fetch_line(fetch: ExportFetch) -> str:
    """What comes from one repository."""
    files = "1 file" if fetch.file_count == 1 else f"{fetch.file_count} files"
    line = f"{fetch.repo_id}: {files}, {format_bytes(fetch.size_bytes)}"
    if fetch.missing_bytes == 0:
        line += ", on this disk already"
    elif fetch.missing_bytes < fetch.size_bytes:
        line += f", of which {format_bytes(fetch.missing_bytes)} are still to come"
    return f"{line}, licence {fetch.licence}" if fetch.licence else line


def download_line(plan: ExportPlan) -> str:
    """What comes over the network in all; nothing if nothing does."""
    missing = sum(fetch.missing_bytes for fetch in plan.fetches)
    if not plan.fetches:
        return "Nothing: the checkpoints are on this disk."
    return f"{format_bytes(missing)} from the hub." if missing else "Nothing: all of it is here."


def step_line(step: ExportStep) -> str:
    """What stands beside a step's title."""
    return f"up to {format_bytes(step.peak_bytes)} of memory" if step.peak_bytes else ""


def commands_text(commands: tuple[tuple[str, ...], ...], shell: Shell) -> str:
    """Command lines as people paste them, one a line."""
    return "\n".join(command_line(words, shell) for words in commands if words)


def start_words(plan: ExportPlan) -> str:
    """What the button says."""
    missing = sum(fetch.missing_bytes for fetch in plan.fetches)
    return f"Fetch {format_bytes(missing)} and export" if missing else "Export"
