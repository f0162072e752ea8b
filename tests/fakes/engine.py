"""An `Engine` over the fake worker, and what tests ask of it again and again."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from dflash_desktop.domain.generation import PromptMessage, Role, SamplingParams
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.services.engine import Engine, EngineLimits
from dflash_desktop.workers.protocol import Finished, Text
from tests.fakes.launcher import FakeLauncher, fake_launcher

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dflash_desktop.domain.engine_state import EngineState
    from dflash_desktop.workers.protocol import Prefill, Started
    from tests.fakes.fake_worker import Script

PATIENCE_SECONDS = 20.0
"""Longer than anything here takes, also on a busy machine; only a failing test waits for it."""

PAIR = PairFolders(
    id="fake", title="Fake pair", target_dir=Path("/fake/target"), draft_dir=Path("/fake/draft")
)
QUESTION = (PromptMessage(Role.USER, "Why is the sky blue?"),)


class EngineUnderTest:
    """An engine, its launcher, and every state that it was in."""

    def __init__(self, *, engine: Engine, launcher: FakeLauncher) -> None:
        self.engine = engine
        self.launcher = launcher
        self.states: list[EngineState] = []
        engine.subscribe(self.states.append)

    async def load(self) -> None:
        """Load the fake pair on the made-up CPU."""
        await self.engine.load(PAIR, device="CPU")

    async def reach(self, *kinds: type[EngineState]) -> EngineState:
        """Wait until the engine is in a state of one of these kinds."""
        await until(lambda: isinstance(self.engine.state, kinds))
        return self.engine.state

    def is_in(self, *kinds: type[EngineState]) -> bool:
        """Whether the engine is in a state of one of these kinds now."""
        return isinstance(self.engine.state, kinds)

    def has_crashed(self, times: int) -> bool:
        """Whether this many crashes were told."""
        return self.names_of_states().count("Crashed") == times

    def answer(self) -> Answer:
        """Begin to answer the usual question."""
        return Answer(self.engine)

    def names_of_states(self) -> list[str]:
        """The kinds of the states so far, in order."""
        return [type(state).__name__ for state in self.states]


class Answer:
    """One answer being collected."""

    def __init__(self, engine: Engine) -> None:
        self.stream = engine.generate(QUESTION, SamplingParams(), assistant_tokens=3)
        self.events: list[Started | Prefill | Text | Finished] = []

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(r.text for e in self.events if isinstance(e, Text) for r in e.runs)

    @property
    def finished(self) -> Finished:
        """The last event."""
        last = self.events[-1]
        assert isinstance(last, Finished)
        return last

    async def first_text(self, *, chunks: int = 1) -> None:
        """Collect up to this many pieces of text."""
        async for event in self.stream:
            self.events.append(event)
            if isinstance(event, Text) and event.stats.steps == chunks:
                return

    async def rest(self) -> None:
        """Collect to the end; raises what the engine raises."""
        async for event in self.stream:
            self.events.append(event)


@asynccontextmanager
async def engine_under_test(
    log_dir: Path, script: Script | None = None, limits: EngineLimits | None = None
) -> AsyncIterator[EngineUnderTest]:
    """An engine over the fake worker, stopped at the end."""
    launcher = fake_launcher(script, log_dir=log_dir)
    engine = Engine(launcher=launcher, limits=limits or EngineLimits())
    try:
        yield EngineUnderTest(engine=engine, launcher=launcher)
    finally:
        await engine.stop()


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition; raises `TimeoutError` when it never comes true."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110  # what is waited for sets no event
            await asyncio.sleep(0.005)


def until_blocking(condition: Callable[[], bool], *, seconds: float = PATIENCE_SECONDS) -> float:
    """As `until`, without a loop; returns how many seconds it took."""
    started = time.monotonic()
    while not condition():
        if time.monotonic() - started > seconds:
            raise TimeoutError
        time.sleep(0.005)
    return time.monotonic() - started


def fake_workers() -> set[int]:
    """The process ids of the fake workers that this process runs now."""
    children = psutil.Process().children(recursive=True)
    return {child.pid for child in children if is_alive(child.pid)}


def is_alive(pid: int) -> bool:
    """Whether a process runs; an unread exit code does not count."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def is_gone(pid: int) -> bool:
    """The opposite of `is_alive`."""
    return not is_alive(pid)
