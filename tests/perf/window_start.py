"""From the start of the process to a window that can be seen, and that no engine is in it.

Run: python -m tests.perf.window_start [--runs 7] [--fresh] [--json]

By default the starter pair is installed in the program's folder, so that its engine process
starts right behind the window; with --fresh the folder is empty, as on the first start. The
first run, which warms the disk's cache, does not count. Exit code 1 as well when the window's
process imported OpenVINO.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from tests.perf.report import Measured, show
from tests.starter_fixture import starter_paths

ROOT = Path(__file__).resolve().parents[2]
BAR_SECONDS = 1.0
SETTLE_SECONDS = 1.0
LONGEST_RUN_SECONDS = 120.0


class Facts(msgspec.Struct, frozen=True):
    """What the probe saw; times on the system's monotonic clock."""

    visible_at: float
    cpu_seconds: float
    native_modules: list[str]
    native_modules_later: list[str]
    exit_code: int


def start_once(home: Path) -> tuple[float, Facts]:
    """Seconds until the window was visible, and the rest."""
    environment = os.environ | {"DFLASH_HOME": str(home)}
    environment.setdefault("QT_QPA_PLATFORM", "offscreen")
    started = time.monotonic()
    child = subprocess.run(
        [sys.executable, "-m", "tests.perf.window_probe", str(SETTLE_SECONDS)],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        timeout=LONGEST_RUN_SECONDS,
        check=True,
    )
    facts = msgspec.json.decode(child.stdout.splitlines()[-1], type=Facts)
    return facts.visible_at - started, facts


def make_home(home: Path, *, fresh: bool) -> None:
    """A folder for the program, with the tests' starter pair in it unless it is to be fresh."""
    if not fresh:
        models = home / "data" / "models"
        models.parent.mkdir(parents=True)
        models.symlink_to(starter_paths().models_dir, target_is_directory=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--fresh", action="store_true", help="as on the very first start")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        make_home(home, fresh=args.fresh)
        start_once(home)
        runs = [start_once(home) for _ in range(args.runs)]
    seconds = [s for s, _ in runs]
    native = {name for _, f in runs for name in (*f.native_modules, *f.native_modules_later)}
    rows = [
        Measured("visible: best", min(seconds), "s"),
        Measured("visible: median", statistics.median(seconds), "s", bar=BAR_SECONDS),
        Measured("visible: worst", max(seconds), "s"),
        Measured("processor time until then", min(f.cpu_seconds for _, f in runs), "s"),
        Measured(
            "engine modules imported", len(native), "", bar=0, note=", ".join(sorted(native))
        ),
    ]
    return show("Start of the window", rows, as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
