"""A worker's own side: its pipes, its reader thread, and its end with its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, cast

import msgspec
import pytest

from dflash_desktop.domain.generation import FinishReason, SamplingParams
from dflash_desktop.services.worker_launch import worker_environment
from dflash_desktop.workers.frames import decode_event, pack, read_frame
from dflash_desktop.workers.parent import PARENT_PID_VARIABLE
from dflash_desktop.workers.protocol import (
    PROTOCOL_VERSION,
    Cancel,
    Command,
    Event,
    Failed,
    Finished,
    Generate,
    Hello,
    ListDevices,
    Ping,
    Pong,
    Shutdown,
    Text,
)
from dflash_desktop.workers.runtime import EXIT_BAD_INPUT
from tests.fakes.engine import QUESTION, is_gone, until_blocking
from tests.fakes.fake_worker import RUNTIME_NAME, SCRIPT_VARIABLE, Mishap, Script, Trouble
from tests.fakes.launcher import FAKE_WORKER

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[2]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="the kernel's own signal")
GENERATE = Generate(1, QUESTION, SamplingParams(), assistant_tokens=3)


class Worker:
    """The parent's side of one fake worker, by hand and blocking."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.commands = cast("BinaryIO", process.stdin)
        self.events = cast("BinaryIO", process.stdout)

    def send(self, command: Command) -> None:
        self.commands.write(pack(command))
        self.commands.flush()

    def read(self) -> Event:
        frame = read_frame(self.events)
        assert frame is not None, "the worker has ended"
        return decode_event(frame[0])

    def read_until(self, kind: type[Event]) -> list[Event]:
        events = [self.read()]
        while not isinstance(events[-1], kind):
            events.append(self.read())
        return events


@contextmanager
def worker(script: Script | None = None, *, log: IO[bytes] | None = None) -> Iterator[Worker]:
    """A fake worker that has said hello."""
    env = worker_environment() | {
        SCRIPT_VARIABLE: msgspec.json.encode(script or Script()).decode()
    }
    process = subprocess.Popen(
        [sys.executable, "-P", str(FAKE_WORKER)],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log or subprocess.DEVNULL,
    )
    running = Worker(process)
    try:
        assert running.read() == Hello(PROTOCOL_VERSION, "engine", process.pid, RUNTIME_NAME)
        yield running
    finally:
        process.kill()
        process.wait()
        for pipe in (running.commands, running.events):
            with suppress(OSError):
                pipe.close()


def test_noise_goes_to_the_log_and_not_between_the_frames(tmp_path: Path) -> None:
    script = Script(mishaps=(Mishap(Trouble.NOISE),))
    log_file = tmp_path / "log"
    with log_file.open("wb") as log, worker(script, log=log) as running:
        running.send(GENERATE)
        assert isinstance(running.read_until(Finished)[-1], Finished)
    assert "noise from Python" in log_file.read_text()
    assert "noise past Python" in log_file.read_text()


def test_pings_are_answered_while_a_job_works() -> None:
    with worker(Script(mishaps=(Mishap(Trouble.BUSY),))) as running:
        running.send(GENERATE)
        running.read_until(Text)
        running.send(Ping(7))
        assert running.read_until(Pong)[-1] == Pong(7)


def test_cancel_stops_only_its_job() -> None:
    with worker(Script(answers=("x" * 800,), chunks_per_second=100)) as running:
        running.send(Cancel(1))  # not known yet, so it is forgotten
        running.send(GENERATE)
        running.read_until(Text)
        running.send(Cancel(99))
        running.send(Cancel(1))
        end = running.read_until(Finished)[-1]
        assert isinstance(end, Finished)
        assert end.reason is FinishReason.CANCELLED
        assert end.stats.tokens > 0


def test_jobs_run_one_after_the_other() -> None:
    with worker() as running:
        running.send(GENERATE)
        running.send(ListDevices(2))
        running.read_until(Finished)
        assert running.read().job == 2  # type: ignore[union-attr]  # devices have a job


def test_what_a_job_raises_is_reported_and_the_next_job_runs(tmp_path: Path) -> None:
    mishap = Mishap(Trouble.RAISE, raw="made-up", only_once_file=str(tmp_path / "once"))
    with worker(Script(mishaps=(mishap,))) as running:
        running.send(GENERATE)
        failed = running.read_until(Failed)[-1]
        assert isinstance(failed, Failed)
        assert (failed.job, failed.code, failed.tainted) == (1, "worker_error", False)
        assert "RuntimeError: made-up" in failed.raw
        running.send(GENERATE)
        running.read_until(Finished)


