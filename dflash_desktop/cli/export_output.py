"""What `export run` tells on its way: lines of JSON for programs, sentences for people."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from dflash_desktop.cli.progress import Tenths
from dflash_desktop.cli.result import print_event, problem_form
from dflash_desktop.domain.export_run import StageState
from dflash_desktop.domain.units import format_bytes, format_seconds, format_speedup

if TYPE_CHECKING:
    from dflash_desktop.domain.export_run import ExportResult, ExportRun, ExportStage
    from dflash_desktop.domain.problems import Problem

_JSON_SECONDS: Final = 0.5


class ExportOutput:
    """Prints each thing once, and progress as often as its reader can use it."""

    def __init__(self, *, as_json: bool, shows_log: bool = False) -> None:
        self._as_json = as_json
        self._shows_log = shows_log
        self._told_at = 0.0
        self._stages: dict[str, StageState] = {}
        self._memory_at = -1.0
        self._log_count = 0
        self._notice = ""
        self._tenths = Tenths()

    def show(self, run: ExportRun) -> None:
        """What is new of it."""
        for stage in run.stages:
            if self._stages.get(stage.name, StageState.WAITING) is not stage.state:
                self._stages[stage.name] = stage.state
                self._tenths = Tenths()
                self._stage(run, stage)
        if self._shows_log and not self._as_json:
            self._log(run)
        if run.notice != self._notice:
            self._notice = run.notice
            if run.notice and not self._as_json:
                _say(run.notice)
        running = next((s for s in run.stages if s.state is StageState.RUNNING), None)
        if running is not None:
            self._progress(run, running)

    def done(self, run: ExportRun) -> None:
        """Where the models are, and what the pair is worth."""
        result = run.result
        if self._as_json:
            print_event("done", {"id": run.id, **_result_form(run)})
        elif result is not None:
            for model in result.models:
                print(f"“{model.model_id}” is ready ({model.contract_verdict}): {model.path}")
            print(_pair_words(result) + f"Most memory taken: {format_bytes(run.peak_bytes)}.")
            for note in result.notes:
                print(f"Note: {note}")

    def failed(self, problem: Problem, *, run: ExportRun | None = None) -> None:
        """Why not, and what to do next."""
        if self._as_json:
            fields = problem_form(problem)
            print_event("failed", fields if run is None else {"id": run.id, **fields})
            return
        _say(problem.headline)
        _say(problem.advice)
        if run is not None and run.log_file is not None and run.log_count:
            _say(f"Log: {run.log_file}")

    def _stage(self, run: ExportRun, stage: ExportStage) -> None:
        if self._as_json:
            print_event(
                "stage",
                {
                    "id": run.id,
                    "name": stage.name,
                    "title": stage.title,
                    "state": stage.state.value,
                    "seconds": round(stage.seconds, 3),
                },
            )
        elif stage.state is StageState.RUNNING:
            _say(f"{stage.title} …")
        elif stage.state is StageState.DONE and stage.seconds:
            _say(f"  done in {format_seconds(stage.seconds)}")

    def _progress(self, run: ExportRun, stage: ExportStage) -> None:
        now = time.monotonic()
        if not self._as_json:
            percent = int(100 * (stage.share or 0.0))
            if stage.share is not None and self._tenths.is_new(percent):
                _say(f"  {percent} %  {stage.detail}".rstrip())
            return
        if now - self._told_at < _JSON_SECONDS:
            return
        self._told_at = now
        print_event(
            "progress",
            {
                "id": run.id,
                "stage": stage.name,
                "share": stage.share,
                "detail": stage.detail,
                "seconds": round(run.seconds, 3),
                "notice": run.notice,
            },
        )
        memory = run.memory[-1] if run.memory else None
        if memory is not None and memory.at_seconds > self._memory_at:
            self._memory_at = memory.at_seconds
            print_event(
                "memory",
                {
                    "id": run.id,
                    "tree_bytes": memory.tree_bytes,
                    "peak_bytes": run.peak_bytes,
                    "available_bytes": memory.available_bytes,
                    "limit_bytes": memory.limit_bytes,
                    "floor_bytes": memory.floor_bytes,
                },
            )

    def _log(self, run: ExportRun) -> None:
        new = run.log_count - self._log_count
        self._log_count = run.log_count
        for line in run.log_lines[-new:] if new else ():
            _say(f"  | {line}")


def _result_form(run: ExportRun) -> dict[str, object]:
    result = run.result
    models = () if result is None else result.models
    return {
        "models": [
            {
                "role": model.role,
                "id": model.model_id,
                "path": str(model.path),
                "contract_verdict": model.contract_verdict,
            }
            for model in models
        ],
        "pair_verdict": None if result is None else result.pair_verdict or None,
        "speedup": None if result is None else result.speed_up,
        "notes": [] if result is None else list(result.notes),
        "peak_bytes": run.peak_bytes,
        "seconds": round(run.seconds, 3),
    }


def _pair_words(result: ExportResult) -> str:
    if not result.pair_verdict:
        return ""
    return f"The pair is {result.pair_verdict}, {format_speedup(result.speed_up)} with its draft. "


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
