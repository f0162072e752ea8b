"""The real engine's jobs in the test's own process, with a pair loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from dflash_desktop.domain.generation import GenerationStats, PromptMessage, Role, SamplingParams
from dflash_desktop.workers import protocol
from dflash_desktop.workers.engine import EngineJobs

if TYPE_CHECKING:
    from pathlib import Path

    from dflash_desktop.domain.pair import PairFolders

    Turn = str | tuple[str, tuple[Path, ...]]

E = TypeVar("E", bound=protocol.Event)
SHORT: Final = SamplingParams(max_new_tokens=48)


@dataclass
class RecordingRuntime:
    """Stands where the pipes are: keeps what the engine sends."""

    sent: list[protocol.Event] = field(default_factory=list)
    is_cancelled_now: Callable[[], bool] = lambda: False

    def send(self, event: protocol.Event) -> None:
        self.sent.append(event)

    def is_cancelled(self, job: int) -> bool:
        return job > 0 and self.is_cancelled_now()

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.sent if isinstance(event, kind)]


@dataclass
class Answer:
    text: str
    started: protocol.Started
    finished: protocol.Finished
    texts: list[protocol.Text]

    @property
    def stats(self) -> GenerationStats:
        return self.finished.stats


class LoadedEngine:
    """An engine with one pair loaded, which asks as said here where a question says nothing."""

    def __init__(
        self,
        folders: PairFolders,
        *,
        keep_both: bool = True,
        assistant_tokens: int = 3,
        params: SamplingParams = SHORT,
    ) -> None:
        self._assistant_tokens = assistant_tokens
        self._params = params
        self.runtime = RecordingRuntime()
        self.jobs = EngineJobs(self.runtime)
        self.jobs.run(
            protocol.Load(
                1, folders.title, folders.target_dir, folders.draft_dir, "cpu", keep_both=keep_both
            )
        )
        assert not self.runtime.of(protocol.Failed), self.runtime.of(protocol.Failed)
        (self.loaded,) = self.runtime.of(protocol.Loaded)
        self.pair = self.loaded.pair

    def ask(
        self,
        *turns: Turn,
        params: SamplingParams | None = None,
        assistant_tokens: int | None = None,
        leave_out_oldest: bool = False,
    ) -> None:
        roles = [Role.USER, Role.ASSISTANT] * len(turns)
        messages = tuple(
            PromptMessage(role, turn)
            if isinstance(turn, str)
            else PromptMessage(role, turn[0], turn[1])
            for role, turn in zip(roles, turns, strict=False)
        )
        self.runtime.sent.clear()
        tokens = self._assistant_tokens if assistant_tokens is None else assistant_tokens
        self.jobs.run(
            protocol.Generate(2, messages, params or self._params, tokens, leave_out_oldest)
        )

    def answer(
        self,
        *turns: Turn,
        params: SamplingParams | None = None,
        assistant_tokens: int | None = None,
        leave_out_oldest: bool = False,
    ) -> Answer:
        self.ask(
            *turns,
            params=params,
            assistant_tokens=assistant_tokens,
            leave_out_oldest=leave_out_oldest,
        )
        assert not self.runtime.of(protocol.Failed), self.runtime.of(protocol.Failed)
        texts = self.runtime.of(protocol.Text)
        return Answer(
            text="".join(run.text for event in texts for run in event.runs),
            started=self.runtime.of(protocol.Started)[0],
            finished=self.runtime.of(protocol.Finished)[0],
            texts=texts,
        )

    def failure(self) -> protocol.Failed:
        (event,) = self.runtime.of(protocol.Failed)
        return event
