"""Kills a program that exports 20 times and prints what that cost.

Run: python -m tests.perf.killed_exports [KILLS]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.killed_exports import kill_exports


def main() -> int:
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    with tempfile.TemporaryDirectory() as folder:
        killed = kill_exports(Path(folder) / "home", kills=kills, longest_seconds=2.5, seed=1)
    print(killed)
    return int(bool(killed.half or killed.strays or killed.left_over))


if __name__ == "__main__":
    sys.exit(main())
