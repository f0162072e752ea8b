"""How an environment for exports is told: its state, its size, what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_environment import EnvironmentState
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.ui.icons import IconName
from dflash_desktop.ui.theme import TextRole

if TYPE_CHECKING:
    from dflash_desktop.domain.export_environment import EnvironmentStatus

STATE_LOOKS: Final = {
    EnvironmentState.ABSENT: ("not installed", TextRole.MUTED, IconName.CIRCLE),
    EnvironmentState.INSTALLING: ("installing", TextRole.MUTED, IconName.DOWNLOAD),
    EnvironmentState.READY: ("ready", TextRole.GOOD, IconName.CIRCLE_CHECK),
    EnvironmentState.OUTDATED: ("out of date", TextRole.WARN, IconName.TRIANGLE_ALERT),
    EnvironmentState.DAMAGED: ("damaged", TextRole.BAD, IconName.CIRCLE_ALERT),
}
"""The word beside the title, its role, and an icon."""

INTRO: Final = (
    "PyTorch for the processor and the exporter, apart from this program. No single version "
    "exports every model. An export installs what it lacks; what is not used any more can go."
)
DEVELOPMENT: Final = "Development version: it may break, and is never mixed with the others."


def size_line(status: EnvironmentStatus) -> str:
    """What it takes of the disk, or would take."""
    if status.state is EnvironmentState.ABSENT:
        return f"Takes {format_bytes(status.needed_bytes)} of the disk"
    return f"{format_bytes(status.size_bytes)} on the disk" if status.size_bytes else ""


def install_words(status: EnvironmentStatus) -> str:
    """What the first button says; nothing where there is none."""
    match status.state:
        case EnvironmentState.ABSENT:
            return f"Install {format_bytes(status.needed_bytes)}"
        case EnvironmentState.OUTDATED:
            return "Update"
        case EnvironmentState.DAMAGED:
            return "Repair"
        case EnvironmentState.READY | EnvironmentState.INSTALLING:
            return ""


def summary(statuses: tuple[EnvironmentStatus, ...]) -> str:
    """All of them in a line: "2 of 4 installed, 1.85 GB"."""
    here = [s for s in statuses if s.state is not EnvironmentState.ABSENT]
    if not here:
        return "None is installed."
    size = format_bytes(sum(status.size_bytes for status in here))
    return f"{len(here)} of {len(statuses)} installed, {size}."


def progress_numbers(done_bytes: int, total_bytes: int) -> str:
    """How much of an installation is there; nothing while there is nothing to count."""
    if not total_bytes:
        return ""
    return f"{format_bytes(done_bytes)} of {format_bytes(total_bytes)}"
