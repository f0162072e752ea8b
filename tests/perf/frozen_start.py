"""From a double click on the built program to pixels on the screen, on a cold and a warm disk.

Run: python -m tests.perf.frozen_start FOLDER [--runs 5] [--json]

FOLDER is what `packaging/build.py folder` made. The screen is one of Xvfb, whose memory is a file:
what is measured is the moment at which a tenth of its pixels have changed, so all of the start is
in it, and nothing has to be built into the program. For a cold start the system is told to forget
every file of the folder first.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.perf.report import Measured, show

if TYPE_CHECKING:
    from collections.abc import Iterator

COLD_SECONDS = 2.0
WARM_SECONDS = 1.2
LONGEST_SECONDS = 60.0
POLL_SECONDS = 0.004
SAMPLES = 2000
CHANGED_SHARE = 0.1
SIZE = "1440x900x24"


@contextlib.contextmanager
def screen(folder: Path) -> Iterator[tuple[str, mmap.mmap]]:
    """A display of its own, and the memory that it draws into."""
    read_end, write_end = os.pipe()
    server = subprocess.Popen(
        [
            *("Xvfb", "-displayfd", str(write_end), "-screen", "0", SIZE, "-fbdir", str(folder)),
            *("-nolisten", "tcp", "-noreset"),
        ],
        pass_fds=(write_end,),
        stderr=subprocess.DEVNULL,
    )
    os.close(write_end)
    with os.fdopen(read_end) as said:
        display = f":{said.readline().strip()}"
    try:
        with (folder / "Xvfb_screen0").open("rb") as file:
            yield display, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    finally:
        server.terminate()
        server.wait()


def forget(folder: Path) -> None:
    """Let the system drop what it keeps of these files in memory."""
    os.sync()
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def start_once(program: Path, home: Path) -> float:
    """Seconds until the window is on the screen."""
    with (
        tempfile.TemporaryDirectory() as folder,
        screen(Path(folder)) as (display, memory),
    ):
        places = range(len(memory) // 2, len(memory), len(memory) // 2 // SAMPLES)
        before = bytes(memory[place] for place in places)
        environment = {**os.environ, "DISPLAY": display, "DFLASH_HOME": str(home)}
        environment.pop("QT_QPA_PLATFORM", None)
        started = time.monotonic()
        child = subprocess.Popen([str(program)], env=environment, stderr=subprocess.DEVNULL)
        try:
            while time.monotonic() - started < LONGEST_SECONDS:
                now = bytes(memory[place] for place in places)
                changed = sum(a != b for a, b in zip(before, now, strict=True))
                if changed > CHANGED_SHARE * len(before):
                    return time.monotonic() - started
                time.sleep(POLL_SECONDS)
            raise TimeoutError("no window came")
        finally:
            child.terminate()
            child.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    program = args.folder / "dflash-desktop"
    cold: list[float] = []
    warm: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        start_once(program, home)
        for _ in range(args.runs):
            forget(args.folder)
            cold.append(start_once(program, home))
            warm.append(start_once(program, home))
    rows = [
        Measured("cold: median", statistics.median(cold), "s", bar=COLD_SECONDS),
        Measured("cold: worst", max(cold), "s"),
        Measured("warm: median", statistics.median(warm), "s", bar=WARM_SECONDS),
        Measured("warm: worst", max(warm), "s"),
    ]
    return show("Start of the built program", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
