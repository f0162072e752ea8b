"""Hands thousands of damaged pictures to the real process that reads them.

`python -m tests.perf.fuzz_pictures [--count 2000] [--seed 1] [--json]`. A case is told by its seed
and number: `--only N` repeats it alone. Ends with 1 when a file ended the process without a word,
took more than two seconds of the processor, or more than 500 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from dflash_desktop.services.picture_process import PictureJobError, PictureProcess
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.picture_limits import PICTURE_MEMORY_BYTES
from dflash_desktop.workers.picture_messages import PreparePicture
from tests.fakes.mutations import mutated
from tests.fakes.picture_corpus import good_files
from tests.perf.report import Measured, show

LIMIT_SECONDS = 2.0
UNEXPLAINED = ("picture_reader_ended", "picture_too_slow", "worker_error")


@dataclass(slots=True)
class FuzzAnswer:
    """What came of all cases; `largest_bytes` is the most that a process held at once."""

    outcomes: Counter[str] = field(default_factory=Counter)
    unexplained: list[tuple[int, str, str]] = field(default_factory=list)
    slowest_seconds: float = 0.0
    slowest_number: int = -1
    largest_bytes: int = 0


async def fuzz(*, seed: int, numbers: range, folder: Path) -> FuzzAnswer:
    """Damage the corpus's good files, in turns; the large ones are left out, which only wait."""
    seeds = [file for file in good_files() if len(file.data) < 100_000]
    answer = FuzzAnswer()
    process = PictureProcess(launcher=WorkerLauncher(log_dir=folder / "log"))
    try:
        for number in numbers:
            bits = random.Random(f"{seed}/{number}")
            source = seeds[number % len(seeds)]
            path = folder / "case"
            path.write_bytes(mutated(source.data, bits))
            await _try(process, path, folder, number, answer)
    finally:
        await process.close()
    return answer


async def _try(
    process: PictureProcess, path: Path, folder: Path, number: int, answer: FuzzAnswer
) -> None:
    job = PreparePicture(number, path, "case", folder / "out", folder / "small")
    begun = time.perf_counter()
    code, raw = "read", ""
    try:
        await process.run(job)
    except PictureJobError as error:
        code, raw = error.code, str(error)
    seconds = time.perf_counter() - begun
    answer.outcomes[code] += 1
    if code in UNEXPLAINED:
        answer.unexplained.append((number, code, raw))
    if seconds > answer.slowest_seconds:
        answer.slowest_seconds, answer.slowest_number = seconds, number
    answer.largest_bytes = max(answer.largest_bytes, _largest_so_far())


def _largest_so_far() -> int:
    """The peak of the reader's memory, as the system counts it; 0 while there is none."""
    for child in psutil.Process().children():
        try:
            status = Path(f"/proc/{child.pid}/status").read_text(encoding="ascii")
        except OSError:
            continue
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def main() -> int:
    """Run as the module's text says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    numbers = range(args.count) if args.only is None else range(args.only, args.only + 1)
    with tempfile.TemporaryDirectory() as where:
        answer = asyncio.run(fuzz(seed=args.seed, numbers=numbers, folder=Path(where)))
    for number, code, raw in answer.unexplained:
        print(f"case {number}: {code} {raw}", file=sys.stderr)
    print(dict(answer.outcomes), file=sys.stderr)
    return show(
        "Damaged pictures",
        [
            Measured("unexplained", float(len(answer.unexplained)), "", 0.0),
            Measured("slowest", answer.slowest_seconds, "s", LIMIT_SECONDS),
            Measured("largest", answer.largest_bytes / 1e6, "MB", PICTURE_MEMORY_BYTES / 1e6),
        ],
        as_json=args.json,
    )


if __name__ == "__main__":
    sys.exit(main())
