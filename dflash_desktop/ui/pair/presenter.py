"""Reads, checks and repairs the pair that the page is about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from PySide6.QtGui import QGuiApplication

from dflash_desktop.domain.check_report import CheckReport
from dflash_desktop.domain.check_summary import CheckSummary, summary_of
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.precision_question import compare_precisions
from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.services.atomic_file import write_atomically, write_problem
from dflash_desktop.services.benchmark import BenchProgress
from dflash_desktop.services.check_history import CheckHistory
from dflash_desktop.services.diagnostics import PrivateFacts
from dflash_desktop.services.draft_precisions import precision_check, readable_precisions
from dflash_desktop.services.fastest_way import measured_ways, ways_of
from dflash_desktop.services.measurement_store import MeasurementStore
from dflash_desktop.services.pair_check import PairCheck
from dflash_desktop.services.pair_library import folders_of
from dflash_desktop.services.pair_repair import PairRepair
from dflash_desktop.services.pair_report import pair_report
from dflash_desktop.services.repair import can_undo
from dflash_desktop.services.settings_store import SettingsStore
from dflash_desktop.services.way_measurement import WayMeasurement
from dflash_desktop.ui.measure.words import progress_numbers
from dflash_desktop.ui.pair.words import ACCEPTED
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from dflash_desktop.services.pair_look import PairLook
    from dflash_desktop.ui.pair.pane import PairPane

_T = TypeVar("_T")


class LoadedPairs(Protocol):
    """Knows which pair the window has loaded."""

    def follow(self, pair: PairFolders) -> None:
        """A pair is being loaded by somebody else: show it as the chosen one."""

    def load_fastest(self, pair_id: str) -> None:
        """Load the fastest way to draft for this pair's target."""

    def take_way_out(self, remedy: Remedy) -> bool:
        """Do what a problem's button says, if it is about loading."""


@dataclass(frozen=True, slots=True)
class PairServices:
    """What the page works with."""

    checks: PairCheck
    repair: PairRepair
    history: CheckHistory
    measurements: MeasurementStore
    settings: SettingsStore
    private: Callable[[], PrivateFacts]
    drafts: Callable[[], tuple[Path, ...]] = tuple
    """The folders of all installed drafts."""
    ways: WayMeasurement | None = None
    pairs: Callable[[], tuple[PairFolders, ...]] = tuple
    """All pairs that can be loaded."""


