"""Kills a program that downloads, again and again, and tells what that cost."""

from __future__ import annotations

import itertools
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflash_desktop.paths import AppPaths
from dflash_desktop.services.model_store import own_models
from dflash_desktop.workers.part_file import WRITTEN_BYTES
from tests.fakes.fake_hub import FakeHub, HubFile, HubRepo, serve

if TYPE_CHECKING:
    from pathlib import Path

REPO = "team/forty-files"
BLOCK_BYTES = 65_536
"""What the hub sends at once, and may have sent to a process that was gone."""


@dataclass(frozen=True)
class KilledDownload:
    """What came of it."""

    kills: int
    seconds: float
    is_identical: bool
    total_bytes: int
    sent_bytes: int
    most_again_bytes: int  # of one file after one kill
    continued_answers: int  # that began in the middle of a file
    left_over: tuple[str, ...]

    @property
    def allowed_again_bytes(self) -> int:
        """One chunk: what a process holds before it writes, and one block on the way."""
        return WRITTEN_BYTES + BLOCK_BYTES


def kill_again_and_again(
    folder: Path, *, files: int, total_bytes: int, kills: int, seconds: float, seed: int = 4
) -> KilledDownload:
    """Download `files` files of different sizes, killed `kills` times within about `seconds`."""
    moments = random.Random(seed)
    hub = FakeHub([_repo(files, total_bytes, seconds)])
    paths = AppPaths(*(folder / name for name in ("config", "data", "cache", "logs")))
    done_kills = 0
    started = time.monotonic()
    with serve(hub):
        for number in range(kills):
            process = _start(folder, hub.url)
            if number % 2:  # half of the moments count from the first byte: machines differ
                _wait_for_bytes(hub)
            try:
                process.communicate(timeout=moments.uniform(0.05, 2 * seconds / kills))
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                done_kills += 1
            else:
                break
        process = _start(folder, hub.url)
        _, error = process.communicate(timeout=300)
        took = time.monotonic() - started
        if process.returncode != 0:
            raise AssertionError(f"the last run ended with {process.returncode}: {error}")
    repo = hub.repos[0]
    (model,) = own_models(paths.models_dir)
    return KilledDownload(
        kills=done_kills,
        seconds=took,
        is_identical=all((model.path / f.path).read_bytes() == f.content for f in repo.files),
        total_bytes=sum(len(file.content) for file in repo.files),
        sent_bytes=sum(hub.sent_bytes(file.path) for file in repo.files),
        most_again_bytes=max(_most_again(hub, file) for file in repo.files),
        continued_answers=sum(
            bool(body.range_start) for file in repo.files for body in hub.bodies(file.path)
        ),
        left_over=tuple(p.name for p in (paths.incoming_dir / "transfers").iterdir()),
    )


def _repo(files: int, total_bytes: int, seconds: float) -> HubRepo:
    """Sizes from a few hundred bytes up; slow enough that it lasts about so long."""
    weights = [1.0 + (n % 8) ** 3 for n in range(files)]
    return HubRepo(
        REPO,
        [
            HubFile(
                f"part-{n:02d}.bin",
                random_bytes=max(300, int(total_bytes * weight / sum(weights))),
                seed=n,
                bytes_per_second=int(total_bytes / seconds / 4),  # four arrive side by side
            )
            for n, weight in enumerate(weights)
        ],
    )


def _start(home: Path, url: str) -> subprocess.Popen[str]:
    env = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    return subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.download_program", url, REPO],
        env=env | {"DFLASH_HOME": str(home)},
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def _wait_for_bytes(hub: FakeHub) -> None:
    deadline = time.monotonic() + 20.0
    while not hub.active and time.monotonic() < deadline:
        time.sleep(0.01)


def _most_again(hub: FakeHub, file: HubFile) -> int:
    """By how much an answer went beyond where the next one began."""
    answers = sorted(
        ((body.range_start or 0, body.sent_bytes) for body in hub.bodies(file.path)),
    )
    again = [
        start + sent - following[0] for (start, sent), following in itertools.pairwise(answers)
    ]
    return max(again, default=0)
