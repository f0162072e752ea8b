"""A program that exports a pair, or goes on with what an earlier start of it left.

Run: python -m tests.fakes.export_program FOLDER. It ends with 0 when both models are in the
library, and waits for nothing else.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from dflash_desktop.domain.export_request import ExportRole
from dflash_desktop.domain.export_run import ExportState
from tests.fakes.export_world import ExportWorld


async def main(folder: Path) -> int:
    world = ExportWorld(folder)
    exports = world.open()
    await exports.tidy()
    runs = exports.runs()
    if not runs and world.library.models():
        return 0  # an earlier start was ended after its last deed
    run = runs[0] if runs else exports.start(world.plan(ExportRole.TARGET, ExportRole.DRAFT))
    if runs:
        exports.resume(run.id)
    news = asyncio.Event()
    exports.subscribe(news.set)
    while exports.runs()[0].state in (ExportState.WAITING, ExportState.RUNNING):
        news.clear()
        await news.wait()
    await world.close()
    problem = exports.runs()[0].problem
    if problem is not None:
        sys.stderr.write(f"{problem.headline}\n{problem.advice}\n{problem.detail}\n")
    return int(exports.runs()[0].state is not ExportState.DONE)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(Path(sys.argv[1]))))
