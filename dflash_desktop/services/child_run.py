"""Runs another program to its end, and ends it with everything it started when nobody waits."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import psutil

from dflash_desktop.services.process_tree import ProcessTree
from dflash_desktop.services.worker_launch import leashed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

_TICK_SECONDS: Final = 0.25
_GRACE_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How it ended; `output` is its standard output, `messages` its standard error."""

    exit_code: int
    output: str
    messages: str


async def run_to_end(
    argv: tuple[str, ...],
    *,
    env: Mapping[str, str],
    log_file: Path,
    tick: Callable[[int, str], None] | None = None,
    limit_seconds: float | None = None,
) -> ChildEnd:
    """Run it; its standard error goes to `log_file`, which is emptied first.

    `tick` gets, a few times a second, the bytes that it has written and its messages so far.
    Raises `OSError` when it cannot be started, and `TimeoutError` after the limit. Then, or when
    cancelled, the child and whatever it has started are ended before this raises.
    """
    log_file.parent.mkdir(parents=True, exist_ok=True)
    with log_file.open("wb") as log:
        tree = ProcessTree(leashed(argv), env=env, error_output=log)
    tree.pipe_in.close()
    reading = asyncio.ensure_future(asyncio.to_thread(tree.pipe_out.read))
    try:
        async with asyncio.timeout(limit_seconds):
            while not (await asyncio.wait({reading}, timeout=_TICK_SECONDS))[0]:
                if tick:
                    tick(written_bytes(tree.pid), _text(log_file))
        exit_code = await asyncio.to_thread(tree.wait, grace_seconds=_GRACE_SECONDS)
    except BaseException:
        tree.kill()
        await asyncio.wait({reading})
        tree.wait(grace_seconds=_GRACE_SECONDS)  # it was killed, so this takes no time
        raise
    finally:
        tree.pipe_out.close()
    return ChildEnd(exit_code, reading.result().decode("utf-8", "replace"), _text(log_file))


def written_bytes(pid: int) -> int:
    """What a process has written so far, also to memory that the system writes out later."""
    with contextlib.suppress(psutil.Error, AttributeError):
        counters = psutil.Process(pid).io_counters()
        return int(counters.write_chars if sys.platform == "linux" else counters.write_bytes)
    return 0


def _text(log_file: Path) -> str:
    try:
        return log_file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
