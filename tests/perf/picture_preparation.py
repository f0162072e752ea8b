"""A 24-megapixel photo through the real process, and the window's loop meanwhile.

Run: python -m tests.perf.picture_preparation [--runs 10] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PIL import Image
from PySide6.QtWidgets import QApplication

from dflash_desktop.services.pictures import Pictures
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.ui.garbage import GarbageCollection
from dflash_desktop.ui.pictures.attachment_bar import AttachmentBar
from dflash_desktop.ui.pictures.attachments import Attachments
from dflash_desktop.ui.theme import Theme
from tests.perf.report import Measured, show

BAR_SECONDS = 0.8
BAR_STALL_SECONDS = 0.033
WIDTH, HEIGHT = 6000, 4000


def write_photo(path: Path) -> None:
    """As a camera writes it: noise, soft edges, orientation, chroma at half the size."""
    noise = Image.effect_noise((WIDTH // 4, HEIGHT // 4), 60)
    grain = noise.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
    slope = Image.linear_gradient("L").resize((WIDTH, HEIGHT))
    photo = Image.merge("RGB", (grain, slope, slope.transpose(Image.Transpose.ROTATE_180)))
    exif = Image.Exif()
    exif[0x0112] = 6
    photo.save(path, quality=92, exif=exif)


class StallWatch:
    """The longest time that the loop did nothing else."""

    def __init__(self) -> None:
        self.worst_seconds = 0.0
        self._task = asyncio.ensure_future(self._watch())

    async def _watch(self) -> None:
        last = time.perf_counter()
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            self.worst_seconds = max(self.worst_seconds, now - last - 0.001)
            last = now

    async def end(self) -> float:
        """Stop, and tell."""
        self._task.cancel()
        await asyncio.wait([self._task])
        return self.worst_seconds


async def measure(theme: Theme, folder: Path, runs: int) -> list[Measured]:
    """The first run starts the process; the others find it there."""
    photo = folder / "photo.jpg"
    write_photo(photo)
    pictures = Pictures(launcher=WorkerLauncher(log_dir=folder / "log"), folder=folder / "kept")
    bar = AttachmentBar(theme=theme)
    bar.resize(700, 200)
    problems: list[object] = []
    attachments = Attachments(bar=bar, pictures=pictures, theme=theme, on_problem=problems.append)
    seconds, stalls = [], []
    for _ in range(runs):
        watch = StallWatch()
        await asyncio.sleep(0.02)
        watch.worst_seconds = 0.0
        begun = time.perf_counter()
        attachments.attach_files((str(photo),))
        done = asyncio.Event()
        attachments.changed.connect(done.set)
        while attachments.is_preparing:
            await done.wait()
            done.clear()
        seconds.append(time.perf_counter() - begun)
        bar.grab()  # the thumbnail is drawn
        await asyncio.sleep(0.05)
        stalls.append(await watch.end())
        attachments.take()
    await attachments.close()
    await pictures.close()
    assert not problems, problems
    return [
        Measured("with the start of the process", seconds[0], "s", BAR_SECONDS),
        Measured("median", statistics.median(seconds), "s", BAR_SECONDS),
        Measured("worst", max(seconds), "s", BAR_SECONDS),
        Measured("worst stall of the window's loop", max(stalls), "s", BAR_STALL_SECONDS),
    ]


def main() -> int:
    """Run as the module's text says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    application = QApplication(sys.argv[:1])
    theme = Theme(application)
    GarbageCollection(application)
    loop = qasync.QEventLoop(application)
    asyncio.set_event_loop(loop)
    with loop, tempfile.TemporaryDirectory() as where:
        rows = loop.run_until_complete(measure(theme, Path(where), args.runs))
    return show("A photo of 24 megapixels", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
