"""Keeps one engine process alive: its state, its restarts, and one job at a time."""

from __future__ import annotations

import asyncio
import itertools
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dflash_desktop.domain.engine_state import (
    Absent,
    Crashed,
    EngineState,
    HoldsImageModel,
    Ready,
    Starting,
    Stopping,
)
from dflash_desktop.domain.engine_state import Loaded as LoadedState
from dflash_desktop.domain.problems import AppError, CancelledByPersonError, Problem
from dflash_desktop.services.engine_activity import EngineActivity
from dflash_desktop.services.engine_job import EngineJob
from dflash_desktop.services.engine_process import Ending, EngineLimits, EngineProcess
from dflash_desktop.services.error_map import (
    NO_MODEL,
    STOPPED,
    crash_problem,
    problem_from_failure,
)
from dflash_desktop.services.leaving_processes import LeavingProcesses
from dflash_desktop.services.restart_allowance import RestartAllowance
from dflash_desktop.workers.protocol import (
    Cancel,
    ConvertGguf,
    Failed,
    Generate,
    Hello,
    ImageModelLoaded,
    Load,
    Loaded,
    LoadImageModel,
    LoadProgress,
    MakePicture,
    PictureStep,
    Pong,
    Prefill,
    Started,
    Text,
    Unloaded,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dflash_desktop.domain.image_models import LoadedImageModel
    from dflash_desktop.domain.pair import LoadedPair
    from dflash_desktop.services.worker_launch import WorkerCommand
    from dflash_desktop.workers.protocol import Command, Event

_log = logging.getLogger(__name__)


class EngineSupervisor:
    """The life of the engine: `Engine` puts the person's requests on top of it.

    A process is *let go* before it is ended on purpose: from then on its end is no crash, and
    what it still says is nobody's.
    """

    def __init__(self, *, command: Callable[[], WorkerCommand], limits: EngineLimits) -> None:
        self._command = command
        self._limits = limits
        self._state = EngineActivity(limits=limits)
        self._process: EngineProcess | None = None
        self._pair: LoadedPair | None = None
        self._image_model: LoadedImageModel | None = None
        self._resting: LoadedPair | None = None
        self._wants_pair = True
        """Whether the pair comes back by itself; not while pictures are made in its place."""
        self._reload: Callable[[int], Load] | None = None
        self._job: EngineJob | None = None
        self._numbers = itertools.count(1)
        self._restarts = RestartAllowance(
            restarts=limits.restarts, window_seconds=limits.restart_window_seconds
        )
        self._last_crash: Problem | None = None
        self._bring_up: asyncio.Task[Problem | None] | None = None
        self._leaving = LeavingProcesses()
        self._ladder: asyncio.Task[None] | None = None
        self._stopper: asyncio.Task[None] | None = None

    # --- state -----------------------------------------------------------------------------

    @property
    def state(self) -> EngineState:
        """The state of now."""
        return self._state.now

    @property
    def has_process(self) -> bool:
        """Whether an engine runs or is on its way."""
        return self._process is not None or self._bring_up is not None

    @property
    def image_model(self) -> LoadedImageModel | None:
        """The model that makes pictures, while one is loaded."""
        return self._image_model

    @property
    def process_id(self) -> int | None:
        """Of the process that runs now."""
        return None if self._process is None else self._process.hello.pid

    def subscribe(self, listener: Callable[[EngineState], None]) -> Callable[[], None]:
        """Call `listener` in the loop after every change, in order; returns how to stop that."""
        return self._state.subscribe(listener)

    def _settle(self) -> None:
        """Enter the state of a process without a job."""
        if self._pair is not None:
            self._state.enter(LoadedState(self._pair))
        elif self._image_model is not None:
            self._state.enter(HoldsImageModel(self._image_model, self._resting))
        elif self._process is not None:
            self._state.enter(Ready(self._process.hello.runtime))

    # --- start, crash, restart -------------------------------------------------------------

    async def ready(self) -> None:
        """Return when a process is up and a recovery, if one runs, is through.

        Starts the engine if there is none: a request of the person may always do that. Raises
        `AppError` when it does not come up, `CancelledByPersonError` when it is being stopped.
        """
        if self._stopper is not None:
            await asyncio.shield(self._stopper)
        while self._bring_up is not None or self._process is None:
            if self._bring_up is None:
                self._begin()
            problem = await self._brought_up()
            if self._bring_up is None and self._process is None:
                # Not started, or crashed until no restart was left: now the person decides.
                raise AppError(problem or self._last_crash or STOPPED)

    async def ready_with_pair(self) -> None:
        """As `ready`, and the last pair is loaded; raises `AppError` if that cannot be."""
        await self.ready()
        if self._pair is not None:
            return
        if self._reload is None:
            raise AppError(NO_MODEL)
        self._wants_pair = True
        self._begin()
        problem = await self._brought_up()
        await self.ready()  # a crash while loading may have led to another try
        if self._pair is None:
            raise AppError(problem or NO_MODEL)

    def _begin(self) -> None:
        """Start what is missing; takes the place of an attempt whose process is gone."""
        self._bring_up = asyncio.create_task(self._start_and_reload())

    async def _brought_up(self) -> Problem | None:
        """Wait for the attempt; whoever waits may be cancelled without harm to it."""
        if self._bring_up is None:
            return None
        attempt = self._bring_up
        await asyncio.wait({attempt})
        if attempt.cancelled():
            raise CancelledByPersonError
        return attempt.result()

    async def _start_and_reload(self) -> Problem | None:
        """Start the engine if there is none, then load the last pair; returns what failed."""
        try:
            if self._process is None:
                await self._start()
            if self._reload is not None and self._wants_pair:
                await self.load(self._reload)
        except AppError as error:
            _log.info("the engine was not brought up: %s", error)
            return error.problem
        except CancelledByPersonError:
            self._reload = None
            return None
        else:
            return None
        finally:
            # After a crash while loading, the next attempt is already in this one's place.
            if self._bring_up is asyncio.current_task():
                self._bring_up = None

    async def _start(self) -> None:
        await self._leaving.gone()  # two processes would need the memory twice
        self._state.enter(Starting())
        try:
            process = await EngineProcess.start(
                self._command(), limits=self._limits, on_event=self._on_event
            )
        except AppError as error:
            problem = error.problem
            self._state.enter(
                Crashed(problem.headline, None, tuple(problem.detail.splitlines()), False)
            )
            raise
        self._process = process
        process.ended.add_done_callback(lambda ended: self._on_end(process, ended.result()))
        self._settle()

    def _on_end(self, process: EngineProcess, ending: Ending) -> None:
        if process is self._process:
            self._process = None
            self._crash(ending.cause, ending.exit_code, ending.log_tail)

    def _crash(self, cause: str, exit_code: int | None, log_tail: tuple[str, ...]) -> None:
        self._pair = self._image_model = None
        will_restart = self._restarts.take()
        self._last_crash = crash_problem(
            cause=cause, exit_code=exit_code, log_tail=log_tail, will_restart=will_restart
        )
        _log.info("engine crash: %s (exit code %s)", cause, exit_code)
        if (job := self._take_job()) is not None:
            job.fail(self._last_crash)
        self._state.enter(Crashed(cause, exit_code, log_tail, will_restart))
        if will_restart:
            self._begin()

    def _let_go(self, process: EngineProcess, *, politely: bool) -> asyncio.Task[None]:
        """Take leave of the process and see it out; the task is done when it is gone."""
        self._process = None
        self._pair = self._image_model = None
        return self._leaving.see_out(process, politely=politely)

    # --- jobs ------------------------------------------------------------------------------

    @asynccontextmanager
    async def job(self, make: Callable[[int], Command]) -> AsyncIterator[EngineJob]:
        """Run the command that `make` builds from its job number; leaving early cancels it.

        Wait for `ready` before. Raises `AppError` when the process is gone again.
        """
        job = self._submit(make)
        try:
            yield job
        finally:
            if not job.is_over:
                await self.cancel()

    async def load(self, make: Callable[[int], Load]) -> LoadedPair:
        """Load a pair and remember it for the time after a crash. Raises as its job does."""
        async with self.job(make) as job:
            pair = (await job.answer(Loaded)).pair
        self._reload = make
        return pair

    def _submit(self, make: Callable[[int], Command]) -> EngineJob:
        if self._process is None or self._job is not None:
            raise AppError(self._last_crash or STOPPED)
        number = next(self._numbers)
        command = make(number)
        job = self._job = EngineJob(number=number, command=command)
        match command:
            case Load():
                self._pair = self._image_model = self._resting = None
                self._wants_pair = True
                self._state.begin_loading("Loading the model")
            case LoadImageModel():
                self._resting = self._pair or self._resting
                self._pair = self._image_model = None
                self._wants_pair = False
                self._state.begin_loading("Loading the image model")
            case MakePicture():
                self._enter_making()
            case ConvertGguf():
                self._state.begin_loading("Converting the model")
            case Generate():
                self._enter_generating()
            case _:
                pass
        self._process.send(command)
        return job

    def _enter_generating(self) -> None:
        if self._pair is not None:
            self._state.begin_generating(self._pair)

    def _enter_making(self) -> None:
        if self._image_model is not None:
            self._state.begin_making(self._image_model, self._resting)

    def forget_pair(self) -> None:
        """Load nothing by itself from now on."""
        self._reload = self._resting = None

    def _on_event(self, event: Event) -> None:
        job = self._job
        if isinstance(event, Hello | Pong) or job is None or event.job != job.number:
            return  # late words of a job that was given up
        if isinstance(event, Failed):
            self._fail(job, event)
            return
        self._note(event)
        job.put(event)
        if job.is_over:
            self._take_job()
            self._settle()

    def _note(self, event: Event) -> None:
        """Enter the state that a job's event means."""
        match event:
            case LoadProgress(_, stage):
                self._state.begin_loading(stage)
            case Started() | Prefill() | Text() | PictureStep():
                self._note_work(is_picture=isinstance(event, PictureStep))
            case ImageModelLoaded(_, model):
                self._image_model = model
            case Loaded(_, pair):
                self._pair = pair
            case Unloaded():
                self._pair = self._image_model = None
                self._reload = None
            case _:
                pass

    def _note_work(self, *, is_picture: bool) -> None:
        if self._state.is_working:
            self._state.hear()
        elif is_picture:  # parts were loaded for it
            self._enter_making()
        else:  # a pipeline was rebuilt for it
            self._enter_generating()

    def _fail(self, job: EngineJob, failed: Failed) -> None:
        log_tail = self._process.log_tail() if self._process is not None else ()
        problem = problem_from_failure(failed, log_tail=log_tail)
        self._take_job()
        job.fail(problem)
        if failed.tainted and self._process is not None:
            # After a GPU error any further call may hang, so this process is never used again.
            self._let_go(self._process, politely=True)
            self._crash(problem.headline, None, log_tail)
        else:
            self._settle()

    def _take_job(self) -> EngineJob | None:
        job, self._job = self._job, None
        self._state.rest()
        return job

    # --- cancel and stop -------------------------------------------------------------------

    async def cancel(self) -> None:
        """Stop the job; returns when the engine can take the next one, or is on its way back."""
        if self._job is None or self._process is None:
            return
        if self._ladder is None:
            self._ladder = asyncio.create_task(self._climb(self._job, self._process))
        # Climbed to the end even if the one who waits for it is cancelled.
        await asyncio.shield(self._ladder)

    async def _climb(self, job: EngineJob, process: EngineProcess) -> None:
        try:
            process.send(Cancel(job.number))
            patience = max(self._limits.cancel_seconds, job.cancel_seconds)
            if await job.is_over_within(patience):
                return
            self._state.enter(Stopping())
            self._take_job()
            job.give_up()
            gone = self._let_go(process, politely=False)
            self._begin()
            await gone
        finally:
            self._ladder = None

    async def stop(self) -> None:
        """End the engine; afterwards no process of it is left."""
        if self._stopper is None:
            self._stopper = asyncio.create_task(self._stop())
        await asyncio.shield(self._stopper)

    async def _stop(self) -> None:
        try:
            was_absent = isinstance(self._state.now, Absent)
            if not was_absent:
                self._state.enter(Stopping())
            if (job := self._take_job()) is not None:
                job.give_up()
            self._leaving.kill()
            if self._process is not None:
                self._let_go(self._process, politely=True)
            if self._bring_up is not None:
                self._bring_up.cancel()  # which ends a process that has not said hello yet
                await asyncio.wait({self._bring_up})
            await self._leaving.gone()
            if not was_absent:
                self._state.enter(Absent())
        finally:
            self._stopper = None
