"""Whole exports with real processes, a real guard and a real library; only the tools are small."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil
import pytest
import pytest_asyncio

from dflash_desktop.domain.export_request import (
    ExportRole,
)
from dflash_desktop.domain.export_run import ExportState, StageState
from dflash_desktop.domain.library import LeftoverKind
from dflash_desktop.services.export_work import _environment
from dflash_desktop.services.leftovers import find_leftovers
from tests.fakes.export_plans import until
from tests.fakes.export_world import ExportWorld, marked_processes
from tests.fakes.fake_exporter import HOW_VARIABLE
from tests.fakes.small_disk import needs_small_disk, small_disk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from dflash_desktop.domain.export_run import ExportRun
    from dflash_desktop.domain.problems import Problem
    from dflash_desktop.services.exports import Exports

_LIMIT_BYTES = 300_000_000
_SMALL_FOLDER = "2M"


@pytest_asyncio.fixture
async def world(tmp_path: Path) -> AsyncIterator[ExportWorld]:
    made = ExportWorld(tmp_path)
    yield made
    await made.close()


async def _over(exports: Exports) -> ExportRun:
    over = (ExportState.DONE, ExportState.FAILED, ExportState.CANCELLED)
    await until(lambda: exports.runs()[0].state in over, seconds=30)
    return exports.runs()[0]


def _problem(run: ExportRun) -> Problem:
    assert run.problem is not None
    return run.problem


async def test_a_pair_goes_into_the_library_and_nothing_else_stays(world: ExportWorld) -> None:
    exports = world.open()
    exports.start(world.plan(ExportRole.TARGET, ExportRole.DRAFT))
    run = await _over(exports)
    assert run.state is ExportState.DONE, run.problem
    assert run.result is not None
    assert [(m.role, m.model_id) for m in run.result.models] == [
        ("target", "source-int8-ov"),
        ("draft", "source-int8-ov-2"),
    ]
    for made in run.result.models:
        installed = world.library.known(made.model_id)
        assert installed.path == made.path
        assert (made.path / "README.md").is_file()
        report = await world.library.verify(made.model_id)
        assert report.is_whole
    target, draft = (made.path for made in run.result.models)
    assert world.pairs.added == [("A pair", target, draft)]
    assert world.left() == []
    assert list(world.paths.exports_dir.iterdir()) == []
    assert "Loading weights: 100%|▉▉▉| 3/3" in run.log_lines
    (place,) = {line for line in run.log_lines if line.startswith("temporary files")}
    assert str(world.paths.incoming_dir) in place, "beside the output"
    assert run.peak_bytes > 0
    assert run.memory[0].limit_bytes > 0


async def test_the_guard_stops_it_says_how_much_was_missing_and_keeps_nothing(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, "good grow")
    world.limit_bytes = _LIMIT_BYTES
    exports = world.open()
    plan = replace(world.plan(ExportRole.TARGET, ExportRole.DRAFT), peak_bytes=2_000_000_000)
    started = exports.start(plan)
    run = await _over(exports)
    problem = _problem(run)
    assert problem.code == "export_guard_limit"
    assert "stopped by the memory guard at 3" in problem.headline  # 300 MB and a little
    assert "About 1.6" in problem.advice or "About 1.7" in problem.advice
    assert marked_processes(started.id) == []
    assert "A draft" not in world.left()
    assert not any("draft" in name for name in world.left())
    assert world.library.models() == ()
    assert [stage.state for stage in run.stages[:2]] == [StageState.DONE, StageState.FAILED]

    # The finished target was kept, so that only the draft is made anew.
    monkeypatch.setenv(HOW_VARIABLE, "fail good")
    exports.resume(run.id)
    done = await _over(exports)
    assert done.state is ExportState.DONE, done.problem
    assert len(world.library.models()) == 2


async def test_an_export_that_someone_kills_says_so(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, "stubborn")
    exports = world.open()
    run = exports.start(world.plan(ExportRole.DRAFT))
    await until(lambda: "you cannot ask me" in exports.runs()[0].log_lines)
    for process in marked_processes(run.id):
        if "export_guard" not in " ".join(process.cmdline()):
            process.send_signal(signal.SIGKILL)
    problem = _problem(await _over(exports))
    assert problem.code == "export_killed_outside"
    assert "SIGKILL" in problem.headline
    assert not any("draft" in name for name in world.left())


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ("fail", "export_draft_not_supported"),
        ("disk", "export_disk"),
        ("rubbish", "export_not_right"),
    ],
)
async def test_a_failure_is_read_from_what_happened_and_leaves_nothing(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch, how: str, code: str
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, how)
    exports = world.open()
    exports.start(world.plan(ExportRole.DRAFT))
    run = await _over(exports)
    assert run.state is ExportState.FAILED
    assert _problem(run).code == code
    assert not any(name.endswith(".xml") for name in world.left()), world.left()
    assert world.library.models() == ()
    monkeypatch.setenv(HOW_VARIABLE, "good")
    exports.resume(run.id)
    assert (await _over(exports)).state is ExportState.DONE


async def test_two_models_that_are_no_pair_are_not_kept_as_one(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, "good stranger")
    exports = world.open()
    exports.start(world.plan(ExportRole.TARGET, ExportRole.DRAFT))
    run = await _over(exports)
    assert _problem(run).code == "export_not_right"
    assert "target_layer_outside" in _problem(run).detail
    assert world.pairs.added == []


@needs_small_disk
async def test_a_full_disk_is_named_as_that(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, "disk")
    exports = world.open()
    with small_disk(tmp_path / "disk", _SMALL_FOLDER) as disk:
        exports.start(world.plan(ExportRole.DRAFT, output_dir=disk / "models"))
        problem = _problem(await _over(exports))
        assert problem.code == "disk_full"
        assert "MB" in problem.advice
        exports.cancel(exports.runs()[0].id)
        await until(lambda: exports.runs()[0].state is ExportState.CANCELLED)
        assert list(disk.iterdir()) == []


async def test_cancelling_ends_every_process_and_deletes_what_was_made(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, "good daemons")
    exports = world.open()
    run = exports.start(world.plan(ExportRole.TARGET, ExportRole.DRAFT))
    await until(lambda: "left one behind" in exports.runs()[0].log_lines)
    assert len(marked_processes(run.id)) == 2
    exports.cancel(run.id)
    assert (await _over(exports)).state is ExportState.CANCELLED
    assert marked_processes(run.id) == []
    assert world.left() == []
    assert list(world.paths.exports_dir.iterdir()) == []


async def test_a_paused_export_stands_still_and_goes_on_where_it_was(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, "slow")
    exports = world.open()
    run = exports.start(world.plan(ExportRole.DRAFT))
    await until(lambda: len(marked_processes(run.id)) == 1)
    exports.pause(run.id)
    await until(lambda: [p.status() for p in marked_processes(run.id)] == [psutil.STATUS_STOPPED])
    await asyncio.sleep(0.5)  # longer than it would have worked
    assert exports.runs()[0].state is ExportState.PAUSED
    exports.resume(run.id)
    done = await _over(exports)
    assert done.state is ExportState.DONE
    assert sum("Loading weights" in line for line in done.log_lines) == 1, "it was not begun anew"


async def test_models_go_into_a_folder_of_ones_own_under_free_names(
    world: ExportWorld, tmp_path: Path
) -> None:
    place = tmp_path / "place" / "models"
    (place / "source-int8-ov").mkdir(parents=True)
    exports = world.open()
    exports.start(world.plan(ExportRole.DRAFT, output_dir=place))
    run = await _over(exports)
    assert run.state is ExportState.DONE, run.problem
    assert sorted(p.name for p in place.iterdir()) == ["source-int8-ov", "source-int8-ov-2"]
    assert (place / "source-int8-ov-2" / "openvino_model.xml").is_file()
    assert [p.name for p in place.parent.iterdir()] == ["models"]
    assert world.library.models() == ()


async def test_only_a_folder_that_no_export_remembers_is_a_leftover(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, "good fail")
    exports = world.open()
    exports.start(world.plan(ExportRole.TARGET, ExportRole.DRAFT))
    run = await _over(exports)
    forgotten = world.paths.incoming_dir / "export-0123456789ab"
    forgotten.mkdir()
    found = find_leftovers(world.paths)
    assert [(one.path, one.kind) for one in found] == [(forgotten, LeftoverKind.EXPORT)]
    await exports.close()  # it is shown as failed before its record says so
    (world.paths.exports_dir / f"{run.id}.json").unlink()
    assert len(find_leftovers(world.paths)) == 2


async def test_a_checkpoint_whose_output_somebody_removed_is_exported_anew(
    world: ExportWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOW_VARIABLE, "good fail")
    exports = world.open()
    exports.start(world.plan(ExportRole.TARGET, ExportRole.DRAFT))
    run = await _over(exports)
    work_dir = world.paths.incoming_dir / f"export-{run.id}"
    (work_dir / "target").rename(work_dir / "elsewhere")
    monkeypatch.setenv(HOW_VARIABLE, "good")
    exports.resume(run.id)
    done = await _over(exports)
    assert done.state is ExportState.DONE, done.problem
    assert sum("Loading weights" in line for line in done.log_lines) == 4


def test_a_step_is_told_to_keep_off_the_hub_and_to_write_beside_its_output(tmp_path: Path) -> None:
    told = _environment(tmp_path)
    assert told["HF_HUB_OFFLINE"] == "1"  # where no kernel refuses the network, this does
    assert {told[name] for name in ("TMPDIR", "TEMP", "TMP")} == {str(tmp_path)}
