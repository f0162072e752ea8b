"""Resident memory of the window's process, idle after an answer of 16,000 characters.

Run: python -m tests.perf.window_memory [--characters 16000] [--json]

The real program with a made-up engine: the answer streams in at 200 pieces a second through the
channel and the whole window, and the memory is read once everything has been quiet for a while.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from tests.perf.report import Measured, show

ROOT = Path(__file__).resolve().parents[2]
BAR_MB = 180.0
LONGEST_RUN_SECONDS = 300.0
BYTES_PER_MB = 1e6


class Memory(msgspec.Struct, frozen=True):
    """What the visit tells."""

    before_bytes: int
    after_bytes: int
    characters: int


def visit(characters: int) -> Memory:
    """One run of the program in a new folder."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"DFLASH_HOME": home}
        environment.setdefault("QT_QPA_PLATFORM", "offscreen")
        child = subprocess.run(
            [sys.executable, "-m", "tests.perf.window_visit", str(characters)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            timeout=LONGEST_RUN_SECONDS,
            check=True,
        )
    return msgspec.json.decode(child.stdout.splitlines()[-1], type=Memory)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--characters", type=int, default=16_000)
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    memory = visit(args.characters)
    if memory.characters < args.characters - 1:  # a last line break may go
        raise SystemExit(f"only {memory.characters} of {args.characters} characters arrived")
    rows = [
        Measured("idle, before", memory.before_bytes / BYTES_PER_MB, "MB"),
        Measured(
            f"idle, after {args.characters:,} characters",
            memory.after_bytes / BYTES_PER_MB,
            "MB",
            bar=BAR_MB,
        ),
    ]
    return show("Memory of the window's process", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
