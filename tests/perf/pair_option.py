"""The pair that a benchmark runs: two folders, or the starter pair of the tests."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.generation import PromptMessage, Role
from dflash_desktop.domain.pair import PairFolders
from dflash_desktop.domain.starter import StarterState
from dflash_desktop.services.bench_prompts import load_bench_prompts
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.starter import Starter
from dflash_desktop.services.worker_launch import WorkerLauncher
from tests.starter_fixture import starter_paths

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dflash_desktop.domain.benchmark import BenchPrompt


def add_pair_arguments(parser: ArgumentParser) -> None:
    """The options that all benchmarks with a model share."""
    parser.add_argument("--target", type=Path, help="target folder (default: the starter pair)")
    parser.add_argument("--draft", type=Path, help="draft folder of --target")
    parser.add_argument("--device", default="CPU", help="OpenVINO's name (default: CPU)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def make_engine() -> Engine:
    """The engine as the program has it, with its log among the cached starter pair's."""
    return Engine(launcher=WorkerLauncher(log_dir=starter_paths().log_dir))


def chosen_pair(args: Namespace) -> PairFolders:
    """The pair that the arguments name; the starter pair is installed if it is not there yet.

    Runs a loop of its own, so it must be called outside of one. Raises `AppError` when the
    installation fails.
    """
    if args.target is not None:
        return PairFolders("given", args.target.name, args.target, args.draft)
    return asyncio.run(_starter_pair())


async def _starter_pair() -> PairFolders:
    paths = starter_paths()
    engine = make_engine()
    launcher = WorkerLauncher(log_dir=paths.log_dir)
    starter = Starter(paths=paths, launcher=launcher, engine=engine)
    try:
        if starter.status().state is not StarterState.READY:
            async with aclosing(starter.install()) as steps:
                async for _ in steps:
                    pass
        return starter.pair()
    finally:
        await engine.stop()


def bench_prompts(*, full: bool) -> tuple[BenchPrompt, ...]:
    """The program's own measurement prompts."""
    prompts = load_bench_prompts()
    return prompts.full if full else prompts.fast


def as_message(text: str) -> tuple[PromptMessage, ...]:
    """A conversation of one question."""
    return (PromptMessage(Role.USER, text),)
