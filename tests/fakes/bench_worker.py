"""A worker process whose speeds are made up: it states times without spending them.

So measurements of it are instant, and what they must find is known exactly.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from dflash_desktop.domain.generation import FinishReason, GenerationStats
from dflash_desktop.services.worker_launch import WorkerCommand, WorkerLauncher, worker_environment
from dflash_desktop.workers.protocol import (
    Command,
    Detokenize,
    Detokenized,
    Devices,
    Failed,
    Finished,
    Generate,
    ListDevices,
    Load,
    Loaded,
    MeasureNoise,
    Noise,
    Score,
    Scored,
    Started,
)
from dflash_desktop.workers.runtime import WorkerRuntime
from tests.fakes.fake_worker import RUNTIME_NAME, Script, device_report, loaded_pair

if TYPE_CHECKING:
    from collections.abc import Iterable

VARIABLE = "DFLASH_FAKE_SPEEDS"
CONTEXT_TOKENS = 8192


class Speeds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How fast the made-up model is. A prompt's own acceptance is chosen by a word in it."""

    seconds_per_step: float = 0.02
    share_per_assistant_token: float = 0.1  # how much longer one more makes a step
    tokens_per_step: float = 2.0
    tokens_per_step_by_word: dict[str, float] = {}
    loses_draft_from: int | None = None  # behind this many tokens nothing is accepted any more
    first_calls: int = 0  # this many answers of each setting are slow
    first_call_factor: float = 5.0
    growth_per_context_token: float = 0.0  # share by which a step without the draft grows
    draft_growth_per_context_token: float = 0.0
    tokens: int = 64
    differs_from: int | None = None  # the token at which texts with the draft go another way
    differs_for_word: str = ""
    gap_nats: float = 0.5
    noise_nats: float = 0.01
    slower_every_answer: float = 0.0  # a machine that gets hot: share added with each answer
    fails_at_answer: int | None = None
    crashes_at_answer: int | None = None
    crashes_with_draft: bool = False
    log_file: str = ""  # gets one line for each answer: its setting


