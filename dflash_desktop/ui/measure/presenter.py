"""Measures for the measure page, and keeps it true about the loaded model."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtGui import QGuiApplication

from dflash_desktop.domain.benchmark import BenchReport
from dflash_desktop.domain.engine_state import loaded_pair
from dflash_desktop.domain.generation import DraftState
from dflash_desktop.domain.problems import AppError, Remedy
from dflash_desktop.services.atomic_file import write_atomically, write_problem
from dflash_desktop.services.bench_form import bench_form
from dflash_desktop.services.safe_json import encode_json
from dflash_desktop.ui.measure.words import progress_numbers
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.generation import DraftUse
    from dflash_desktop.domain.pair import LoadedPair, PairFolders
    from dflash_desktop.services.benchmark import Benchmark
    from dflash_desktop.services.engine import Engine
    from dflash_desktop.services.measurement_store import MeasurementStore
    from dflash_desktop.ui.measure.pane import MeasurePane
    from dflash_desktop.ui.pair_presenter import PairPresenter

_NO_MODEL = "Load a model first. Then you can measure what its draft is worth on this device."
_NO_DRAFT = "This model is loaded without a draft, so there is nothing to compare."


class MeasurePresenter:
    """`plan` says what the chat will do with the draft."""

    def __init__(
        self,
        *,
        pane: MeasurePane,
        engine: Engine,
        benchmark: Benchmark,
        measurements: MeasurementStore,
        pairs: PairPresenter,
        plan: Callable[[], DraftUse],
        set_draft_enabled: Callable[[bool], None],
        on_remedy: Callable[[Remedy], None],
    ) -> None:
        self._pane = pane
        self._engine = engine
        self._benchmark = benchmark
        self._measurements = measurements
        self._pairs = pairs
        self._plan = plan
        self._set_draft_enabled = set_draft_enabled
        self._on_remedy = on_remedy
        self._runs = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._tasks = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._is_closing = False
        self.is_measuring = False
        pairs.subscribe(self.refresh)
        pane.measure_requested.connect(self.measure)
        pane.cancel_requested.connect(self._runs.cancel_all)
        pane.draft_switched.connect(lambda on: self._tasks.start(self._switch_draft(on)))
        pane.copy_requested.connect(self._on_copy_requested)
        pane.export_requested.connect(lambda p: self._tasks.start(self._export(Path(p))))
        pane.remedy_chosen.connect(self._on_remedy_chosen)
        self._is_fast = True
        self.refresh()

    def refresh(self) -> None:
        """Show what is known about the loaded model, unless a measurement runs."""
        if self.is_measuring:
            return
        pair = loaded_pair(self._engine.state)
        self._pane.show_ways([] if pair is None else self._pairs.other_ways())
        if pair is None:
            self._pane.show_no_model(_NO_MODEL)
        elif pair.draft is None:
            self._pane.show_no_model(_NO_DRAFT)
        elif (report := self._pairs.measured()) is None:
            self._pane.show_invitation(pair.title)
        else:
            plan = self._plan()
            is_on = plan.state is not DraftState.OFF
            words = _draft_words(plan, report)
            self._pane.show_report(report, draft_words=words, draft_is_on=is_on)

    def measure(self, fast: bool) -> None:
        """Start a measurement, unless one runs or no pair with a draft is loaded."""
        pair, folders = loaded_pair(self._engine.state), self._pairs.chosen
        if pair is None or folders is None or self.is_measuring:
            return
        self._is_fast = fast
        self.is_measuring = True
        self._pane.show_progress("Starting to measure.", 0.0, "")
        self._pane.show_ways(())
        self._runs.start(self._measure(pair, folders, fast=fast))

    async def close(self) -> None:
        """Cancel, start nothing more, and wait for what runs."""
        self._is_closing = True
        for scope in (self._runs, self._tasks):
            scope.close()
            await scope.wait()

    async def _measure(self, pair: LoadedPair, folders: PairFolders, *, fast: bool) -> None:
        began = asyncio.get_running_loop().time()
        try:
            async with aclosing(self._benchmark.run(pair, folders, fast=fast)) as events:
                async for event in events:
                    if isinstance(event, BenchReport):
                        self._measurements.put(event)
                        continue
                    share = event.done / event.total if event.total else 0.0
                    seconds = asyncio.get_running_loop().time() - began
                    self._pane.show_progress(
                        event.sentence, share, progress_numbers(event, seconds)
                    )
        finally:
            self.is_measuring = False
            if not self._is_closing:
                self.refresh()

    async def _switch_draft(self, is_on: bool) -> None:
        try:
            self._set_draft_enabled(is_on)
        finally:
            self.refresh()

    def _on_copy_requested(self) -> None:
        report = self._pairs.measured()
        if report is not None:
            QGuiApplication.clipboard().setText(_as_json(report).decode())
            self._pane.show_copied()

    async def _export(self, path: Path) -> None:
        report = self._pairs.measured()
        if report is None:
            return
        try:
            await asyncio.to_thread(write_atomically, path, _as_json(report))
        except OSError as error:
            what, kept = "The measurement", "It is still stored in the program."
            raise AppError(write_problem(error, what=what, kept=kept)) from error

    def _on_remedy_chosen(self, remedy: Remedy) -> None:
        if remedy in (Remedy.RETRY, Remedy.MEASURE):
            self.measure(self._is_fast)
        elif remedy is Remedy.CHOOSE_MODEL:
            self._pane.models_requested.emit()
        else:
            self._on_remedy(remedy)


def _as_json(report: BenchReport) -> bytes:
    return msgspec.json.format(encode_json(bench_form(report)), indent=2)


def _draft_words(plan: DraftUse, report: BenchReport) -> str:
    if plan.state is DraftState.ON:
        return f"The chat uses the draft with {plan.assistant_tokens} assistant tokens."
    if plan.reason == report.chosen.reason:  # which stands above already
        return "The chat answers without the draft."
    return plan.reason
