"""What every worker process does alike: claims its pipes, answers pings, ends with its parent."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import queue
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from dflash_desktop.workers.frames import ProtocolError, decode_command, pack, read_frame
from dflash_desktop.workers.no_internet import forbid_internet, is_network_forbidden
from dflash_desktop.workers.parent import EXIT_ORPHANED, end_with_parent
from dflash_desktop.workers.protocol import (
    PROTOCOL_VERSION,
    Cancel,
    Command,
    Event,
    Failed,
    Hello,
    Ping,
    Pong,
    Shutdown,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

EXIT_BAD_INPUT: Final = 65
"""The bytes from the parent were not commands of this protocol."""


class WorkerRuntime:
    """One worker's end of the channel.

    Make it with `claim`, before anything that may print or load native libraries.
    """

    def __init__(self, *, worker: str, commands: BinaryIO, events: BinaryIO) -> None:
        self._worker = worker
        self._commands = commands
        self._events = events
        self._send_lock = threading.Lock()
        self._jobs: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._job_lock = threading.Lock()
        self._open_jobs: set[int] = set()
        self._cancelled_jobs: set[int] = set()
        self._before_exit: Callable[[], None] = lambda: None

    @classmethod
    def claim(
        cls, worker: str, *, tidies_up: bool = False, needs_network: bool = False
    ) -> WorkerRuntime:
        """Take standard input and output for the protocol, and set this process up as a worker.

        Afterwards a `print`, native code or a progress bar writes to standard error, and nobody
        reads commands by accident. A worker that `tidies_up` after others is ended neither with
        its parent nor first when memory runs out: the closed pipe tells it to. Only one that
        `needs_network` can reach one, unless a person has switched it off.
        """
        if not needs_network or is_network_forbidden():
            forbid_internet()
        if not tidies_up:
            end_with_parent()
            _be_first_when_memory_runs_out()
        commands, events = _claim_pipes()
        faulthandler.enable()
        # Importing openvino_genai imports the telemetry package too; with None in its place the
        # import fails, which openvino takes for "not installed".
        sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # what import checks
        return cls(worker=worker, commands=commands, events=events)

    def send(self, event: Event) -> None:
        """Write one event; callable from every thread. Ends the process if nobody reads."""
        frame = pack(event)
        try:
            with self._send_lock:
                self._events.write(frame)
                self._events.flush()
        except OSError:
            self._leave(EXIT_ORPHANED)

    def is_cancelled(self, job: int) -> bool:
        """Whether the parent asked to stop this job; ask between units of work."""
        with self._job_lock:
            return job in self._cancelled_jobs

    def serve(
        self,
        run_job: Callable[[Command], None],
        *,
        hello_runtime: str = "",
        before_exit: Callable[[], None] = lambda: None,
    ) -> NoReturn:
        """Say hello, then run one job after the other on this thread until the parent ends it.

        `run_job` answers with `send`. What it raises becomes `Failed`: "out_of_memory" (tainted)
        for a `MemoryError`, which is also what native code's `std::bad_alloc` turns into, else
        "worker_error".
        """
        self._before_exit = before_exit
        self.send(Hello(PROTOCOL_VERSION, self._worker, os.getpid(), hello_runtime))
        threading.Thread(target=self._read_commands, name="commands", daemon=True).start()
        while True:
            command = self._jobs.get()
            try:
                run_job(command)
            except MemoryError:
                self._send_failure(command, "out_of_memory", tainted=True)
            except Exception:  # noqa: BLE001  # whatever a job raises must reach the person
                self._send_failure(command, "worker_error", tainted=False)
            finally:
                with self._job_lock:
                    self._open_jobs.discard(_job_of(command))
                    self._cancelled_jobs.discard(_job_of(command))

    def _send_failure(self, command: Command, code: str, *, tainted: bool) -> None:
        raw = traceback.format_exc()
        sys.stderr.write(raw)
        self.send(Failed(_job_of(command), code, raw, tainted=tainted))

    def _read_commands(self) -> None:
        """The reader thread: it works while the main thread is in native code.

        Ending goes through `os._exit`: native threads may hold locks that a tidy end waits for.
        """
        try:
            while (frame := read_frame(self._commands)) is not None:
                self._take(decode_command(frame[0]))
        except ProtocolError:
            traceback.print_exc()
            self._leave(EXIT_BAD_INPUT)
        except OSError:
            traceback.print_exc()
        self._leave(EXIT_ORPHANED)

    def _leave(self, code: int) -> NoReturn:
        try:
            self._before_exit()
        finally:
            os._exit(code)

    def _take(self, command: Command) -> None:
        match command:
            case Ping(number):
                self.send(Pong(number))
            case Cancel(job):
                with self._job_lock:
                    if job in self._open_jobs:
                        self._cancelled_jobs.add(job)
            case Shutdown():
                self._leave(EXIT_ORPHANED)
            case _:
                with self._job_lock:
                    self._open_jobs.add(command.job)
                self._jobs.put(command)


def _job_of(command: Command) -> int:
    return command.job if not isinstance(command, Ping | Shutdown) else 0


def _claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Move the pipes to private descriptors, which children of this process do not inherit."""
    commands = os.fdopen(os.dup(0), "rb")  # Python itself sets binary mode on Windows
    events = os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return commands, events


def _be_first_when_memory_runs_out() -> None:
    """Linux: when memory runs out, the kernel shall take the worker and never the window."""
    with contextlib.suppress(OSError):  # some containers forbid it; then it stays as it is
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
