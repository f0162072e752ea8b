"""How long 200 models take to be listed, and how fast a model is verified.

Run: python -m tests.perf.library_listing [--models 200] [--verify-mb 1500] [--json]

The library is made anew with 15 files a model. "Cold" is the first reading by a process; that of
the disk itself cannot be had without rights that a benchmark should not ask for.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.services.model_library import ModelLibrary
from tests.fakes.library_world import app_paths, arrive, many_models
from tests.perf.report import Measured, show

if TYPE_CHECKING:
    from dflash_desktop.paths import AppPaths

BAR_MS = 200.0
BAR_HASHING = 0.9
REPEATS = 7


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--verify-mb", type=int, default=1500)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        paths = app_paths(Path(name))
        many_models(paths, args.models)
        rows = [
            Measured("ModelLibrary.models(), first reading", reading_ms(paths), "ms", BAR_MS),
            Measured("the same with pairs()", reading_ms(paths, with_pairs=True), "ms", BAR_MS),
            Measured("refresh() when nothing changed", refresh_ms(paths), "ms", BAR_MS),
            command_row(name),
            hashing_row(paths, args.verify_mb),
        ]
    return show(f"A library of {args.models} models", rows, as_json=args.json)


def reading_ms(paths: AppPaths, *, with_pairs: bool = False) -> float:
    seconds = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        library = ModelLibrary(paths=paths)
        _ = library.pairs() if with_pairs else library.models()
        seconds.append(time.perf_counter() - began)
    return 1000 * statistics.median(seconds)


def refresh_ms(paths: AppPaths) -> float:
    async def measure() -> float:
        library = ModelLibrary(paths=paths)
        library.models()
        seconds = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            await library.refresh()
            seconds.append(time.perf_counter() - began)
        return 1000 * statistics.median(seconds)

    return asyncio.run(measure())


def command_row(home: str) -> Measured:
    """The whole command, the start of Python included."""
    environment = {**os.environ, "DFLASH_HOME": str(Path(home) / "home")}
    paths = Path(home) / "home"
    paths.mkdir(exist_ok=True)
    (paths / "data").symlink_to(Path(home) / "data")

    def run_ms(*arguments: str) -> float:
        seconds = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "dflash_desktop", *arguments],
                env=environment,
                check=True,
                capture_output=True,
            )
            seconds.append(time.perf_counter() - began)
        return 1000 * statistics.median(seconds)

    return Measured(
        "`models list --json`, the whole process", run_ms("models", "list", "--json"), "ms", BAR_MS
    )


def hashing_row(paths: AppPaths, size_mb: int) -> Measured:
    """Verification against `sha256sum`, in turns, of one file that is in memory."""
    data = os.urandom(1 << 20)
    arrived = arrive(paths.incoming_dir / "large", {"openvino_model.bin": data * size_mb})
    library = ModelLibrary(paths=paths)
    ours, theirs = [], []

    async def work() -> None:
        model = await library.install(
            arrived.folder, repo_id="o/large", commit="a" * 40, endpoint="", files=arrived.files
        )
        for _ in range(5):
            began = time.perf_counter()
            report = await library.verify("o/large")
            ours.append(time.perf_counter() - began)
            assert report.is_whole
            began = time.perf_counter()
            file = model.path / "openvino_model.bin"
            await asyncio.to_thread(
                subprocess.run, ["sha256sum", str(file)], check=True, capture_output=True
            )
            theirs.append(time.perf_counter() - began)

    asyncio.run(work())
    ratio = statistics.median(theirs) / statistics.median(ours)
    rate = size_mb / statistics.median(ours)
    return Measured(
        "verify against sha256sum",
        ratio,
        "x",
        BAR_HASHING,
        more_is_better=True,
        note=f"{rate:.0f} MB/s",
    )


if __name__ == "__main__":
    sys.exit(main())
