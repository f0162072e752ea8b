"""The guard of exports with real children that eat memory, fork, and refuse to end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
import pytest_asyncio

from dflash_desktop.domain.problems import AppError
from dflash_desktop.services.export_guard import (
    MARK_VARIABLE,
    ExportGuard,
    StepCommand,
    end_strays,
)
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.guard_messages import StepMemory, StepSaid
from tests.fakes import export_children
from tests.fakes.export_plans import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from dflash_desktop.workers.guard_messages import StepEnded
    from dflash_desktop.workers.protocol import Event

_CHILDREN = Path(export_children.__file__)
_LIMIT_BYTES = 300_000_000
_ALLOWED_BYTES = _LIMIT_BYTES + 512_000_000


class _Steps:
    """Runs steps, and looks at their processes from outside."""

    def __init__(self, root: Path) -> None:
        self.guard = ExportGuard(launcher=WorkerLauncher(log_dir=root / "logs"))
        self.mark = os.urandom(6).hex()
        self.log_file = root / "step.log"
        self.heard: list[Event] = []
        self._root = root
        self._begun: list[asyncio.Task[StepEnded]] = []

    async def run(self, *how: str, limit_bytes: int | None = _LIMIT_BYTES) -> StepEnded:
        return await self.guard.run(
            StepCommand(
                argv=(sys.executable, str(_CHILDREN), *how),
                env=dict(os.environ),
                work_dir=self._root,
                log_file=self.log_file,
                mark=self.mark,
                limit_bytes=limit_bytes,
            ),
            self.heard.append,
        )

    def begin(self, *how: str, limit_bytes: int | None = _LIMIT_BYTES) -> asyncio.Task[StepEnded]:
        """The same beside the test, for as long as that lasts."""
        self._begun.append(asyncio.create_task(self.run(*how, limit_bytes=limit_bytes)))
        return self._begun[-1]

    async def end(self) -> None:
        """A test that fails must not leave its step to those that follow."""
        for step in self._begun:
            step.cancel()
        await asyncio.gather(*self._begun, return_exceptions=True)

    def lines(self) -> list[str]:
        return [
            line for event in self.heard if isinstance(event, StepSaid) for line in event.lines
        ]

    def processes(self) -> list[psutil.Process]:
        return list(_marked(self.mark))


def _marked(mark: str) -> Iterator[psutil.Process]:
    for process in psutil.process_iter():
        try:
            is_one = process.environ().get(MARK_VARIABLE) == mark
            if is_one and process.status() != psutil.STATUS_ZOMBIE:
                yield process
        except psutil.Error:
            continue


class _Witness:
    """Another thread that weighs the processes of a step, whatever the guard says of them."""

    def __init__(self, mark: str) -> None:
        self.peak_bytes = 0
        self._mark = mark
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> _Witness:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.is_set():
            total = 0
            for process in _marked(self._mark):
                try:
                    total += process.memory_full_info().pss
                except psutil.Error:
                    continue
            self.peak_bytes = max(self.peak_bytes, total)
            time.sleep(0.01)


@pytest_asyncio.fixture
async def steps(tmp_path: Path) -> AsyncIterator[_Steps]:
    made = _Steps(tmp_path)
    yield made
    await made.end()


@pytest.mark.parametrize("how", ["grow", "fork-and-grow"])
async def test_what_eats_a_gigabyte_a_second_is_stopped_in_time(steps: _Steps, how: str) -> None:
    with _Witness(steps.mark) as witness:
        began = time.monotonic()
        ended = await steps.run(how)
    assert ended.stopped_by == "limit"
    assert not ended.is_ended_on_request
    assert ended.tree_bytes >= _LIMIT_BYTES
    assert max(witness.peak_bytes, ended.peak_bytes) < _ALLOWED_BYTES
    assert witness.peak_bytes > 0.5 * _LIMIT_BYTES, "the witness has seen nothing"
    assert steps.processes() == []
    # Beyond the limit for less than a second: the rest of the time it grew.
    assert time.monotonic() - began < 6
    verdicts = [event.verdict for event in steps.heard if isinstance(event, StepMemory)]
    assert verdicts == sorted(verdicts)
    assert verdicts[-1] == 3
    assert len(set(verdicts)) > 2, "it warned before it stopped"


async def test_memory_that_children_share_counts_once(steps: _Steps) -> None:
    step = steps.begin("share-and-wait")
    await until(lambda: bool(steps.lines()))
    await until(lambda: len(_memories(steps)) > 6)
    step.cancel()
    await asyncio.wait([step])
    assert step.cancelled()
    assert 150e6 < _memories(steps)[-1] < 220e6


def _memories(steps: _Steps) -> list[int]:
    return [event.tree_bytes for event in steps.heard if isinstance(event, StepMemory)]


@pytest.mark.parametrize("how", ["stubborn", "daemons"])
async def test_cancelling_ends_what_refuses_to_end(steps: _Steps, how: str) -> None:
    step = steps.begin(how)
    await until(lambda: bool(steps.lines()))
    assert len(steps.processes()) > 0
    began = time.monotonic()
    step.cancel()
    await asyncio.wait([step])
    assert steps.processes() == []
    assert time.monotonic() - began < 1.0


async def test_what_a_finished_step_leaves_running_is_ended(steps: _Steps) -> None:
    ended = await steps.run("daemons", "and-end")
    assert (ended.code, ended.stopped_by) == (0, "")
    assert steps.lines() == ["left one behind"]
    assert steps.processes() == []


async def test_a_step_that_was_killed_from_outside_says_so(steps: _Steps) -> None:
    step = steps.begin("stubborn")
    await until(lambda: bool(steps.lines()))
    (process,) = steps.processes()
    process.send_signal(signal.SIGKILL)
    ended = await step
    assert (ended.code, ended.stopped_by, ended.is_ended_on_request) == (-9, "", False)


async def test_a_guard_that_is_killed_takes_the_whole_step_along(steps: _Steps) -> None:
    step = steps.begin("daemons")
    await until(lambda: bool(steps.lines()))
    (guard,) = (c for c in psutil.Process().children() if "export_guard" in " ".join(c.cmdline()))
    guard.kill()
    with pytest.raises(AppError) as ended:
        await step
    assert ended.value.problem.code == "guard_ended"
    assert steps.processes() == []


async def test_strays_of_a_program_that_died_are_found_by_their_mark(steps: _Steps) -> None:
    step = steps.begin("daemons")
    await until(lambda: bool(steps.lines()))
    assert len(steps.processes()) == 2
    await end_strays("another mark")
    assert len(steps.processes()) == 2
    await end_strays(steps.mark)
    ended = await step
    assert ended.code == -9
    assert steps.processes() == []


async def test_a_held_step_stands_still_until_it_may_go_on(steps: _Steps) -> None:
    step = steps.begin("daemons")
    await until(lambda: bool(steps.lines()))
    assert steps.guard.hold(is_held=True)
    stopped = psutil.STATUS_STOPPED
    await until(lambda: {p.status() for p in steps.processes()} == {stopped})
    steps.guard.hold(is_held=False)
    await until(lambda: stopped not in {p.status() for p in steps.processes()})
    steps.guard.hold(is_held=True)
    step.cancel()  # also while it stands still
    await asyncio.wait([step])
    assert steps.processes() == []


async def test_what_a_step_prints_is_readable_and_its_reports_are_apart(steps: _Steps) -> None:
    ended = await steps.run("talk")
    assert ended.code == 0
    said = [event for event in steps.heard if isinstance(event, StepSaid)]
    assert steps.lines() == [
        "Loading ▉▊▋ é",
        "Shards: 100 %",
        "red \ufffd\ufffd broken",
        "no end of line",
    ]
    reports = [report for event in said for report in event.reports]
    assert reports == [{"share": 0.5, "detail": "half"}]
    assert b"\x1b[31mred" in steps.log_file.read_bytes()


async def test_a_program_that_is_not_there_is_told_in_words(steps: _Steps, tmp_path: Path) -> None:
    command = StepCommand(
        (str(tmp_path / "nowhere"),), {}, tmp_path, tmp_path / "step.log", steps.mark
    )
    with pytest.raises(AppError) as refused:
        await steps.guard.run(command, steps.heard.append)
    assert refused.value.problem.code == "step_not_started"


async def test_a_step_has_a_low_priority_and_is_the_first_to_go(steps: _Steps) -> None:
    step = steps.begin("stubborn")
    await until(lambda: bool(steps.lines()))
    (process,) = steps.processes()
    guard = process.parent()
    assert guard is not None
    # The tests themselves may run at a low priority.
    assert process.nice() == min(guard.nice() + 10, 19)
    assert guard.nice() == psutil.Process().nice()
    assert _oom_score(process) == "1000"
    assert _oom_score(guard) == _oom_score(psutil.Process())
    step.cancel()
    await asyncio.wait([step])


async def test_a_step_that_comes_near_its_limit_gets_the_lowest_priority(steps: _Steps) -> None:
    # 150 MiB and what a Python takes: more than nine tenths of the limit, and less than all.
    step = steps.begin("share-and-wait", limit_bytes=175_000_000)
    await until(lambda: {process.nice() for process in steps.processes()} == {19})
    step.cancel()
    await asyncio.wait([step])
    assert 3 not in {event.verdict for event in steps.heard if isinstance(event, StepMemory)}


def _oom_score(process: psutil.Process) -> str:
    return Path(f"/proc/{process.pid}/oom_score_adj").read_text(encoding="ascii").strip()
