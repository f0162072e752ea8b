"""A program that exports with small tools: real processes, a real guard and a real library."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import psutil

from dflash_desktop.domain.export_plan import ExportPlan, ExportStep, StepKind
from dflash_desktop.domain.export_recipes import Recipe, convert_command
from dflash_desktop.domain.export_request import (
    ExportItem,
    ExportRequest,
    ExportRole,
    ExportSource,
    SourceKind,
    WeightFormat,
)
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.check_history import CheckHistory
from dflash_desktop.services.export_finish import ExportFinish
from dflash_desktop.services.export_guard import MARK_VARIABLE, ExportGuard
from dflash_desktop.services.export_work import ExportWork
from dflash_desktop.services.exports import Exports
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.model_library import ModelLibrary
from dflash_desktop.services.pair_library import folders_of
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.fakes.export_plans import draft_plan
from tests.fakes.fake_exporter import FakeEnvironments
from tests.fakes.library_world import app_paths

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.export_environments import ExportEnvironments
    from dflash_desktop.services.export_fetch import ExportFetch
    from dflash_desktop.services.pair_check import PairCheck
    from dflash_desktop.services.pair_library import PairLibrary


@dataclass
class AddedPairs:
    """The pairs that were added."""

    added: list[tuple[str, Path, Path | None]] = field(default_factory=list)

    async def add(self, title: str, target_dir: Path, draft_dir: Path | None) -> PairFolders:
        self.added.append((title, target_dir, draft_dir))
        return folders_of(title, target_dir, draft_dir)


class ExportWorld:
    """One program on its folders; `open` is its next start."""

    def __init__(
        self, root: Path, tools: FakeEnvironments | ExportEnvironments | None = None
    ) -> None:
        self.paths: AppPaths = app_paths(root)
        self.source = root / "source"
        self.source.mkdir(exist_ok=True)
        self.pairs = AddedPairs()
        self.library = ModelLibrary(paths=self.paths)
        self.limit_bytes: int | None = None
        self.fetch: ExportFetch | None = None
        self._tools = tools or FakeEnvironments(root / "tools")
        self._opened: list[Exports] = []

    def open(self) -> Exports:
        finish = ExportFinish(
            library=self.library,
            pairs=cast("PairLibrary", self.pairs),
            settings=SettingsStore(self.paths.settings_file),
            history=CheckHistory(self.paths.checks_file),
            measurements=MeasurementStore(self.paths.measurements_file),
            make_check=_no_check,
        )
        work = ExportWork(
            paths=self.paths,
            environments=cast("ExportEnvironments", self._tools),
            guard=ExportGuard(launcher=WorkerLauncher(log_dir=self.paths.log_dir)),
            fetch=cast("ExportFetch", self.fetch),
            finish=finish,
            limit_bytes=lambda: self.limit_bytes,
        )
        self._opened.append(Exports(paths=self.paths, stages=work))
        return self._opened[-1]

    def plan(self, *roles: ExportRole, output_dir: Path | None = None) -> ExportPlan:
        return export_plan(self.source, *roles, output_dir=output_dir)

    def left(self) -> list[str]:
        """What lies where exports work."""
        incoming = self.paths.incoming_dir
        return sorted(p.relative_to(incoming).as_posix() for p in incoming.rglob("*"))

    async def close(self) -> None:
        for exports in self._opened:
            await exports.close()


def _no_check() -> tuple[Engine, PairCheck]:
    raise AppError(Problem("no_engine", "There is no engine here.", ""))


def export_plan(
    source: Path, *roles: ExportRole, output_dir: Path | None = None, peak_bytes: int = 0
) -> ExportPlan:
    """A plan with a conversion and a check for each role."""
    items, converts, checks = [], [], []
    for role in roles:
        recipe = Recipe.DRAFT if role is ExportRole.DRAFT else Recipe.TEXT_TARGET
        command = convert_command(
            recipe, model=source.name, output="out", weight_format=WeightFormat.INT8
        )
        items.append(
            ExportItem(role, ExportSource(SourceKind.FOLDER, path=source), WeightFormat.INT8)
        )
        converts.append(
            ExportStep(f"convert-{role}", StepKind.CONVERT, f"Export the {role}", command)
        )
        checks.append(ExportStep(f"check-{role}", StepKind.CHECK, f"Check the {role}"))
    steps = (*converts, *checks, ExportStep("finish", StepKind.FINISH, "Keep it"))
    plan = draft_plan(source, steps=steps, output_dir=output_dir, peak_bytes=peak_bytes)
    return replace(plan, request=ExportRequest("A pair", tuple(items), threads=1))


def marked_processes(run_id: str) -> list[psutil.Process]:
    """What still runs of an export."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK_VARIABLE) == run_id:
                found.append(process)
        except psutil.Error:
            continue
    return [process for process in found if process.status() != psutil.STATUS_ZOMBIE]
