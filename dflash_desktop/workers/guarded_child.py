"""A child of the guard and everything that it starts: found, weighed, held, slowed and ended."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, cast

import psutil

from dflash_desktop.workers import linux_tree
from dflash_desktop.workers.windows_memory import private_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PROC: Final = Path("/proc")
_IS_LINUX = sys.platform.startswith("linux")
_NICE: Final = 10
_LOWEST: Final = 19
_SLOWING_ROUNDS: Final = 8
_END_SECONDS: Final = 10.0
_PAUSE_SECONDS: Final = 0.002


class GuardedChild:
    """Start it on the main thread of a process that has no other children.

    On Linux that process adopts what loses its parent (`adopt_orphans`), so that nothing gets
    away by forking twice or by a session of its own.
    """

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        work_dir: Path,
        hard_limit_bytes: int,
    ) -> None:
        """`hard_limit_bytes` is refused by Windows itself. Raises `OSError`."""
        self._process = _start(argv, env, work_dir)
        self._job = _job_of(self._process, hard_limit_bytes)
        self.output = cast("IO[bytes]", self._process.stdout)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def has_ended(self) -> bool:
        """Whether the child itself has; others may still run."""
        return self._process.poll() is not None

    @property
    def code(self) -> int:
        """How it ended; a negative number is a signal's."""
        return self._process.wait()

    def pids(self) -> tuple[int, ...]:
        """All processes of the tree."""
        if _IS_LINUX:
            return linux_tree.descendants(os.getpid(), _PROC)
        with contextlib.suppress(psutil.Error):
            return tuple(c.pid for c in psutil.Process().children(recursive=True))
        return ()

    def quick_bytes(self, pids: tuple[int, ...]) -> int:
        """Their memory, cheaply; what they share may be counted more than once."""
        if _IS_LINUX:
            return linux_tree.quick_bytes(pids, _PROC)
        return private_bytes(pids)

    def exact_bytes(self, pids: tuple[int, ...]) -> int:
        """Their memory, with what they share counted once."""
        if _IS_LINUX and len(pids) > 1:
            return linux_tree.exact_bytes(pids, _PROC)
        return self.quick_bytes(pids)

    def hold(self, *, is_held: bool) -> None:
        """Let all of them stand still, or go on."""
        # A second time for what was started while the first one went round.
        for _ in range(2):
            for pid in self.pids():
                with contextlib.suppress(psutil.Error):
                    process = psutil.Process(pid)
                    if is_held:
                        process.suspend()
                    else:
                        process.resume()

    def slow_down(self) -> None:
        """The lowest priority for processor and disk."""
        slowed: set[int] = set()
        # Who is slow starts only what is slow: what comes up anew was started before its parent
        # had its turn. Not for ever, since the guard must look at the memory again.
        for _ in range(_SLOWING_ROUNDS):
            fresh = set(self.pids()) - slowed
            if not fresh:
                return
            for pid in fresh:
                with contextlib.suppress(psutil.Error, OSError):
                    _slow_down(pid)
            slowed |= fresh

    def end(self) -> bool:
        """End all of them, whatever they ignore; whether all are gone. Blocks until they are."""
        self._job.terminate()
        deadline = time.monotonic() + _END_SECONDS
        while left := self._living():
            for pid in left:
                # What stands still starts nothing new while the others are being ended.
                _signal(pid, is_last=False)
            for pid in left:
                _signal(pid, is_last=True)
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_SECONDS)
        return True

    def close(self) -> None:
        """Give back what Windows lends; ends what is still there."""
        self._job.close()
        self.output.close()

    def _living(self) -> tuple[int, ...]:
        """All that still run; what has ended is read, so that it counts no more."""
        self._process.poll()
        pids = self.pids()
        if _IS_LINUX:
            for pid in pids:
                # Only what was adopted can be read here; the rest has a parent to do it.
                if pid != self.pid:
                    with contextlib.suppress(ChildProcessError):
                        os.waitpid(pid, os.WNOHANG)
            return tuple(pid for pid in self.pids() if pid != self.pid or not self.has_ended())
        return pids


if sys.platform == "linux":
    import ctypes

    _PR_SET_PDEATHSIG: Final = 1
    _PR_SET_CHILD_SUBREAPER: Final = 36
    _libc = ctypes.CDLL(None, use_errno=True)

    def adopt_orphans() -> None:
        """What loses its parent below this process becomes a child of it."""
        _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def _become_expendable() -> None:
        """In the child, before its program: it ends with the guard, and before anything else."""
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        os.nice(_NICE)
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000", "ascii")

    def _start(
        argv: Sequence[str], env: Mapping[str, str], work_dir: Path
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            env=env,
            cwd=work_dir,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_become_expendable,
        )

    class _NoJob:
        """Linux has control groups instead."""

        def terminate(self) -> None:
            pass

        def close(self) -> None:
            pass

    def _job_of(process: subprocess.Popen[bytes], hard_limit_bytes: int) -> _NoJob:
        return _NoJob()

    def _slow_down(pid: int) -> None:
        # Of each thread: Linux keeps the priority of a process for its first one alone.
        for thread in linux_tree.thread_ids(pid, _PROC):
            with contextlib.suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, thread, _LOWEST)
        psutil.Process(pid).ionice(psutil.IOPRIO_CLASS_IDLE)

    def _signal(pid: int, *, is_last: bool) -> None:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL if is_last else signal.SIGSTOP)

elif sys.platform == "win32":
    from dflash_desktop.workers.windows_job import KillOnCloseJob

    _CREATE_SUSPENDED: Final = 0x4
    """Of winbase.h; `subprocess` has no name for it."""

    def adopt_orphans() -> None:
        """A job object holds what loses its parent."""

    def _start(
        argv: Sequence[str], env: Mapping[str, str], work_dir: Path
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            argv,
            env=env,
            cwd=work_dir,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Suspended until it is in the job: an environment's python.exe starts the real one
            # at once, and what is started before would be in no job, and under no limit.
            creationflags=subprocess.CREATE_NO_WINDOW
            | subprocess.CREATE_NEW_PROCESS_GROUP
            | subprocess.BELOW_NORMAL_PRIORITY_CLASS
            | _CREATE_SUSPENDED,
        )

    def _job_of(process: subprocess.Popen[bytes], hard_limit_bytes: int) -> KillOnCloseJob:
        """Raises `OSError` when Windows refuses the job; the child is then ended."""
        try:
            # There is no public name for the handle.
            handle = int(process._handle)  # type: ignore[attr-defined]  # see above
            job = KillOnCloseJob(handle, job_memory_bytes=hard_limit_bytes)
            psutil.Process(process.pid).resume()
        except (OSError, psutil.Error) as error:
            process.kill()
            process.communicate()
            raise OSError(f"it got no job: {error}") from error
        return job

    def _slow_down(pid: int) -> None:
        process = psutil.Process(pid)
        process.nice(psutil.IDLE_PRIORITY_CLASS)
        process.ionice(psutil.IOPRIO_VERYLOW)

    def _signal(pid: int, *, is_last: bool) -> None:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            if is_last:
                process.kill()
