"""A child process that answers each JSON line with one JSON line."""

from __future__ import annotations

import asyncio
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Question:
    """What the child is asked; `assistant_tokens` 0 means without a draft."""

    prompt: str
    max_new_tokens: int
    assistant_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Timed:
    """What an answer cost: from the question to the last token, and after the first step."""

    tokens: int
    later_tokens: int  # those after the first step
    seconds: float
    decode_seconds: float
    token_ids: tuple[int, ...] = ()


class JsonChild:
    """One child; `ask` must not be called twice at a time."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, argv: Sequence[str], *, cwd: Path) -> JsonChild:
        """Start it and wait until it says that it is ready, with an empty line."""
        process = await asyncio.create_subprocess_exec(
            *argv, cwd=cwd, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        child = cls(process)
        await child._line()
        return child

    async def ask(self, question: Question) -> Timed:
        """Raises `RuntimeError` when the child has gone."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(question) + b"\n")
        await self._process.stdin.drain()
        return msgspec.json.decode(await self._line(), type=Timed)

    async def stop(self) -> None:
        """Close its input, which ends it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()

    async def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = await self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the child ended with exit code {await self._process.wait()}")
        return line
