"""How long after cancel the engine is ready for the next question.

Run: python -m tests.perf.cancel_latency [--repeats 5] [--json]

Cancelled in two places: while an answer is written, and right when the reading of a long prompt
begins, where the longest piece of native work lies ahead.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from dflash_desktop.domain.engine_state import Loaded
from dflash_desktop.domain.generation import FinishReason, SamplingParams
from dflash_desktop.workers.protocol import Finished, Prefill, Started, Text
from tests.fakes.engine import until
from tests.perf.json_child import Question
from tests.perf.pair_option import add_pair_arguments, as_message, chosen_pair, make_engine
from tests.perf.program_answer import timed_answer
from tests.perf.report import Measured, show

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflash_desktop.domain.pair import PairFolders
    from dflash_desktop.services.engine import Engine

BAR_MS = 500.0
STORY = "Tell me a long story about a dragon."
STEPS_BEFORE_CANCEL = 10

Event = Started | Prefill | Text | Finished


async def cancel_ms(
    engine: Engine, prompt: str, tokens: int, is_time: Callable[[Event], bool]
) -> float:
    """Cancel at the first event that `is_time`; milliseconds until the engine is ready."""
    stream = engine.generate(
        as_message(prompt), SamplingParams(max_new_tokens=2048), assistant_tokens=tokens
    )
    due = asyncio.Event()
    reason: FinishReason | None = None

    async def consume() -> None:
        nonlocal reason
        async with aclosing(stream) as events:
            async for event in events:
                if is_time(event):
                    due.set()
                if isinstance(event, Finished):
                    reason = event.reason

    consumer = asyncio.create_task(consume())
    await due.wait()
    began = time.perf_counter()
    await engine.cancel()
    # After a cancel by force this takes until the engine is back with its model.
    await until(lambda: isinstance(engine.state, Loaded))
    waited_ms = (time.perf_counter() - began) * 1000
    await consumer
    if reason is not FinishReason.CANCELLED:
        raise SystemExit(f"the answer was not cancelled but ended with {reason}")
    await timed_answer(engine, Question("What is the capital of France?", 4, tokens))
    return waited_ms


def after_steps(count: int) -> Callable[[Event], bool]:
    seen = 0

    def is_time(event: Event) -> bool:
        nonlocal seen
        seen += isinstance(event, Text)
        return seen >= count

    return is_time


def at_start(event: Event) -> bool:
    """The prompt is built, and its first piece is being read."""
    return isinstance(event, Started)


async def measure(folders: PairFolders, args: argparse.Namespace) -> list[Measured]:
    engine = make_engine()
    long_prompt = "The quick brown fox jumps over the lazy dog. " * (args.prompt_tokens // 10)
    try:
        pair = await engine.load(folders, device=args.device, keep_both=True)
        rows: list[Measured] = []
        for tokens in (0, args.assistant_tokens) if pair.draft else (0,):
            name = f"{tokens} assistant tokens" if tokens else "no draft"
            decode = [
                await cancel_ms(engine, STORY, tokens, after_steps(STEPS_BEFORE_CANCEL))
                for _ in range(args.repeats)
            ]
            prefill = [
                await cancel_ms(engine, long_prompt, tokens, at_start) for _ in range(args.repeats)
            ]
            rows += _rows(f"{name}, while answering", decode)
            rows += _rows(f"{name}, while reading {args.prompt_tokens} tokens", prefill)
        return rows
    finally:
        await engine.stop()


def _rows(name: str, waits_ms: list[float]) -> list[Measured]:
    return [
        Measured(f"{name}: median", statistics.median(waits_ms), "ms"),
        Measured(f"{name}: worst of {len(waits_ms)}", max(waits_ms), "ms", bar=BAR_MS),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_pair_arguments(parser)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--assistant-tokens", type=int, default=3)
    parser.add_argument("--prompt-tokens", type=int, default=6000)
    args = parser.parse_args()
    rows = asyncio.run(measure(chosen_pair(args), args))
    return show("From cancel to an engine that is ready again", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
