"""One answer through the whole program, timed where the window would receive it."""

from __future__ import annotations

import time
from contextlib import aclosing
from typing import TYPE_CHECKING

from dflash_desktop.domain.generation import SamplingParams
from dflash_desktop.workers.protocol import Finished, Text
from tests.perf.json_child import Timed
from tests.perf.pair_option import as_message

if TYPE_CHECKING:
    from dflash_desktop.services.engine import Engine
    from tests.perf.json_child import Question


async def timed_answer(engine: Engine, question: Question) -> Timed:
    """Ask the loaded pair; raises `AppError` like the engine."""
    params = SamplingParams(max_new_tokens=question.max_new_tokens)
    started = time.perf_counter()
    first_at = last_at = 0.0
    finished: Finished | None = None
    stream = engine.generate(
        as_message(question.prompt), params, assistant_tokens=question.assistant_tokens
    )
    async with aclosing(stream) as events:
        async for event in events:
            if isinstance(event, Text):
                last_at = time.perf_counter()
                first_at = first_at or last_at
            elif isinstance(event, Finished):
                finished = event
    if finished is None:
        raise RuntimeError("the answer never finished")
    return Timed(
        tokens=finished.stats.tokens,
        later_tokens=finished.stats.tokens - finished.stats.first_step_tokens,
        seconds=time.perf_counter() - started,
        decode_seconds=last_at - first_at,
        token_ids=finished.token_ids,
    )
