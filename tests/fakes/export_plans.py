"""Plans of exports, and stages that do nothing but what a test wants."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dflash_desktop.domain.export_plan import ExportPlan, ExportStep, ExportVerdict, StepKind
from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)
from dflash_desktop.services.export_stages import StageTelling

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.problems import AppError
    from dflash_desktop.services.export_journal import StoredExport

CONVERT = ExportStep("convert-draft", StepKind.CONVERT, "Convert the draft")
CHECK = ExportStep("check-draft", StepKind.CHECK, "Check the draft")
FINISH = ExportStep("finish", StepKind.FINISH, "Put it into the library")


def draft_plan(
    source: Path,
    *,
    steps: tuple[ExportStep, ...] = (CONVERT, CHECK, FINISH),
    title: str = "A draft",
    peak_bytes: int = 0,
    output_dir: Path | None = None,
) -> ExportPlan:
    """The plan of one draft from a folder."""
    item = ExportItem(
        ExportRole.DRAFT, ExportSource(SourceKind.FOLDER, path=source), WeightFormat.INT8
    )
    return ExportPlan(
        request=ExportRequest(title, (item,)),
        environment_id="transformers-5.5",
        steps=steps,
        peak_bytes=peak_bytes,
        peak_formula="",
        disk_bytes=0,
        temporary_bytes=0,
        free_disk_bytes=0,
        available_bytes=0,
        verdict=ExportVerdict.FITS,
        output_dir=output_dir,
    )


@dataclass
class FakeStages:
    """Each stage waits for the test to let it go, or to fail it."""

    can_freeze: bool = True
    begun: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    discarded: list[str] = field(default_factory=list)
    swept: list[str] = field(default_factory=list)
    holds: list[str] = field(default_factory=list)
    telling: StageTelling | None = None
    _gate: asyncio.Future[None] | None = None

    async def run(
        self, stored: StoredExport, step: ExportStep, telling: StageTelling
    ) -> StoredExport:
        self.begun.append(step.name)
        self.telling = telling
        self._gate = asyncio.get_running_loop().create_future()
        await self._gate
        return replace(stored)

    def is_still_done(self, stored: StoredExport, step: ExportStep) -> bool:
        return step.name not in self.gone

    def freeze(self) -> bool:
        if self.can_freeze:
            self.holds.append("freeze")
        return self.can_freeze

    def thaw(self) -> None:
        self.holds.append("thaw")

    async def discard(self, stored: StoredExport) -> None:
        self.discarded.append(stored.id)

    async def end_strays(self, stored: StoredExport) -> None:
        self.swept.append(stored.id)

    async def let_go(self, name: str, error: AppError | Exception | None = None) -> None:
        """End the stage of this name once it runs."""
        await until(lambda: bool(self.begun) and self.begun[-1] == name and self._is_open())
        assert self._gate is not None
        if error is None:
            self._gate.set_result(None)
        else:
            self._gate.set_exception(error)
        await asyncio.sleep(0)

    def _is_open(self) -> bool:
        return self._gate is not None and not self._gate.done()


async def until(is_so: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for a condition; fails when it does not come."""
    async with asyncio.timeout(seconds):
        while not is_so():  # noqa: ASYNC110 - of what a test looks at nobody tells
            await asyncio.sleep(0.005)
