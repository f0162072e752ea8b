"""Leads from a wish to export through its plan to the run, and keeps the page true."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.problems import Problem, Remedy, Severity
from dflash_desktop.ui.export.form_words import title_of
from dflash_desktop.ui.tasks import TaskScope

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.export_plan import ExportPlan
    from dflash_desktop.domain.export_request import ExportRequest
    from dflash_desktop.domain.export_run import ExportRun
    from dflash_desktop.services.settings_store import SettingsStore
    from dflash_desktop.ui.export.pane import ExportPane

_SHOWN_EVERY_SECONDS: Final = 0.1
"""A log may grow by hundreds of lines a second; nobody reads faster than this."""

_SEVERAL: Final = Problem(
    code="export_several_dropped",
    headline="These are more files than an export takes.",
    advice="Drop one folder or GGUF file at a time, or a model and its draft together.",
    severity=Severity.INFO,
)


class Planning(Protocol):
    """What this page asks of the planning of exports."""

    async def plan(self, request: ExportRequest) -> ExportPlan:
        """What it would take. Raises `AppError`."""


class ExportQueue(Protocol):
    """What this page asks of the exports."""

    def runs(self) -> tuple[ExportRun, ...]:
        """All, the oldest first."""

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` after each change; the answer ends that."""

    def start(self, plan: ExportPlan) -> ExportRun:
        """Run it. Raises `AppError`."""

    def pause(self, run_id: str) -> None:
        """Hold it."""

    def resume(self, run_id: str) -> None:
        """Go on. Raises `AppError`."""

    def cancel(self, run_id: str) -> None:
        """End it and delete what it made."""

    def remove(self, run_id: str) -> None:
        """Show it no more."""