class PairPagePresenter:
    """One pair at a time; `show` changes it. What runs for the one before is given up."""

    def __init__(self, *, pane: PairPane, services: PairServices, pairs: LoadedPairs) -> None:
        self._pane = pane
        self._services = services
        self._pairs = pairs
        self._pair: PairFolders | None = None
        self._seen: PairLook | None = None
        self._checks: tuple[CheckSummary, ...] = ()
        self._others: tuple[Path, ...] = ()  # the same draft in other precisions
        self._is_repaired = False
        self._is_closing = False
        self._runs = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._tasks = TaskScope(owner=pane, on_problem=pane.show_problem)
        pane.check_requested.connect(lambda: self._run(self._check))
        pane.compare_requested.connect(lambda: self._run(self._compare))
        pane.cancel_requested.connect(self._runs.cancel_all)
        pane.ways.measure_requested.connect(lambda: self._run(self._measure_ways))
        pane.repair.repair_requested.connect(lambda: self._run(self._repair_and_check))
        pane.repair.undo_requested.connect(lambda: self._run(self._undo))
        pane.copy_requested.connect(self._on_copy_requested)
        pane.save_requested.connect(lambda path: self._tasks.start(self._save(Path(path))))
        pane.remedy_chosen.connect(self._on_remedy_chosen)

    @property
    def is_busy(self) -> bool:
        """Whether a check or a repair runs."""
        return self._runs.is_busy

    def show(self, pair: PairFolders) -> None:
        """Show this pair, unless one is being checked: then that one stays."""
        if self._runs.is_busy:
            return
        self._pair, self._seen, self._checks, self._others = pair, None, (), ()
        self._is_repaired = False
        self._pane.show_pair(pair.title)
        self._tasks.cancel_all()
        self._tasks.start(self._look(pair))

    async def close(self) -> None:
        """Cancel, start nothing more, and wait for what runs."""
        self._is_closing = True
        for scope in (self._runs, self._tasks):
            scope.close()
            await scope.wait()

    def _run(self, work: Callable[[PairFolders], Coroutine[object, object, None]]) -> None:
        if self._pair is not None and not self._runs.is_busy:
            self._runs.start(self._framed(work(self._pair)))

    async def _framed(self, work: Coroutine[object, object, None]) -> None:
        """The buttons come back however it ends."""
        try:
            await work
        finally:
            if not self._is_closing:
                self._pane.show_idle()
                self._show_plan()

    async def _look(self, pair: PairFolders) -> None:
        self._checks = await asyncio.to_thread(self._services.history.of_pair, pair.id)
        self._pane.show_checks(self._checks)
        look = self._services.repair.look
        self._seen = await asyncio.to_thread(look, pair.target_dir, pair.draft_dir)
        self._pane.show_contract(self._seen.contract)
        self._show_plan()
        await self._show_ways(pair)
        if pair.draft_dir is not None:
            installed = self._services.drafts()
            self._others = await asyncio.to_thread(readable_precisions, pair.draft_dir, installed)
            self._pane.show_others(len(self._others))

    def _show_plan(self) -> None:
        if self._seen is None:
            return
        verdict = self._checks[0].verdict if self._checks else None
        is_in_vain = self._is_repaired and verdict is not None and verdict not in ACCEPTED
        self._pane.show_plan(self._seen.plan, can_undo=self._seen.can_undo, is_in_vain=is_in_vain)

    async def _check(self, pair: PairFolders) -> None:
        await self._keep(pair, await self._measured(pair))

    async def _compare(self, pair: PairFolders) -> None:
        """The pair's own draft is the last one, so that the chat uses it afterwards."""
        if pair.draft_dir is None:
            return
        self._pane.show_precisions(None)
        others = []
        for draft in self._others:
            other = folders_of(f"{pair.title}, {draft.name}", pair.target_dir, draft)
            report = await self._measured(other, of=draft.name)
            others.append(await asyncio.to_thread(precision_check, draft, report))
        report = await self._measured(pair, of=pair.draft_dir.name)
        await self._keep(pair, report)
        own = await asyncio.to_thread(precision_check, pair.draft_dir, report)
        self._pane.show_precisions(compare_precisions([own, *others]))

    async def _show_ways(self, pair: PairFolders) -> None:
        ways = ways_of(pair, self._services.pairs())
        compared = await asyncio.to_thread(measured_ways, ways, self._services.measurements)
        self._pane.show_ways([way.title for way in ways], compared)

    async def _measure_ways(self, pair: PairFolders) -> None:
        """Every way to draft for this target; the fastest is loaded afterwards."""
        if self._services.ways is None:
            return
        settings = self._services.settings.value
        began = asyncio.get_running_loop().time()
        steps = self._services.ways.run(
            ways_of(pair, self._services.pairs()),
            fast=True,
            device=settings.device,
            kv_cache_precision=settings.kv_cache_precision,
            exact=settings.exact_text,
            on_load=self._pairs.follow,
        )
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, BenchProgress):
                    seconds = asyncio.get_running_loop().time() - began
                    share = step.done / step.total
                    self._pane.show_progress(step.sentence, progress_numbers(step, seconds), share)
        await self._show_ways(pair)
        self._pairs.load_fastest(pair.id)

    async def _measured(self, pair: PairFolders, *, of: str = "") -> CheckReport:
        """One check, with its progress; `of` names the draft where there are several."""
        settings = self._services.settings.value
        began = asyncio.get_running_loop().time()
        named = f"{of}: " if of else ""
        self._pane.show_progress(f"{named}Starting", "", 0.0)
        self._pairs.follow(pair)
        steps = self._services.checks.run(
            pair,
            device=settings.device,
            kv_cache_precision=settings.kv_cache_precision,
            exact=settings.exact_text,
        )
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, CheckReport):
                    return step
                share = step.done / step.total if step.total else 0.0
                seconds = asyncio.get_running_loop().time() - began
                numbers = progress_numbers(step, seconds)
                self._pane.show_progress(f"{named}{step.sentence}", numbers, share)
        raise RuntimeError("a check ended without a report")

    async def _keep(self, pair: PairFolders, report: CheckReport) -> None:
        summary = summary_of(report, pair_id=pair.id, checked_at=datetime.now(UTC))
        self._checks = (summary, *self._checks)
        self._pane.show_checks(self._checks)
        if report.report is not None:
            self._services.measurements.put_check(report.report)
        await asyncio.to_thread(self._services.history.add, summary)
        self._checks = await asyncio.to_thread(self._services.history.of_pair, pair.id)
        self._pane.show_checks(self._checks)

    async def _repair_and_check(self, pair: PairFolders) -> None:
        self._pane.show_progress("Repairing", "", 0.0)
        outcome = await self._services.repair.repair(pair.target_dir, pair.draft_dir)
        self._is_repaired = bool(outcome.changed)
        await self._look(pair)
        if pair.draft_dir is not None:
            await self._check(pair)

    async def _undo(self, pair: PairFolders) -> None:
        self._pane.show_progress("Putting the files back", "", 0.0)
        for folder in (pair.target_dir, pair.draft_dir):
            if folder is not None and await asyncio.to_thread(can_undo, folder):
                await self._services.repair.undo(folder)
        self._is_repaired = False
        await self._look(pair)

    def _report(self) -> str:
        if self._pair is None or self._seen is None:
            return ""
        private = self._services.private()
        title, contract = self._pair.title, self._seen.contract
        return pair_report(title, contract, self._checks, private=private)

    def _on_copy_requested(self) -> None:
        QGuiApplication.clipboard().setText(self._report())
        self._pane.show_copied()

    async def _save(self, path: Path) -> None:
        try:
            await asyncio.to_thread(write_atomically, path, self._report().encode())
        except OSError as error:
            problem = write_problem(error, what="The report", kept="It is still shown here.")
            raise AppError(problem) from error

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            self._run(self._check)
        elif remedy is Remedy.CHOOSE_MODEL:
            self._pane.back_requested.emit()
        else:
            self._pairs.take_way_out(remedy)
