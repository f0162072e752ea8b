"""The engine as everybody uses it: load a pair, ask it questions, stop it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from dflash_desktop.domain.generation import NO_STATS, FinishReason
from dflash_desktop.domain.problems import AppError, CancelledByPersonError
from dflash_desktop.domain.system_facts import with_adapters
from dflash_desktop.services.engine_process import DEFAULT_LIMITS, EngineLimits
from dflash_desktop.services.engine_supervisor import EngineSupervisor
from dflash_desktop.services.error_map import BUSY, DEVICES_SILENT
from dflash_desktop.services.picture_making import PictureMaking
from dflash_desktop.services.system_probe import system_adapters
from dflash_desktop.workers.protocol import (
    ConvertGguf,
    Detokenize,
    Detokenized,
    Devices,
    Finished,
    Generate,
    ListDevices,
    Load,
    LoadProgress,
    MeasureNoise,
    Noise,
    Prefill,
    Score,
    Scored,
    Started,
    Text,
    Unload,
    Unloaded,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable
    from pathlib import Path

    from dflash_desktop.domain.devices import DeviceReport
    from dflash_desktop.domain.engine_state import EngineState
    from dflash_desktop.domain.generation import KvCachePrecision, PromptMessage, SamplingParams
    from dflash_desktop.domain.pair import LoadedPair, PairFolders
    from dflash_desktop.services.worker_launch import WorkerLauncher
    from dflash_desktop.workers.protocol import Command

__all__ = ["Engine", "EngineLimits"]

_Answer = TypeVar("_Answer")


class Engine:
    """One engine in its own process, started when first needed and restarted after a crash.

    Everything runs in the loop's thread. Requests wait for their turn; only a second question is
    refused. All of them raise `AppError` when the engine fails, and `CancelledByPersonError` when
    `cancel` or `stop` ended them by force.
    """

    def __init__(self, *, launcher: WorkerLauncher, limits: EngineLimits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._supervisor = EngineSupervisor(command=launcher.engine, limits=limits)
        self._turn = asyncio.Lock()
        self.pictures = PictureMaking(supervisor=self._supervisor, turn=self._turn)
        self._is_answering = False
        self._entering: asyncio.Task[None] | None = None

    @property
    def state(self) -> EngineState:
        """What the engine does now."""
        return self._supervisor.state

    @property
    def process_id(self) -> int | None:
        """Of the engine's process, or None while there is none."""
        return self._supervisor.process_id

    def subscribe(self, listener: Callable[[EngineState], None]) -> Callable[[], None]:
        """Call `listener` after every change of state; returns a function that ends this."""
        return self._supervisor.subscribe(listener)

    async def devices(self) -> DeviceReport:
        """What OpenVINO finds on this machine, with the PCI ids that the system knows.

        Raises `AppError` ("devices_silent") when the drivers do not answer in time; the engine is
        then ended and started anew.
        """
        async with self._turn:
            await self._supervisor.ready()
            try:
                async with self._supervisor.job(ListDevices) as job:
                    async with asyncio.timeout(self._limits.devices_seconds):
                        report = (await job.answer(Devices)).report
            except TimeoutError as error:
                raise AppError(DEVICES_SILENT) from error
        return with_adapters(report, await asyncio.to_thread(system_adapters))

    async def load(
        self,
        folders: PairFolders,
        *,
        device: str,
        device_name: str = "",
        kv_cache_precision: KvCachePrecision | None = None,
        keep_both: bool = False,
        cache_dir: Path | None = None,
    ) -> LoadedPair:
        """Load a pair in place of what is loaded; see `protocol.Load` for the arguments.

        The pair is loaded again by itself after a restart.
        """

        make = partial(
            Load,
            title=folders.title,
            target_dir=folders.target_dir,
            draft_dir=folders.draft_dir,
            device=device,
            device_name=device_name,
            kv_cache_precision=kv_cache_precision,
            keep_both=keep_both,
            cache_dir=cache_dir,
        )
        async with self._turn:
            await self._supervisor.ready()
            self._supervisor.forget_pair()
            return await self._supervisor.load(make)

    async def generate(
        self,
        messages: tuple[PromptMessage, ...],
        params: SamplingParams,
        *,
        assistant_tokens: int,
        leave_out_oldest: bool = False,
    ) -> AsyncGenerator[Started | Prefill | Text | Finished, None]:
        """Answer the last message; `Finished` comes last. Closing the iterator early cancels.

        Raises `AppError` after the text that came before a failure; "engine_busy" while another
        answer runs, "no_model" when no pair was loaded. An answer that had to be cancelled by
        force ends with `Finished` too, with the last counts and without token ids.
        """
        if self._is_answering:
            raise AppError(BUSY)
        self._is_answering = True
        stats = NO_STATS
        make = partial(
            Generate,
            messages=messages,
            params=params,
            assistant_tokens=assistant_tokens,
            leave_out_oldest=leave_out_oldest,
        )
        try:
            async with self._turn_with_pair(), self._supervisor.job(make) as job:
                async for event in job:
                    if isinstance(event, Text):
                        stats = event.stats
                    if isinstance(event, Started | Prefill | Text | Finished):
                        yield event
        except CancelledByPersonError:
            yield Finished(0, FinishReason.CANCELLED, stats, ())
        finally:
            self._is_answering = False

    async def cancel(self) -> None:
        """Stop the answer, or whatever runs; returns when the engine is ready for the next.

        An engine that does not obey within seconds is ended, and comes back in the background.
        """
        if self._entering is not None:
            self._entering.cancel()
        else:
            await self._supervisor.cancel()

    async def score(
        self,
        messages: tuple[PromptMessage, ...],
        answer_prefix: tuple[int, ...],
        candidates: tuple[int, ...],
    ) -> tuple[float, ...]:
        """The target's log-probability (nats) of each candidate as the answer's next token."""
        make = partial(
            Score, messages=messages, answer_prefix=answer_prefix, candidates=candidates
        )
        return (await self._ask(make, Scored, with_pair=True)).log_probabilities

    async def noise(self, messages: tuple[PromptMessage, ...], answer: tuple[int, ...]) -> float:
        """How far rounding moves the target's log-probabilities (nats) along its own answer."""
        make = partial(MeasureNoise, messages=messages, answer=answer)
        return (await self._ask(make, Noise, with_pair=True)).nats

    async def detokenize(self, token_lists: tuple[tuple[int, ...], ...]) -> tuple[str, ...]:
        """The text of each list of token ids."""
        make = partial(Detokenize, token_lists=token_lists)
        return (await self._ask(make, Detokenized, with_pair=True)).texts

    async def convert_gguf(
        self,
        gguf_path: Path,
        output_dir: Path,
        *,
        more_parts: tuple[Path, ...] = (),
        as_int8: bool = True,
        report: Callable[[str], None] = lambda stage: None,
    ) -> None:
        """Convert a GGUF file into OpenVINO files in `output_dir`, which must be new or empty.

        `report` is told each stage; see `protocol.ConvertGguf` for the other arguments.
        """
        make = partial(
            ConvertGguf,
            gguf_path=gguf_path,
            output_dir=output_dir,
            more_parts=more_parts,
            as_int8=as_int8,
        )
        async with self._turn:
            await self._supervisor.ready()
            async with self._supervisor.job(make) as job:
                async for event in job:
                    if isinstance(event, LoadProgress):
                        report(event.stage)

    async def unload(self) -> None:
        """Let go of the model; without a process there is nothing to do."""
        if self._supervisor.has_process:
            await self._ask(Unload, Unloaded)

    async def stop(self) -> None:
        """End the engine with all its processes, within 3 seconds whatever it does.

        A later request starts it again.
        """
        await self._supervisor.stop()

    async def _ask(
        self, make: Callable[[int], Command], kind: type[_Answer], *, with_pair: bool = False
    ) -> _Answer:
        async with self._turn:
            if with_pair:
                await self._supervisor.ready_with_pair()
            else:
                await self._supervisor.ready()
            async with self._supervisor.job(make) as job:
                return await job.answer(kind)

    @asynccontextmanager
    async def _turn_with_pair(self) -> AsyncIterator[None]:
        """Wait for the turn and the pair in a task of its own, so that `cancel` can end that."""
        entering = self._entering = asyncio.create_task(self._enter())
        try:
            await asyncio.wait({entering})
            self._entering = None
            if entering.cancelled():
                raise CancelledByPersonError
            entering.result()
            yield
        finally:
            self._entering = None
            if not entering.done():
                entering.cancel()
            elif not entering.cancelled() and entering.exception() is None:
                self._turn.release()

    async def _enter(self) -> None:
        """Take the turn, and keep it only if the pair is there."""
        await self._turn.acquire()
        try:
            await self._supervisor.ready_with_pair()
        except BaseException:
            self._turn.release()
            raise