class ExportPresenter:
    """`load_pairs` reads the catalogue and `role_of` a folder, both on another thread;
    `get_pair(pair_id)` leads to a pair that somebody has converted; `on_remedy(remedy, repo_ids)`
    takes the ways out that lead away from this page.
    """

    def __init__(
        self,
        *,
        pane: ExportPane,
        planning: Planning,
        exports: ExportQueue,
        settings: SettingsStore,
        load_pairs: Callable[[], tuple[ExportRequest, ...]],
        role_of: Callable[[Path], ExportRole],
        get_pair: Callable[[str], None],
        open_file: Callable[[Path], None],
        on_remedy: Callable[[Remedy, tuple[str, ...]], None],
    ) -> None:
        self._pane = pane
        self._planning = planning
        self._exports = exports
        self._settings = settings
        self._load_pairs = load_pairs
        self._role_of = role_of
        self._get_pair = get_pair
        self._on_remedy = on_remedy
        self._plan: ExportPlan | None = None
        self._refresh: asyncio.TimerHandle | None = None
        self._retry: Callable[[], None] | None = None
        self._plans = TaskScope(owner=pane, on_problem=self._show_no_plan)
        self._tasks = TaskScope(owner=pane, on_problem=pane.show_problem)
        self._starts = TaskScope(owner=pane, on_problem=pane.plan.show_problem)
        self._end = exports.subscribe(self._on_changed)
        self._connect(open_file)
        pane.form.show_limit(settings.value.export_memory_limit_bytes)
        self._tasks.start(self._show_pairs())
        self.refresh()

    def refresh(self) -> None:
        """Show the exports as they are now."""
        self._refresh = None
        runs = self._exports.runs()
        if self._pane.is_at_start:
            self._pane.runs.show_runs(runs)
        shown = self._pane.shown_run_id
        if not shown:
            return
        run = next((one for one in runs if one.id == shown), None)
        if run is None:
            self._show_start()
        else:
            self._pane.show_run(run)

    def show_request(self, request: ExportRequest) -> None:
        """Put a wish into the form, and look at once what it takes."""
        self._pane.show_start()
        self._pane.form.show_request(request)
        self.ask(request)

    def ask(self, request: ExportRequest) -> None:
        """Make the plan of a wish and show it."""
        self._plans.cancel_all()
        if self._pane.is_at_plan:
            self._pane.plan.show_looking()
        else:
            self._pane.form.show_asking()
        self._plans.start(self._make_plan(request))

    def ask_again(self) -> None:
        """What kept the last plan from being made may be gone."""
        self._pane.form.ask_again()

    def show_running(self) -> None:
        """Bring the export that runs to the front, or else the newest one that is not done."""
        runs = [run for run in self._exports.runs() if run.result is None]
        if runs:
            self._show_run(next((r for r in runs if r.seconds), runs[-1]).id)

    def take(self, paths: tuple[str, ...]) -> None:
        """Put what was dropped into the form."""
        self._tasks.start(self._take(paths))

    async def close(self) -> None:
        """Start nothing more, and wait for what runs."""
        self._end()
        if self._refresh is not None:
            self._refresh.cancel()
        for scope in (self._plans, self._tasks, self._starts):
            scope.close()
            await scope.wait()

    def _connect(self, open_file: Callable[[Path], None]) -> None:
        pane, exports = self._pane, self._exports
        pane.dropped.connect(self.take)
        pane.remedy_chosen.connect(self._take_remedy)
        pane.form.plan_requested.connect(self.ask)
        pane.form.cancelled.connect(self._give_up_plan)
        pane.form.remedy_chosen.connect(self._take_form_remedy)
        pane.form.limit_chosen.connect(lambda limit: self._do(lambda: self._change_limit(limit)))
        pane.plan.back_requested.connect(self._show_start)
        pane.plan.start_requested.connect(self._begin)
        pane.plan.again_requested.connect(self._look_again)
        pane.plan.request_chosen.connect(self._take_alternative)
        pane.plan.pair_requested.connect(self._get_pair)
        pane.plan.remedy_chosen.connect(self._take_remedy)
        for part in (pane.runs, pane.run):
            part.resume_requested.connect(lambda i: self._do(lambda: exports.resume(i)))
        pane.runs.shown.connect(self._show_run)
        pane.runs.removed.connect(lambda i: self._do(lambda: exports.remove(i)))
        pane.run.back_requested.connect(self._show_start)
        pane.run.pause_requested.connect(lambda i: self._do(lambda: exports.pause(i)))
        pane.run.cancel_requested.connect(lambda i: self._do(lambda: exports.cancel(i)))
        pane.run.remedy_chosen.connect(lambda _, remedy: self._take_remedy(remedy))
        pane.run.log_requested.connect(open_file)

    def _on_changed(self) -> None:
        """Show changes soon, and many at once."""
        if self._refresh is None:
            loop = asyncio.get_running_loop()
            self._refresh = loop.call_later(_SHOWN_EVERY_SECONDS, self.refresh)

    async def _show_pairs(self) -> None:
        self._pane.form.show_pairs(await asyncio.to_thread(self._load_pairs))

    async def _make_plan(self, request: ExportRequest) -> None:
        plan = await self._planning.plan(request)
        self._plan = plan
        self._pane.form.show_idle()
        self._pane.show_plan(plan)

    def _show_no_plan(self, problem: Problem) -> None:
        self._pane.show_start()
        self._pane.form.show_problem(problem)

    def _give_up_plan(self) -> None:
        self._plans.cancel_all()
        self._pane.form.show_idle()

    def _take_alternative(self, request: ExportRequest) -> None:
        """It may still have the title of what it stands in for."""
        self.show_request(replace(request, title=title_of(request.items)))

    def _look_again(self) -> None:
        if self._plan is not None:
            self.ask(self._plan.request)

    def _begin(self) -> None:
        if self._plan is not None and not self._starts.is_busy:
            self._pane.plan.show_starting()
            self._starts.start(self._start(self._plan))

    async def _start(self, plan: ExportPlan) -> None:
        run = self._exports.start(plan)
        self._pane.show_run(run)

    def _show_start(self) -> None:
        self._give_up_plan()
        self._pane.show_start()
        self.refresh()

    def _show_run(self, run_id: str) -> None:
        run = next((one for one in self._exports.runs() if one.id == run_id), None)
        if run is not None:
            self._pane.show_run(run)

    async def _take(self, paths: tuple[str, ...]) -> None:
        self._show_start()
        form = self._pane.form
        if len(paths) > len(ExportRole):
            self._pane.show_problem(_SEVERAL)
            return
        roles = [await asyncio.to_thread(self._role_of, Path(path)) for path in paths]
        if len(roles) != len(set(roles)):
            self._pane.show_problem(_SEVERAL)
            return
        for path, role in zip(paths, roles, strict=True):
            form.take_path(path, role)

    def _do(self, work: Callable[[], None]) -> None:
        """Run `work` where its `AppError` reaches the page."""
        self._retry = work
        self._pane.clear_problem()

        async def run() -> None:
            work()

        self._tasks.start(run())

    def _change_limit(self, limit_bytes: int | None) -> None:
        self._settings.change(export_memory_limit_bytes=limit_bytes)

    def _take_form_remedy(self, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            self._pane.form.ask_again()
        else:
            self._take_remedy(remedy)

    def _take_remedy(self, remedy: Remedy) -> None:
        if remedy is Remedy.RETRY:
            if self._pane.is_at_plan:
                self._begin()
            elif self._retry is not None:
                self._do(self._retry)
            return
        self._on_remedy(remedy, self._repo_ids())

    def _repo_ids(self) -> tuple[str, ...]:
        """The repositories that a problem of this page can be about."""
        request = self._pane.form.request
        shown = next((r for r in self._exports.runs() if r.id == self._pane.shown_run_id), None)
        if shown is not None:
            request = shown.plan.request
        items = () if request is None else request.items
        return tuple(item.source.repo_id for item in items if item.source.repo_id)