def test_a_closed_pipe_ends_even_a_busy_worker_within_two_seconds() -> None:
    with worker(Script(mishaps=(Mishap(Trouble.BUSY),))) as running:
        running.send(GENERATE)
        running.read_until(Text)
        running.commands.close()
        assert running.process.wait(2.0) == 0


def test_shutdown_ends_even_a_busy_worker_within_two_seconds() -> None:
    with worker(Script(mishaps=(Mishap(Trouble.IGNORE_CANCEL),))) as running:
        running.send(GENERATE)
        running.read_until(Text)
        running.send(Shutdown())
        assert running.process.wait(2.0) == 0


def test_bytes_that_are_no_command_end_the_worker() -> None:
    with worker() as running:
        running.commands.write(b"GET / HTTP/1.1\r\nHost: nobody\r\n\r\n")
        running.commands.flush()
        assert running.process.wait(5.0) == EXIT_BAD_INPUT


def test_a_worker_that_nobody_reads_ends() -> None:
    with worker(Script(answers=("x" * 100_000,), chunk_characters=1)) as running:
        running.send(GENERATE)
        running.read_until(Text)
        running.events.close()
        assert running.process.wait(5.0) == 0


PARENT = """
    import os, subprocess, sys, time
    from tests.fakes.engine import QUESTION
    from tests.workers.test_runtime import GENERATE, Script, Mishap, Trouble, worker, Text
    trouble, pid_file, leaked = sys.argv[1:]
    with worker(Script(mishaps=(Mishap(Trouble(trouble)),))) as running:
        if leaked:  # another child that holds the worker's pipe open, as a bug could
            holder = subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(30)"],
                pass_fds=[running.commands.fileno()], stdout=subprocess.DEVNULL)
        running.send(GENERATE)
        running.read_until(Text)
        running.read_until(Text)
        running.read_until(Text)
        time.sleep(0.2)  # now it is in its trouble
        with open(pid_file + "~", "w") as file:
            file.write(f"{running.process.pid} {holder.pid if leaked else 0}")
        os.rename(pid_file + "~", pid_file)
        time.sleep(60)
"""


@linux_only
@pytest.mark.parametrize("trouble", [Trouble.STALL, Trouble.BUSY, Trouble.FREEZE])
@pytest.mark.parametrize("leaked", ["", "leaked"])
def test_a_killed_parent_takes_the_worker_with_it(
    tmp_path: Path, trouble: Trouble, leaked: str
) -> None:
    """Even one that is frozen in native code, and even if somebody else holds its pipe open."""
    pid_file = tmp_path / "pids"
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PARENT), trouble.value, str(pid_file), leaked],
        cwd=REPOSITORY,
    )
    until_blocking(pid_file.exists)
    pid, holder = map(int, pid_file.read_text().split())
    try:
        assert not is_gone(pid)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        until_blocking(partial(is_gone, pid), seconds=2.0)
    finally:
        if holder:
            os.kill(holder, signal.SIGKILL)
            until_blocking(partial(is_gone, holder))


@linux_only
def test_a_worker_whose_parent_died_before_it_could_watch_ends_at_once() -> None:
    script = msgspec.json.encode(Script()).decode()
    env = worker_environment() | {SCRIPT_VARIABLE: script, PARENT_PID_VARIABLE: "1"}
    process = subprocess.Popen(
        [sys.executable, "-P", str(FAKE_WORKER)],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    output, _ = process.communicate(timeout=10)  # not closing its input is what is tested...
    assert output == b""  # ...so it must not even have said hello
    assert process.returncode == 0


@linux_only
def test_memory_trouble_takes_the_worker_first() -> None:
    with worker() as running:
        score = Path(f"/proc/{running.process.pid}/oom_score_adj").read_text()
        assert int(score) == 1000


def test_the_telemetry_package_cannot_be_imported(tmp_path: Path) -> None:
    code = """
        from dflash_desktop.workers.runtime import WorkerRuntime
        WorkerRuntime.claim("test")
        try:
            import openvino_telemetry
        except ImportError:
            raise SystemExit(7)
    """
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        check=False,
        timeout=20,
    )
    assert process.returncode == 7


def test_a_worker_starts_quickly() -> None:
    """Nothing heavy at module level: the first question must not wait for imports."""
    started = time.monotonic()
    with worker():
        assert time.monotonic() - started < 5.0
