"""Tokens per second through the whole program against a bare openvino-genai loop.

Run: python -m tests.perf.throughput_vs_bare [--full] [--repeats 5] [--json]

Both stay loaded and answer the same question one after the other, in changing order; the bar is
on the median of the ratios of such pairs, so that a busy machine slows both sides alike.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.perf.json_child import JsonChild, Question
from tests.perf.pair_option import add_pair_arguments, bench_prompts, chosen_pair, make_engine
from tests.perf.program_answer import timed_answer
from tests.perf.report import Measured, show

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import LoadedPair, PairFolders
    from dflash_desktop.services.engine import Engine
    from tests.perf.json_child import Timed

ROOT = Path(__file__).resolve().parents[2]
BAR = 0.97


async def start_bare_loop(pair: LoadedPair) -> JsonChild:
    """The other side, with every setting of the loaded pair."""
    argv = [sys.executable, "-m", "tests.perf.bare_loop"]
    argv += ["--target", str(pair.target_dir), "--device", pair.device]
    argv += ["--draft", str(pair.draft_dir)] if pair.draft_dir else []
    argv += ["--kv-cache-precision", str(pair.kv_cache_precision)]
    return await JsonChild.start(argv, cwd=ROOT)


async def measure(folders: PairFolders, args: argparse.Namespace) -> list[Measured]:
    engine = make_engine()
    try:
        pair = await engine.load(folders, device=args.device, keep_both=True)
        bare = await start_bare_loop(pair)
        try:
            modes = (0, args.assistant_tokens) if pair.draft else (0,)
            prompts = bench_prompts(full=args.full)
            rows: list[Measured] = []
            for assistant_tokens in modes:
                questions = [Question(p.text, p.max_new_tokens, assistant_tokens) for p in prompts]
                rows += _rows(assistant_tokens, await _pairs(engine, bare, questions, args))
            return rows
        finally:
            await bare.stop()
    finally:
        await engine.stop()


async def _pairs(
    engine: Engine, bare: JsonChild, questions: list[Question], args: argparse.Namespace
) -> list[tuple[Timed, Timed]]:
    """Pairs of (bare, program), measured in changing order."""
    await bare.ask(questions[0])
    await timed_answer(engine, questions[0])
    pairs = []
    for repeat in range(args.repeats):
        for number, question in enumerate(questions):
            if (repeat + number) % 2:
                program = await timed_answer(engine, question)
                pairs.append((await bare.ask(question), program))
            else:
                loop = await bare.ask(question)
                pairs.append((loop, await timed_answer(engine, question)))
    return pairs


def _rows(assistant_tokens: int, pairs: list[tuple[Timed, Timed]]) -> list[Measured]:
    if any(bare.token_ids != program.token_ids for bare, program in pairs):
        raise SystemExit("the two sides gave different tokens, so their speeds do not compare")
    name = f"{assistant_tokens} assistant tokens" if assistant_tokens else "no draft"
    whole = statistics.median(b.seconds / p.seconds for b, p in pairs)
    decode = statistics.median(b.decode_seconds / p.decode_seconds for b, p in pairs)
    rates = [
        statistics.median(t.tokens / t.seconds for t in side) for side in zip(*pairs, strict=True)
    ]
    return [
        Measured(f"{name}: bare loop", rates[0], "tok/s"),
        Measured(f"{name}: program", rates[1], "tok/s"),
        Measured(f"{name}: program / bare, decode only", decode, ""),
        Measured(
            f"{name}: program / bare, question to last token",
            whole,
            "",
            bar=BAR,
            more_is_better=True,
            note=f"median of {len(pairs)} pairs",
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_pair_arguments(parser)
    parser.add_argument("--full", action="store_true", help="all measurement prompts")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--assistant-tokens", type=int, default=3)
    args = parser.parse_args()
    rows = asyncio.run(measure(chosen_pair(args), args))
    return show("Throughput against a bare openvino-genai loop", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
