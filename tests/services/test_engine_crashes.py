"""The engine on bad days: every way in which its process can fail, and what is left afterwards."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.engine_state import Absent, Crashed, Generating, Loaded, Loading, Ready
from dflash_desktop.domain.generation import FinishReason
from dflash_desktop.domain.problems import AppError, CancelledByPersonError
from dflash_desktop.services import worker_channel
from dflash_desktop.services.engine import Engine, EngineLimits
from dflash_desktop.services.worker_launch import WorkerCommand, WorkerLauncher
from tests.fakes.engine import (
    Answer,
    engine_under_test,
    fake_workers,
    is_alive,
    is_gone,
    until,
)
from tests.fakes.fake_worker import DEFAULT_ANSWER, Mishap, Script, Trouble, When

if TYPE_CHECKING:
    from dflash_desktop.domain.problems import Problem

QUICK = EngineLimits(
    ping_seconds=0.1,
    frozen_seconds=0.8,
    cancel_seconds=0.3,
    terminate_seconds=0.3,
    shutdown_seconds=0.5,
)
needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")


def once(tmp_path: Path, mishap: Mishap) -> Script:
    """A script with this mishap in the first process only."""
    return Script(mishaps=(with_file(tmp_path, mishap),))


def with_file(tmp_path: Path, mishap: Mishap) -> Mishap:
    """The mishap, happening only once."""
    return Mishap(
        trouble=mishap.trouble,
        when=mishap.when,
        only_once_file=str(tmp_path / "happened"),
        code=mishap.code,
        raw=mishap.raw,
        tainted=mishap.tainted,
    )


async def problem_of(answer: Answer) -> Problem:
    """The problem with which the answer breaks off."""
    with pytest.raises(AppError) as caught:
        await answer.rest()
    return caught.value.problem


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(Trouble.KILLED, marks=needs_signals),
        Trouble.ABORT,
        Trouble.VANISH,
        Trouble.FREEZE,
        Trouble.GARBAGE,
        Trouble.CLOSE_PIPE,
    ],
)
async def test_a_death_in_mid_answer_is_told_and_the_next_question_is_answered(
    tmp_path: Path, trouble: Trouble
) -> None:
    script = once(tmp_path, Mishap(trouble))
    async with engine_under_test(tmp_path, script, QUICK) as under_test:
        await under_test.load()
        answer = under_test.answer()
        problem = await problem_of(answer)
        assert answer.text == DEFAULT_ANSWER[: 3 * script.chunk_characters]
        assert problem.code == "engine_crashed"
        assert "restarted" in problem.advice
        again = under_test.answer()
        await again.rest()
        assert again.text == DEFAULT_ANSWER
        assert under_test.launcher.starts == 2
        assert len(fake_workers()) == 1


@pytest.mark.parametrize(
    ("trouble", "cause"),
    [
        pytest.param(Trouble.KILLED, "memory ran out", marks=needs_signals),
        pytest.param(Trouble.ABORT, "broke off inside the runtime", marks=needs_signals),
        (Trouble.FREEZE, "stopped answering"),
        (Trouble.GARBAGE, "not part of its language"),
        (Trouble.VANISH, "exit code 3"),
    ],
)
async def test_the_crash_says_why_and_carries_the_last_words(
    tmp_path: Path, trouble: Trouble, cause: str
) -> None:
    noise = Mishap(Trouble.NOISE)
    script = Script(mishaps=(noise, Mishap(trouble)))
    async with engine_under_test(tmp_path, script, replace(QUICK, restarts=0)) as under_test:
        await under_test.load()
        problem = await problem_of(under_test.answer())
        state = await under_test.reach(Crashed)
        assert isinstance(state, Crashed)
        assert cause in state.cause
        assert state.cause == problem.headline
        assert "noise from Python" in state.log_tail
        assert "noise from Python" in problem.detail
        assert not state.will_restart


async def test_an_abort_leaves_a_traceback_in_the_log(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.ABORT),))
    async with engine_under_test(tmp_path, script, replace(QUICK, restarts=0)) as under_test:
        await under_test.load()
        problem = await problem_of(under_test.answer())
        assert "Fatal Python error: Aborted" in problem.detail
        assert "fake_worker.py" in problem.detail


@needs_signals
async def test_a_death_while_idle_is_noticed_and_the_pair_comes_back(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path, limits=QUICK) as under_test:
        await under_test.load()
        (pid,) = fake_workers()
        os.kill(pid, signal.SIGKILL)
        await until(lambda: "Crashed" in under_test.names_of_states())
        await until(lambda: isinstance(under_test.states[-1], Loaded))
        since = under_test.names_of_states().index("Crashed")
        assert list(dict.fromkeys(under_test.names_of_states()[since:])) == [
            *("Crashed", "Starting", "Ready", "Loading", "Loaded"),
        ]
        assert fake_workers() != {pid}


async def test_two_restarts_and_then_the_person_decides(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.VANISH, after_chunks=1),))
    async with engine_under_test(tmp_path, script, QUICK) as under_test:
        await under_test.load()
        for will_restart in (True, True, False):
            problem = await problem_of(under_test.answer())
            assert ("It is being restarted" in problem.advice) is will_restart
        assert under_test.launcher.starts == 3
        assert under_test.is_in(Crashed)
        assert not fake_workers()
        under_test.launcher.script = Script()
        answer = under_test.answer()  # the person tries again, which may always start it
        await answer.rest()
        assert answer.text == DEFAULT_ANSWER


async def test_restarts_are_allowed_again_after_the_window(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.VANISH, after_chunks=1),))
    limits = replace(QUICK, restarts=1, restart_window_seconds=0.0)
    async with engine_under_test(tmp_path, script, limits) as under_test:
        await under_test.load()
        for _ in range(3):
            assert "It is being restarted" in (await problem_of(under_test.answer())).advice


async def test_a_pair_that_kills_every_process_stops_the_restarts(tmp_path: Path) -> None:
    async with engine_under_test(tmp_path, limits=QUICK) as under_test:
        await under_test.load()
        under_test.launcher.script = Script(mishaps=(Mishap(Trouble.VANISH, When.LOAD),))
        (pid,) = fake_workers()
        os.kill(pid, signal.SIGTERM)
        await until(
            lambda: isinstance(s := under_test.engine.state, Crashed) and not s.will_restart
        )
        assert under_test.launcher.starts == 3
        with pytest.raises(AppError) as caught:
            await under_test.answer().rest()
        assert caught.value.problem.code == "engine_crashed"
        assert under_test.launcher.starts == 4  # the question tried once, and only once
        assert not fake_workers()


async def test_a_crash_while_loading_is_told_to_the_one_who_loads(tmp_path: Path) -> None:
    script = once(tmp_path, Mishap(Trouble.ABORT, When.LOAD))
    async with engine_under_test(tmp_path, script, QUICK) as under_test:
        with pytest.raises(AppError) as caught:
            await under_test.load()
        assert caught.value.problem.code == "engine_crashed"
        await under_test.reach(Ready)  # and not loaded again: this pair never ran
        await under_test.load()
        assert under_test.is_in(Loaded)


async def test_a_tainted_process_is_replaced_and_the_next_message_works(tmp_path: Path) -> None:
    fault = Mishap(
        Trouble.FAIL, code="gpu_fault", raw="clFlush, error code: -5 CL_OUT_OF_RESOURCES"
    )
    tainted = Mishap(Trouble.FAIL, code=fault.code, raw=fault.raw, tainted=True)
    async with engine_under_test(tmp_path, once(tmp_path, tainted), QUICK) as under_test:
        await under_test.load()
        old = fake_workers()
        answer = under_test.answer()
        problem = await problem_of(answer)
        assert problem.code == "gpu_fault"
        assert "CL_OUT_OF_RESOURCES" in problem.detail
        assert "CL_OUT" not in problem.headline + problem.advice
        assert answer.text
        again = under_test.answer()
        await again.rest()
        assert again.text == DEFAULT_ANSWER
        assert not old & fake_workers()
        assert under_test.launcher.starts == 2


async def test_taints_count_as_restarts(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.FAIL, code="gpu_fault", tainted=True),))
    async with engine_under_test(tmp_path, script, replace(QUICK, restarts=1)) as under_test:
        await under_test.load()
        for _ in range(2):
            await problem_of(under_test.answer())
        await until(lambda: not fake_workers())
        assert under_test.is_in(Crashed)
        assert under_test.launcher.starts == 2


@pytest.mark.parametrize("trouble", [Trouble.FAIL, Trouble.RAISE])
async def test_an_ordinary_failure_keeps_the_process_and_the_pair(
    tmp_path: Path, trouble: Trouble
) -> None:
    script = once(tmp_path, Mishap(trouble, raw="Got unfinished GenerationStatus"))
    async with engine_under_test(tmp_path, script) as under_test:
        await under_test.load()
        answer = under_test.answer()
        problem = await problem_of(answer)
        assert problem.code == "worker_error"
        assert "Got unfinished GenerationStatus" in problem.detail
        assert answer.text
        again = under_test.answer()
        await again.rest()
        assert under_test.launcher.starts == 1


async def test_running_out_of_memory_in_python_taints_too(tmp_path: Path) -> None:
    script = once(tmp_path, Mishap(Trouble.RUN_OUT_OF_MEMORY))
    async with engine_under_test(tmp_path, script) as under_test:
        await under_test.load()
        assert (await problem_of(under_test.answer())).code == "out_of_memory"
        await under_test.answer().rest()
        assert under_test.launcher.starts == 2


async def test_the_context_problem_names_both_numbers(tmp_path: Path) -> None:
    facts = {"prompt_tokens": 9000, "context_tokens": 8192}
    script = Script(mishaps=(Mishap(Trouble.FAIL, code="context_full", facts=facts),))
    async with engine_under_test(tmp_path, script) as under_test:
        await under_test.load()
        problem = await problem_of(under_test.answer())
        assert problem.code == "context_full"
        assert "9,000" in problem.headline
        assert "8,192" in problem.headline


async def test_noise_on_standard_output_spoils_nothing(tmp_path: Path) -> None:
    script = Script(
        mishaps=tuple(Mishap(Trouble.NOISE, when) for when in When)
        + tuple(Mishap(Trouble.NOISE, after_chunks=n) for n in range(10))
    )
    async with engine_under_test(tmp_path, script) as under_test:
        await under_test.engine.devices()
        await under_test.load()
        answer = under_test.answer()
        await answer.rest()
        assert answer.text == DEFAULT_ANSWER
        assert "noise past Python" in (tmp_path / "engine.log").read_text()


async def test_another_protocol_is_refused_in_words(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.OTHER_VERSION, When.START),))
    async with engine_under_test(tmp_path, script) as under_test:
        with pytest.raises(AppError) as caught:
            await under_test.engine.devices()
        assert caught.value.problem.code == "engine_version"
        assert "another version" in caught.value.problem.headline
        assert not fake_workers()
        assert under_test.launcher.starts == 1


@pytest.mark.parametrize("trouble", [Trouble.VANISH, Trouble.ABORT])
async def test_a_death_before_hello_is_told_and_not_repeated(
    tmp_path: Path, trouble: Trouble
) -> None:
    script = Script(mishaps=(Mishap(trouble, When.START),))
    async with engine_under_test(tmp_path, script) as under_test:
        with pytest.raises(AppError) as caught:
            await under_test.engine.devices()
        assert caught.value.problem.code == "engine_start_failed"
        assert under_test.launcher.starts == 1
        assert under_test.is_in(Crashed)


async def test_a_worker_that_never_says_hello_is_given_up(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.IGNORE_CANCEL, When.START),))
    limits = replace(QUICK, hello_seconds=0.5)
    async with engine_under_test(tmp_path, script, limits) as under_test:
        with pytest.raises(AppError) as caught:
            await under_test.engine.devices()
        assert "no hello within 0.5 s" in caught.value.problem.detail
        assert not fake_workers()


async def test_working_without_answering_is_not_frozen(tmp_path: Path) -> None:
    """As `ContinuousBatchingPipeline.step` does: it holds the GIL, for seconds."""
    script = Script(mishaps=(Mishap(Trouble.BUSY_FREEZE, seconds=2.0),))
    async with engine_under_test(tmp_path, script, QUICK) as under_test:
        await under_test.load()
        answer = under_test.answer()
        await answer.rest()
        assert answer.text == DEFAULT_ANSWER
        assert under_test.launcher.starts == 1


async def test_a_cancel_that_is_not_obeyed_climbs_to_terminate(tmp_path: Path) -> None:
    script = once(tmp_path, Mishap(Trouble.IGNORE_CANCEL))
    async with engine_under_test(tmp_path, script, QUICK) as under_test:
        await under_test.load()
        answer = under_test.answer()
        await answer.first_text(chunks=3)
        await asyncio.gather(answer.rest(), under_test.engine.cancel())
        assert answer.finished.reason is FinishReason.CANCELLED
        assert answer.finished.stats.steps == 3
        await until(lambda: under_test.names_of_states().count("Starting") == 2)
        await under_test.reach(Loaded)
        assert "Crashed" not in under_test.names_of_states()
        again = under_test.answer()
        await again.rest()
        assert again.text == DEFAULT_ANSWER
        assert under_test.launcher.starts == 2


@pytest.mark.parametrize("trouble", [Trouble.IGNORE_TERMINATE, Trouble.FREEZE])
async def test_a_worker_deaf_to_everything_is_killed(tmp_path: Path, trouble: Trouble) -> None:
    script = once(tmp_path, Mishap(trouble))
    limits = replace(QUICK, frozen_seconds=60.0)
    async with engine_under_test(tmp_path, script, limits) as under_test:
        await under_test.load()
        answer = under_test.answer()
        await answer.first_text(chunks=3)
        old = fake_workers()
        await asyncio.gather(answer.rest(), under_test.engine.cancel())
        assert not old & fake_workers()
        again = under_test.answer()  # sent while the engine is on its way back
        await again.rest()
        assert again.text == DEFAULT_ANSWER
        assert under_test.launcher.starts == 2


async def test_cancelling_a_hung_load_brings_back_an_empty_engine(tmp_path: Path) -> None:
    script = once(tmp_path, Mishap(Trouble.IGNORE_CANCEL, When.LOAD))
    async with engine_under_test(tmp_path, script, QUICK) as under_test:
        loading = asyncio.create_task(under_test.load())
        await under_test.reach(Loading)
        await under_test.engine.cancel()
        with pytest.raises(CancelledByPersonError):
            await loading
        await under_test.reach(Ready)
        assert under_test.launcher.starts == 2


@pytest.mark.parametrize(
    "trouble",
    [Trouble.STALL, Trouble.IGNORE_CANCEL, Trouble.IGNORE_TERMINATE, Trouble.FREEZE, Trouble.BUSY],
)
@pytest.mark.parametrize("when", [When.LOAD, When.GENERATE])
async def test_stop_takes_three_seconds_at_most_whatever_runs(
    tmp_path: Path, trouble: Trouble, when: When
) -> None:
    script = Script(mishaps=(Mishap(trouble, when),))
    async with engine_under_test(tmp_path, script) as under_test:
        if when is When.LOAD:
            job = asyncio.create_task(under_test.load())
            await under_test.reach(Loading)
        else:
            await under_test.load()
            job = asyncio.create_task(under_test.answer().rest())
            await under_test.reach(Generating)
        started = time.monotonic()
        await under_test.engine.stop()
        assert time.monotonic() - started < 3.0
        assert not fake_workers()
        assert under_test.is_in(Absent)
        if when is When.LOAD:
            with pytest.raises(CancelledByPersonError):
                await job
        else:
            await job


async def test_stop_during_the_cancel_ladder_is_in_time(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.IGNORE_TERMINATE),))
    limits = EngineLimits(cancel_seconds=0.1, terminate_seconds=30.0)
    async with engine_under_test(tmp_path, script, limits) as under_test:
        await under_test.load()
        answer = under_test.answer()
        reading = asyncio.create_task(answer.rest())
        await until(lambda: len(answer.text) == 3 * script.chunk_characters)
        cancelling = asyncio.create_task(under_test.engine.cancel())
        await until(lambda: "Stopping" in under_test.names_of_states())
        started = time.monotonic()
        await under_test.engine.stop()
        assert time.monotonic() - started < 3.0
        assert not fake_workers()
        await asyncio.gather(cancelling, reading)
        assert under_test.is_in(Absent)


async def test_children_of_the_engine_go_with_it(tmp_path: Path) -> None:
    pid_file = tmp_path / "grandchild"
    script = Script(
        mishaps=(
            Mishap(Trouble.GRANDCHILD, When.LOAD, pid_file=str(pid_file)),
            Mishap(Trouble.VANISH),
        )
    )
    async with engine_under_test(tmp_path, script, replace(QUICK, restarts=0)) as under_test:
        await under_test.load()
        grandchild = int(pid_file.read_text())
        assert is_alive(grandchild)
        await problem_of(under_test.answer())
        await until(partial(is_gone, grandchild))


async def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    class Broken(WorkerLauncher):
        def engine(self) -> WorkerCommand:
            return replace(super().engine(), argv=(str(tmp_path / "dflash-engine"),))

    engine = Engine(launcher=Broken(log_dir=tmp_path))
    with pytest.raises(AppError) as caught:
        await engine.devices()
    assert caught.value.problem.code == "engine_start_failed"
    assert "dflash-engine" in caught.value.problem.detail


async def test_a_worker_that_repeats_itself_does_not_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_channel, "MAX_WORKER_LOG_BYTES", 50)
    script = Script(
        answers=("x" * 800,),
        chunks_per_second=50,
        mishaps=tuple(Mishap(Trouble.NOISE, after_chunks=n) for n in range(100)),
    )
    async with engine_under_test(tmp_path, script, QUICK) as under_test:
        await under_test.load()
        await under_test.answer().rest()
        log = (tmp_path / "engine.log").read_bytes()
        assert 0 < len(log) < 50 * len("noise from Python\nnoise past Python\n")
        assert b"\0" not in log


@needs_signals
async def test_no_thread_descriptor_or_process_is_left_after_many_lives(tmp_path: Path) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0

    async with engine_under_test(tmp_path, limits=replace(QUICK, restarts=10)) as under_test:
        await under_test.load()
        await under_test.engine.stop()
        before = descriptors()
        await under_test.load()
        for crashes in (1, 2, 3):
            (pid,) = fake_workers()
            os.kill(pid, signal.SIGKILL)
            await until(partial(under_test.has_crashed, crashes))
            await under_test.reach(Loaded)
        await under_test.engine.stop()
        assert descriptors() == before
