"""What the queue of exports asks of whoever does the stages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from dflash_desktop.domain.export_run import ExportMemory
from dflash_desktop.services.export_journal import StoredExport

if TYPE_CHECKING:
    from dflash_desktop.domain.export_plan import ExportStep


@dataclass(frozen=True, slots=True)
class StageTelling:
    """How a stage tells what it does; to be called on the loop's thread."""

    progress: Callable[[float | None, str], None]  # share from 0 to 1, and what it is at
    log: Callable[[tuple[str, ...]], None]
    memory: Callable[[ExportMemory], None]  # counted from the stage's start
    notice: Callable[[str], None]  # "" takes the sentence away
    keep: Callable[[StoredExport], Awaitable[None]]  # what must not be forgotten, at once


class Stages(Protocol):
    """Does one stage at a time."""

    async def run(
        self, stored: StoredExport, step: ExportStep, telling: StageTelling
    ) -> StoredExport:
        """Do this stage and give what must be remembered of it.

        Raises `AppError`. Cancelling it ends every process of it and deletes what is half-made.
        """

    def is_still_done(self, stored: StoredExport, step: ExportStep) -> bool:
        """Whether what a finished stage made is there. Blocking."""

    def freeze(self) -> bool:
        """Let the processes of the running stage stand still; False where it has none."""

    def thaw(self) -> None:
        """Let them go on."""

    async def discard(self, stored: StoredExport) -> None:
        """End what an earlier run of the program left running, and delete what was made."""

    async def end_strays(self, stored: StoredExport) -> None:
        """End what an earlier run of the program left running."""
