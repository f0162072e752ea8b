"""Deletes folders in the background, one after what still writes into it has ended."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


async def remove_folder(folder: Path) -> None:
    """Delete it; what cannot go stays, and is found as a leftover."""
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


class FolderRemovals:
    """All deletions that are under way."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, folder: Path, *, after: asyncio.Task[None] | None) -> None:
        """Delete it once `after` has ended."""
        task = asyncio.create_task(_remove(folder, after), name="delete a download")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self) -> None:
        """Wait until all are done."""
        if self._tasks:
            await asyncio.wait(self._tasks)


async def _remove(folder: Path, after: asyncio.Task[None] | None) -> None:
    if after is not None:
        await asyncio.wait([after])
    await remove_folder(folder)
