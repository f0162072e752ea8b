"""The guard of exports: a process that starts one step, watches its memory, and ends it in time.

It is a process of its own so that a busy window cannot make it late, and so that what a step
leaves behind has a parent that ends it, also after the window has died.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import traceback
from collections import deque
from typing import TYPE_CHECKING, Final

from dflash_desktop.domain.export_guard import (
    GuardDecision,
    GuardLimits,
    GuardReason,
    GuardVerdict,
    MemorySample,
    decide,
    guard_limits,
    next_look_seconds,
)
from dflash_desktop.workers import protocol
from dflash_desktop.workers.guard_messages import (
    EndStep,
    GuardStep,
    HoldStep,
    StepEnded,
    StepMemory,
)
from dflash_desktop.workers.guarded_child import GuardedChild, adopt_orphans
from dflash_desktop.workers.linux_cgroup import MemoryGroup, make_memory_group
from dflash_desktop.workers.runtime import WorkerRuntime
from dflash_desktop.workers.step_output import StepOutput
from dflash_desktop.workers.system_load import SystemLoad, oom_kills, system_load

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.workers.protocol import Command, Event

_KEPT_SECONDS: Final = 4.0
_TOLD_SECONDS: Final = 0.25
_EXACT_SECONDS: Final = 1.0
_EXACT_WHEN_HIGH_SECONDS: Final = 0.1
_EXIT_GUARD_FAILED: Final = 70
_HARD_LIMIT_BYTES: Final = 512 << 20
"""Above the limit; there Windows refuses memory by itself, should the guard be late."""


class GuardJobs:
    """Runs one step; whoever started this process ends it after the answer."""

    def __init__(self, runtime: WorkerRuntime) -> None:
        self._runtime = runtime
        self._watch: StepWatch | None = None

    def run(self, command: Command) -> None:
        """Do what a command says, and return at once."""
        match command:
            case GuardStep():
                self._start(command)
            case HoldStep(is_held=is_held) if self._watch is not None:
                self._watch.hold(is_held=is_held)
            case EndStep() if self._watch is not None:
                self._watch.end()
            case _:
                pass

    def end_all(self) -> None:
        """The window is gone: nothing of the step may stay."""
        if self._watch is not None:
            self._watch.child.end()

    def _start(self, command: GuardStep) -> None:
        try:
            # On this thread: Linux ends the child with the thread that started it.
            self._watch = StepWatch(command, send=self._runtime.send)
        except OSError as error:
            self._runtime.send(protocol.Failed(command.job, "step_not_started", str(error)))
            return
        threading.Thread(target=self._guard, args=(self._watch,), daemon=True).start()

    def _guard(self, watch: StepWatch) -> None:
        try:
            watch.run()
        except Exception:  # noqa: BLE001 - no step may run without its guard
            traceback.print_exc()
            watch.child.end()
            os._exit(_EXIT_GUARD_FAILED)


class StepWatch:
    """One step and its memory. `run` returns when every process of it is gone."""

    def __init__(self, command: GuardStep, *, send: Callable[[Event], None]) -> None:
        """Start the step. Raises `OSError`."""
        self._job = command.job
        self._send = send
        load = system_load()
        self._limits = guard_limits(
            load.total_bytes,
            limit_bytes=command.limit_bytes,
            swap_used_bytes=load.swap_used_bytes,
            swap_free_bytes=load.swap_free_bytes,
        )
        limit_bytes = self._limits.tree_bytes
        self.child = GuardedChild(
            command.argv,
            env=command.env,
            work_dir=command.work_dir,
            hard_limit_bytes=limit_bytes + _HARD_LIMIT_BYTES,
        )
        self._group = _group_for(self.child.pid, limit_bytes)
        self._output = StepOutput(self.child.output, command.log_file, send=send, job=command.job)
        self._looks = _Looks(self.child, self._limits)
        self._oom_kills = oom_kills()
        self._wake = threading.Event()
        self._is_ending = False
        self._wants_held: bool | None = None
        self._verdict = GuardVerdict.CONTINUE
        self._told_at = 0.0

    def hold(self, *, is_held: bool) -> None:
        """Let it stand still or go on; from any thread."""
        self._wants_held = is_held
        self._wake.set()

    def end(self) -> None:
        """End it now; from any thread."""
        self._is_ending = True
        self._wake.set()

    def run(self) -> None:
        """Watch until it has ended by itself, was ended, or has to be."""
        decision = self._until_over()
        if self._group is not None:
            self._group.kill()
        self.child.end()
        self._output.finish()
        last = self._looks.last
        is_stopped = decision.verdict is GuardVerdict.STOP
        at_limit = self._group.oom_kills() if self._group is not None else 0
        reason = decision.reason if is_stopped else GuardReason.NONE
        if at_limit and not is_stopped:
            reason = GuardReason.LIMIT
        if self._group is not None:
            self._group.remove()
        code = self.child.code
        self.child.close()
        self._send(
            StepEnded(
                self._job,
                code,
                stopped_by=reason,
                is_ended_on_request=self._is_ending,
                peak_bytes=self._looks.peak_bytes,
                tree_bytes=last.tree_bytes,
                available_bytes=last.available_bytes,
                limit_bytes=self._limits.tree_bytes,
                floor_bytes=self._limits.floor_bytes,
                oom_kills=oom_kills() - self._oom_kills,
            )
        )

    def _until_over(self) -> GuardDecision:
        while True:
            decision = self._looks.look()
            if self._is_ending or self.child.has_ended():
                return GuardDecision(GuardVerdict.CONTINUE)
            self._tell(decision)
            self._output.tell()
            if decision.verdict is GuardVerdict.STOP:
                return decision
            if decision.verdict is GuardVerdict.LOWER_PRIORITY > self._verdict:
                self.child.slow_down()
            self._verdict = max(self._verdict, decision.verdict)
            if self._wants_held is not None:
                self.child.hold(is_held=self._wants_held)
                self._wants_held = None
            self._wake.wait(next_look_seconds(self._looks.last, self._limits))
            self._wake.clear()

    def _tell(self, decision: GuardDecision) -> None:
        now = time.monotonic()
        if now - self._told_at < _TOLD_SECONDS and decision.verdict <= self._verdict:
            return
        self._told_at = now
        last = self._looks.last
        self._send(
            StepMemory(
                self._job,
                at_seconds=last.at_seconds,
                tree_bytes=last.tree_bytes,
                available_bytes=last.available_bytes,
                limit_bytes=self._limits.tree_bytes,
                floor_bytes=self._limits.floor_bytes,
                verdict=int(decision.verdict),
                reason=decision.reason,
            )
        )


class _Looks:
    """Looks at the memory: cheaply as a rule, exactly before anything is done about it."""

    def __init__(self, child: GuardedChild, limits: GuardLimits) -> None:
        self._child = child
        self._limits = limits
        self._samples: deque[MemorySample] = deque()
        self._began = time.monotonic()
        self._exact_at = -_EXACT_SECONDS
        self._counted_twice_bytes = 0
        self.peak_bytes = 0

    @property
    def last(self) -> MemorySample:
        """The newest sample."""
        return self._samples[-1] if self._samples else MemorySample(0.0, 0, 0)

    def look(self) -> GuardDecision:
        """One more sample, and what to do after it."""
        load, pids = system_load(), self._child.pids()
        quick = self._child.quick_bytes(pids)
        now = time.monotonic() - self._began
        decision = self._add(now, max(0, quick - self._counted_twice_bytes), load)
        since = now - self._exact_at
        is_due = since >= _EXACT_SECONDS or (
            decision.verdict and since >= _EXACT_WHEN_HIGH_SECONDS
        )
        if is_due or decision.verdict is GuardVerdict.STOP:
            self._samples.pop()
            exact = self._child.exact_bytes(pids)
            self._exact_at, self._counted_twice_bytes = now, quick - exact
            decision = self._add(now, exact, load)
        self.peak_bytes = max(self.peak_bytes, self.last.tree_bytes)
        return decision

    def _add(self, now: float, tree_bytes: int, load: SystemLoad) -> GuardDecision:
        self._samples.append(
            MemorySample(
                at_seconds=now,
                tree_bytes=tree_bytes,
                available_bytes=load.available_bytes,
                swap_used_bytes=load.swap_used_bytes,
                commit_free_bytes=load.commit_free_bytes,
                stalled_seconds=load.stalled_seconds,
            )
        )
        while now - self._samples[0].at_seconds > _KEPT_SECONDS:
            self._samples.popleft()
        return decide(self._samples, self._limits)


def _group_for(pid: int, limit_bytes: int) -> MemoryGroup | None:
    if sys.platform != "linux":
        return None
    group = make_memory_group(f"dflash-export-{pid}", limit_bytes)
    if group is not None and not group.take_in(pid):
        group.remove()
        return None
    return group


def main() -> None:
    """Entry point of the guard process."""
    adopt_orphans()
    runtime = WorkerRuntime.claim("guard", tidies_up=True)
    jobs = GuardJobs(runtime)
    runtime.serve(jobs.run, before_exit=jobs.end_all)


if __name__ == "__main__":
    main()
