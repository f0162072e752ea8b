"""The queue of exports: states, the journal, and what a new start of the program finds."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import create_autospec

import pytest
import pytest_asyncio

from dflash_desktop.domain.export_plan import ExportVerdict
from dflash_desktop.domain.export_run import ExportMemory, ExportState, StageState
from dflash_desktop.domain.problems import AppError, Problem
from dflash_desktop.services.export_journal import StoredExport
from dflash_desktop.services.exports import Exports
from dflash_desktop.services.keep_awake import KeepAwake
from tests.fakes.export_plans import FakeStages, draft_plan, until
from tests.fakes.library_world import app_paths

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.export_plan import ExportPlan
    from dflash_desktop.domain.export_run import ExportRun

_GONE_WRONG = Problem("convert_failed", "It did not work.", "Look at the log.")


class _World:
    """Programs that start one after the other on the same folders."""

    def __init__(self, root: Path) -> None:
        self.paths = app_paths(root)
        self.stages = FakeStages()
        self._opened: list[Exports] = []

    def open(self, keep_awake: KeepAwake | None = None) -> Exports:
        exports = Exports(paths=self.paths, stages=self.stages, keep_awake=keep_awake)
        self._opened.append(exports)
        return exports

    async def close(self) -> None:
        for exports in self._opened:
            await exports.close()

    def journals(self) -> list[Path]:
        return sorted(self.paths.exports_dir.glob("*.json"))


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[_World]:
    made = _World(tmp_path)
    yield made
    await made.close()


@pytest.fixture
def plan(tmp_path: Path) -> ExportPlan:
    return draft_plan(tmp_path / "source")


def _only(exports: Exports) -> ExportRun:
    (run,) = exports.runs()
    return run


async def _is(exports: Exports, state: ExportState) -> None:
    await until(lambda: _only(exports).state is state)


async def test_an_export_runs_its_stages_in_order_and_leaves_no_record(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    seen: list[ExportState] = []
    exports.subscribe(lambda: seen.append(exports.runs()[0].state))
    assert exports.start(plan).state is ExportState.WAITING
    for step in plan.steps:
        await world.stages.let_go(step.name)
    await _is(exports, ExportState.DONE)
    assert world.stages.begun == ["convert-draft", "check-draft", "finish"]
    assert all(stage.state is StageState.DONE for stage in _only(exports).stages)
    assert world.stages.discarded == [_only(exports).id]
    assert world.journals() == []
    assert ExportState.RUNNING in seen


async def test_a_failed_stage_is_named_and_a_resumed_export_begins_with_it(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    run = exports.start(plan)
    await world.stages.let_go("convert-draft")
    await world.stages.let_go("check-draft", AppError(_GONE_WRONG))
    await _is(exports, ExportState.FAILED)
    assert [stage.state for stage in _only(exports).stages] == [
        StageState.DONE,
        StageState.FAILED,
        StageState.WAITING,
    ]
    assert _only(exports).problem == _GONE_WRONG
    exports.resume(run.id)
    await world.stages.let_go("check-draft")
    await world.stages.let_go("finish")
    await _is(exports, ExportState.DONE)
    assert world.stages.begun.count("convert-draft") == 1
    assert _only(exports).problem is None


async def test_a_program_that_was_killed_is_told_at_the_next_start_and_goes_on(
    world: _World, plan: ExportPlan
) -> None:
    killed = world.open()
    run = killed.start(plan)
    await world.stages.let_go("convert-draft")
    await until(lambda: world.stages.begun[-1] == "check-draft")
    # What a killed process leaves: the record on the disk, and a lock that the system has freed.
    kept = world.journals()[0].read_bytes()
    await killed.close()
    world.journals()[0].write_bytes(kept)

    exports = world.open()
    assert _only(exports).id == run.id
    assert _only(exports).state is ExportState.FAILED
    problem = _only(exports).problem
    assert problem is not None
    assert problem.code == "export_interrupted"
    world.stages.swept.clear()
    await exports.tidy()
    assert world.stages.swept == [run.id]
    exports.resume(run.id)
    await world.stages.let_go("check-draft")
    await world.stages.let_go("finish")
    await _is(exports, ExportState.DONE)
    assert world.stages.begun.count("convert-draft") == 1


async def test_a_paused_export_that_was_killed_leaves_nothing_that_stands_still(
    world: _World, plan: ExportPlan
) -> None:
    killed = world.open()
    run = killed.start(plan)
    await until(lambda: world.stages.begun == ["convert-draft"])
    killed.pause(run.id)
    await _is(killed, ExportState.PAUSED)
    await killed.close()

    exports = world.open()
    world.stages.swept.clear()
    await exports.tidy()

    assert world.stages.swept == [run.id]


async def test_a_stage_whose_work_was_removed_is_done_again(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    run = exports.start(plan)
    await world.stages.let_go("convert-draft")
    await world.stages.let_go("check-draft", AppError(_GONE_WRONG))
    await _is(exports, ExportState.FAILED)
    world.stages.gone.add("convert-draft")
    exports.resume(run.id)
    await until(lambda: world.stages.begun.count("convert-draft") == 2)


async def test_pausing_freezes_what_runs_and_the_clock_stands_still(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    run = exports.start(plan)
    await until(lambda: bool(world.stages.begun))
    exports.pause(run.id)
    await _is(exports, ExportState.PAUSED)
    exports.resume(run.id)
    assert _only(exports).state is ExportState.RUNNING
    assert world.stages.holds == ["freeze", "thaw"]
    assert world.stages.begun == ["convert-draft"]


async def test_pausing_a_stage_that_cannot_stand_still_ends_it(
    world: _World, plan: ExportPlan
) -> None:
    world.stages.can_freeze = False
    exports = world.open()
    run = exports.start(plan)
    await until(lambda: bool(world.stages.begun))
    exports.pause(run.id)
    assert _only(exports).state is ExportState.STOPPING
    await _is(exports, ExportState.PAUSED)
    exports.resume(run.id)
    await until(lambda: world.stages.begun == ["convert-draft", "convert-draft"])


async def test_cancelling_deletes_everything_also_of_a_paused_one(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    run = exports.start(plan)
    await until(lambda: bool(world.stages.begun) and bool(world.journals()))
    exports.pause(run.id)
    exports.cancel(run.id)
    await _is(exports, ExportState.CANCELLED)
    await until(lambda: world.journals() == [])
    assert world.stages.discarded == [run.id]
    exports.remove(run.id)
    assert exports.runs() == ()


async def test_one_export_runs_at_a_time_and_the_next_follows(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    first = exports.start(plan)
    second = exports.start(replace(plan, request=replace(plan.request, title="Second")))
    await until(lambda: bool(world.stages.begun))
    states = {run.id: run.state for run in exports.runs()}
    assert states == {first.id: ExportState.RUNNING, second.id: ExportState.WAITING}
    exports.cancel(first.id)
    await until(lambda: exports.runs()[1].state is ExportState.RUNNING)


async def test_closing_keeps_the_finished_stages_for_the_next_start(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    exports.start(plan)
    await world.stages.let_go("convert-draft")
    await until(lambda: world.stages.begun[-1] == "check-draft")
    await exports.close()
    again = world.open()
    assert _only(again).state is ExportState.PAUSED
    assert _only(again).stages[0].state is StageState.DONE


async def test_what_waits_is_kept_before_it_runs_and_when_the_program_ends(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    exports.start(plan)
    second = exports.start(plan)
    await until(lambda: len(world.journals()) == 2)
    await exports.close()
    again = world.open()
    assert [run.state for run in again.runs()] == [ExportState.PAUSED] * 2
    assert second.id in {run.id for run in again.runs()}


async def test_the_most_memory_of_all_stages_is_known_at_the_next_start(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    exports.start(plan)
    await until(lambda: world.stages.telling is not None)
    assert world.stages.telling is not None
    world.stages.telling.memory(ExportMemory(1.0, 300, 5000, 1000, 100))
    await world.stages.let_go("convert-draft")
    await until(lambda: world.stages.begun[-1] == "check-draft")
    await exports.close()
    assert _only(world.open()).peak_bytes == 300


async def test_nothing_that_comes_late_is_written_of_an_export_that_is_done(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    exports.start(plan)
    for step in plan.steps:
        await world.stages.let_go(step.name)
    await _is(exports, ExportState.DONE)
    assert world.stages.telling is not None
    await world.stages.telling.keep(StoredExport(_only(exports).id, plan))
    assert world.journals() == []


async def test_the_machine_stays_awake_as_long_as_something_is_exported(
    world: _World, plan: ExportPlan
) -> None:
    awake = create_autospec(KeepAwake, instance=True)
    exports = world.open(awake)
    run = exports.start(plan)
    await until(lambda: bool(world.stages.begun))
    awake.hold.assert_called()
    awake.release.assert_not_called()
    exports.cancel(run.id)
    await until(lambda: awake.release.called)


async def test_two_programs_never_export_at_once(world: _World, plan: ExportPlan) -> None:
    first, second = world.open(), world.open()
    run = first.start(plan)
    await until(lambda: bool(world.stages.begun))
    with pytest.raises(AppError) as refused:
        second.start(plan)
    assert refused.value.problem.code == "export_busy"
    first.cancel(run.id)
    await _is(first, ExportState.CANCELLED)
    await asyncio.sleep(0)
    assert second.start(plan).state is ExportState.WAITING


async def test_what_cannot_work_is_refused_with_words(world: _World, plan: ExportPlan) -> None:
    exports = world.open()
    with pytest.raises(AppError, match="80 GB"):
        exports.start(
            replace(plan, verdict=ExportVerdict.CANNOT, reasons=("It needs 80 GB of memory.",))
        )
    assert exports.runs() == ()


async def test_progress_log_and_memory_are_shown(world: _World, plan: ExportPlan) -> None:
    exports = world.open()
    exports.start(plan)
    await until(lambda: world.stages.telling is not None)
    telling = world.stages.telling
    assert telling is not None
    telling.progress(0.5, "layer 3 of 6")
    telling.log(tuple(f"line {n}" for n in range(600)))
    telling.memory(ExportMemory(1.0, 300, 5000, 1000, 100))
    telling.notice("Memory is getting short.")
    run = _only(exports)
    assert (run.stages[0].share, run.stages[0].detail) == (0.5, "layer 3 of 6")
    assert (run.log_lines[-1], len(run.log_lines), run.log_count) == ("line 599", 500, 600)
    assert run.memory == (ExportMemory(1.0, 300, 5000, 1000, 100),)
    assert (run.peak_bytes, run.notice) == (300, "Memory is getting short.")


@pytest.mark.expects_log("by a mistake of the program")
async def test_a_mistake_of_ours_ends_the_export_with_words(
    world: _World, plan: ExportPlan
) -> None:
    exports = world.open()
    exports.start(plan)
    await world.stages.let_go("convert-draft", ValueError("oops"))
    await _is(exports, ExportState.FAILED)
    problem = _only(exports).problem
    assert problem is not None
    assert problem.code == "internal_error"


@pytest.mark.expects_log("damaged")
async def test_a_damaged_record_is_put_aside(world: _World, plan: ExportPlan) -> None:
    world.paths.exports_dir.mkdir(parents=True)
    (world.paths.exports_dir / "0123456789ab.json").write_bytes(b'{"version": 1')
    assert world.open().runs() == ()
    assert [f.name for f in world.paths.exports_dir.iterdir()] == ["0123456789ab.json.damaged"]
