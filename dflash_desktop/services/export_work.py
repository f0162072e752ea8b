"""Does the stages of an export: tools, checkpoint, conversion, and what finishes it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import shutil
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_guard import GuardReason, GuardVerdict
from dflash_desktop.domain.export_plan import StepKind
from dflash_desktop.domain.export_recipes import PROGRAM
from dflash_desktop.domain.export_run import ExportMemory
from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.shell_words import command_line, shells_of
from dflash_desktop.domain.units import format_bytes
from dflash_desktop.services.export_failures import step_problem
from dflash_desktop.services.export_guard import StepCommand, end_strays
from dflash_desktop.services.export_journal import EXPORT_PREFIX
from dflash_desktop.services.export_stages import StageTelling
from dflash_desktop.services.export_steps import (
    checkpoint_dir,
    item_of,
    model_dir,
    source_dir,
    step_argv,
    temporary_dir,
)
from dflash_desktop.services.library_place import require_place
from dflash_desktop.services.worker_launch import worker_environment
from dflash_desktop.workers.disk_room import told_free_disk_bytes
from dflash_desktop.workers.guard_messages import StepMemory, StepSaid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from dflash_desktop.domain.export_environment import EnvironmentProgress
    from dflash_desktop.domain.export_plan import ExportStep
    from dflash_desktop.paths import AppPaths
    from dflash_desktop.services.export_environments import ExportEnvironments
    from dflash_desktop.services.export_fetch import ExportFetch
    from dflash_desktop.services.export_finish import ExportFinish
    from dflash_desktop.services.export_guard import ExportGuard
    from dflash_desktop.services.export_journal import StoredExport
    from dflash_desktop.workers.protocol import Event

_log = logging.getLogger(__name__)

_LOG_TAIL: Final = 200
_KEPT_LOGS: Final = 20
_REMOVALS: Final = 5
_REMOVAL_PAUSE_SECONDS: Final = 0.2


class ExportWork:
    """The stages as they really are; `Exports` runs them in order."""

    def __init__(
        self,
        *,
        paths: AppPaths,
        environments: ExportEnvironments,
        guard: ExportGuard,
        fetch: ExportFetch,
        finish: ExportFinish,
        limit_bytes: Callable[[], int | None],
    ) -> None:
        """`limit_bytes` is what the person allows an export to take; None: what is usual."""
        self._paths = paths
        self._environments = environments
        self._guard = guard
        self._fetch = fetch
        self._finish = finish
        self._limit_bytes = limit_bytes

    async def run(
        self, stored: StoredExport, step: ExportStep, telling: StageTelling
    ) -> StoredExport:
        """Do this stage. Raises `AppError`, `OSError`."""
        if stored.plan.output_dir is None:
            require_place(self._paths)
        work_dir = stored.work_dir(self._paths)
        await asyncio.to_thread(work_dir.mkdir, parents=True, exist_ok=True)
        match step.kind:
            case StepKind.ENVIRONMENT:
                await self._environments.install(
                    stored.plan.environment_id, lambda news: _tell_tools(news, telling)
                )
            case StepKind.FETCH:
                return await self._fetch.run(stored, step, telling, work_dir=work_dir)
            case StepKind.CONVERT:
                await self._convert(stored, step, telling, work_dir)
            case StepKind.CHECK:
                return await self._finish.check(stored, step, telling, work_dir=work_dir)
            case StepKind.MEASURE:
                return await self._finish.measure(stored, telling, work_dir=work_dir)
            case StepKind.FINISH:
                return await self._finish.put_in_place(stored, telling, work_dir=work_dir)
        return stored

    def is_still_done(self, stored: StoredExport, step: ExportStep) -> bool:
        """Whether what it made is there. Blocking."""
        work_dir = stored.work_dir(self._paths)
        match step.kind:
            case StepKind.ENVIRONMENT:
                with contextlib.suppress(AppError):
                    return self._environments.python(stored.plan.environment_id).exists()
                return False
            case StepKind.FETCH:
                return source_dir(item_of(stored.plan, step), work_dir).exists()
            case StepKind.CONVERT | StepKind.CHECK:
                role = item_of(stored.plan, step).role
                made = _output_dir(stored, step, work_dir)
                return made.exists() or self._finish.is_in_place(stored, role)
            case _:
                return True

    def freeze(self) -> bool:
        """Only a step has processes that can stand still."""
        return self._guard.hold(is_held=True)

    def thaw(self) -> None:
        """See `freeze`."""
        self._guard.hold(is_held=False)

    async def end_strays(self, stored: StoredExport) -> None:
        """End what an earlier run of the program left running."""
        await end_strays(stored.id)

    async def discard(self, stored: StoredExport) -> None:
        """Delete what was made; what cannot go stays, and is found as a leftover."""
        await end_strays(stored.id)
        await asyncio.to_thread(_remove, stored.work_dir(self._paths))

    async def _convert(
        self, stored: StoredExport, step: ExportStep, telling: StageTelling, work_dir: Path
    ) -> None:
        python = self._environments.python(stored.plan.environment_id)
        output, temporary = _output_dir(stored, step, work_dir), temporary_dir(work_dir)
        log_file = stored.log_file(self._paths)
        heard = _Heard(telling)
        heard.say(f"$ {command_line(step.command, shells_of(sys.platform)[0])}")
        await asyncio.to_thread(_prepare, output, temporary, log_file, heard.lines[-1])
        command = StepCommand(
            argv=step_argv(stored.plan, step, python=python, work_dir=work_dir),
            env=_environment(temporary),
            work_dir=work_dir,
            log_file=log_file,
            mark=stored.id,
            limit_bytes=self._limit_bytes(),
        )
        is_made = False
        try:
            ended = await self._guard.run(command, heard.hear)
            is_made = ended.code == 0 and not ended.stopped_by and not heard.failed
            if not is_made:
                raise AppError(
                    step_problem(
                        ended,
                        estimated_bytes=step.peak_bytes or stored.plan.peak_bytes,
                        failed=heard.failed,
                        log=heard.lines,
                        work_dir=work_dir,
                        free_disk_bytes=told_free_disk_bytes(work_dir),
                    )
                )
        finally:
            # Also when it was cancelled: nothing half-made may be taken for a model.
            for folder in (temporary, *(() if is_made else (output,))):
                await asyncio.shield(asyncio.to_thread(_remove, folder))


@dataclass(slots=True)
class _Heard:
    """What a step said, told to whoever looks."""

    telling: StageTelling
    lines: list[str] = field(default_factory=list)
    failed: dict[str, object] = field(default_factory=dict)
    _share: float | None = None
    _detail: str = ""

    def say(self, *lines: str) -> None:
        self.lines = [*self.lines, *lines][-_LOG_TAIL:]
        self.telling.log(lines)

    def hear(self, event: Event) -> None:
        if isinstance(event, StepMemory):
            self.telling.memory(
                ExportMemory(
                    event.at_seconds,
                    event.tree_bytes,
                    event.available_bytes,
                    event.limit_bytes,
                    event.floor_bytes,
                )
            )
            self.telling.notice(guard_notice(event))
        elif isinstance(event, StepSaid):
            if event.lines:
                self.say(*event.lines)
            for report in event.reports:
                self._take(report)
            self.telling.progress(self._share, event.open_line or self._detail)

    def _take(self, report: dict[str, object]) -> None:
        failed, share = report.get("failed"), report.get("share")
        if isinstance(failed, dict):
            self.failed = failed
        if isinstance(share, int | float):
            self._share = min(max(float(share), 0.0), 1.0)
            self._detail = str(report.get("detail", ""))[:200]


def guard_notice(event: StepMemory) -> str:
    """What the guard sees and does, in one sentence; "" while all is well."""
    verdict = GuardVerdict(event.verdict)
    if verdict is GuardVerdict.CONTINUE:
        return ""
    match event.reason:
        case GuardReason.LIMIT:
            what = (
                f"The export takes {format_bytes(event.tree_bytes)} of the "
                f"{format_bytes(event.limit_bytes)} that it may."
            )
        case GuardReason.SWAP:
            what = "Other programs are being moved out to the disk."
        case GuardReason.PRESSURE:
            what = "The machine is waiting for memory."
        case _:
            what = f"Memory is getting short: {format_bytes(event.available_bytes)} are left."
    if verdict is GuardVerdict.WARN:
        return what
    return f"{what} Its priority was lowered; it is stopped before the machine suffers."


def _output_dir(stored: StoredExport, step: ExportStep, work_dir: Path) -> Path:
    role = item_of(stored.plan, step).role
    is_prepared = step.command[: len(PROGRAM)] == PROGRAM
    return checkpoint_dir(role, work_dir) if is_prepared else model_dir(role, work_dir)


def _environment(temporary: Path) -> dict[str, str]:
    """Without what could change the tools, and with temporary files beside the output."""
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(temporary))
    return {
        **worker_environment(),
        **places,
        "HF_HUB_OFFLINE": "1",  # all files are here; nobody need know what is exported
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
    }


def _prepare(output: Path, temporary: Path, log_file: Path, first_line: str) -> None:
    """An empty place, and a log that begins with the command. Blocking; raises `OSError`."""
    for folder in (output, temporary):
        if folder.exists():
            shutil.rmtree(folder)
    temporary.mkdir(parents=True)
    with contextlib.suppress(OSError):  # an export without a log is better than none
        log_file.parent.mkdir(parents=True, exist_ok=True)
        with log_file.open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"{first_line}\n")
        logs = sorted(
            log_file.parent.glob(f"{EXPORT_PREFIX}*.log"), key=lambda file: file.stat().st_mtime
        )
        for old in logs[:-_KEPT_LOGS]:
            old.unlink()


def _remove(folder: Path) -> None:
    """Delete a folder, patiently on Windows, where scanners hold files for a moment (case 46)."""
    for attempt in range(_REMOVALS):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(_REMOVAL_PAUSE_SECONDS * attempt)
    _log.info("%s could not be deleted; it is shown as a leftover", folder)


def _tell_tools(news: EnvironmentProgress, telling: StageTelling) -> None:
    share = news.done_bytes / news.total_bytes if news.total_bytes else None
    telling.progress(share, news.sentence)