class BenchModel:
    """Answers as `Speeds` says."""

    def __init__(self, *, speeds: Speeds, runtime: WorkerRuntime) -> None:
        self._speeds = speeds
        self._runtime = runtime
        self._answers = 0
        self._answers_of: dict[int, int] = {}
        self._keeps_both = False
        self._holds_draft = True

    def run(self, command: Command) -> None:
        """Do one job."""
        send = self._runtime.send
        match command:
            case ListDevices(job):
                send(Devices(job, device_report()))
            case Load():
                self._keeps_both = command.keep_both
                send(Loaded(command.job, loaded_pair(command, _SCRIPT)))
            case Generate():
                self._generate(command)
            case Score(job, candidates=candidates):
                gap = self._speeds.gap_nats
                send(Scored(job, tuple(-1.0 - gap * n for n in range(len(candidates)))))
            case MeasureNoise(job):
                send(Noise(job, self._speeds.noise_nats))
            case Detokenize(job, token_lists):
                send(Detokenized(job, tuple(" ".join(f"t{t}" for t in ts) for ts in token_lists)))
            case _:
                raise NotImplementedError(type(command).__name__)

    def _generate(self, command: Generate) -> None:
        speeds, job = self._speeds, command.job
        self._answers += 1
        if self._answers == speeds.crashes_at_answer or (
            speeds.crashes_with_draft and command.assistant_tokens
        ):
            os.abort()
        if self._answers == speeds.fails_at_answer:
            self._runtime.send(Failed(job, "worker_error", "a scripted failure"))
            return
        if speeds.log_file:
            with Path(speeds.log_file).open("a", encoding="utf-8") as log:
                log.write(f"{command.assistant_tokens}\n")
        prompt_tokens = sum(len(message.content) // 4 for message in command.messages)
        tokens = min(speeds.tokens, command.params.max_new_tokens)
        stats = self._stats(command, prompt_tokens, tokens)
        self._runtime.send(Started(job, prompt_tokens, CONTEXT_TOKENS, 0, thinking_is_open=False))
        ids = tuple(self._ids(command, tokens))
        steps = tuple(_step_tokens(tokens, stats.steps))
        self._runtime.send(Finished(job, FinishReason.LENGTH, stats, ids, steps))

    def _ids(self, command: Generate, tokens: int) -> Iterable[int]:
        index = self._speeds.differs_from
        text = command.messages[-1].content
        goes_astray = command.assistant_tokens and self._speeds.differs_for_word in text
        for number in range(tokens):
            yield number + (1000 if goes_astray and index is not None and number >= index else 0)

    def _stats(self, command: Generate, prompt_tokens: int, tokens: int) -> GenerationStats:
        speeds, assistant_tokens = self._speeds, command.assistant_tokens
        if not self._keeps_both and self._holds_draft != bool(assistant_tokens):
            self._answers_of.clear()  # the other pipeline is built anew, and cold
            self._holds_draft = bool(assistant_tokens)
        seconds = speeds.seconds_per_step * (1 + speeds.slower_every_answer * self._answers)
        growth = speeds.growth_per_context_token
        per_step = 1.0
        if assistant_tokens:
            seconds *= 1 + speeds.share_per_assistant_token * assistant_tokens
            growth = speeds.draft_growth_per_context_token or growth
            per_step = min(self._tokens_per_step(command), assistant_tokens + 1.0)
            if speeds.loses_draft_from is not None and prompt_tokens > speeds.loses_draft_from:
                per_step = 1.0
        seconds *= 1 + growth * prompt_tokens
        count = self._answers_of[assistant_tokens] = self._answers_of.get(assistant_tokens, 0) + 1
        if count <= speeds.first_calls:
            seconds *= speeds.first_call_factor
        steps = 1 + (tokens - 1) / per_step
        return GenerationStats(
            prompt_tokens=prompt_tokens,
            tokens=tokens,
            steps=round(steps),
            first_step_tokens=1,
            first_token_seconds=seconds,
            decode_seconds=(steps - 1) * seconds,
            assistant_tokens=assistant_tokens,
        )

    def _tokens_per_step(self, command: Generate) -> float:
        text = command.messages[-1].content
        by_word = self._speeds.tokens_per_step_by_word
        return next(
            (n for word, n in by_word.items() if word in text), self._speeds.tokens_per_step
        )


def _step_tokens(tokens: int, steps: int) -> Iterable[int]:
    """One for the prompt's own step, the others spread evenly over the rest."""
    yield 1
    later = steps - 1
    for number in range(later):
        yield (number + 1) * (tokens - 1) // later - number * (tokens - 1) // later


class BenchLauncher(WorkerLauncher):
    """Starts the worker with these speeds wherever the program would start its engine."""

    def __init__(self, *, speeds: Speeds, log_dir: Path) -> None:
        super().__init__(log_dir=log_dir)
        self._speeds = speeds
        self._log_dir = log_dir

    def engine(self) -> WorkerCommand:
        """This module as a process."""
        return WorkerCommand(
            argv=(sys.executable, "-P", "-m", "tests.fakes.bench_worker"),
            env=worker_environment()
            | {
                VARIABLE: msgspec.json.encode(self._speeds).decode(),
                "PYTHONPATH": str(Path(__file__).parents[2]),
            },
            log_file=self._log_dir / "engine.log",
        )


_SCRIPT = Script(context_tokens=CONTEXT_TOKENS)


def main() -> None:
    """Read the speeds and serve."""
    speeds = msgspec.json.decode(os.environ[VARIABLE], type=Speeds)
    runtime = WorkerRuntime.claim("engine")
    model = BenchModel(speeds=speeds, runtime=runtime)
    runtime.serve(model.run, hello_runtime=RUNTIME_NAME)


if __name__ == "__main__":
    main()
