"""A download through the fetch process, hashes included, against `hf download` without any.

Run: python -m tests.perf.download_throughput [--mb 600] [--files 4] [--rounds 5] [--json]

Both fetch the same files from the same local hub (in a process of its own), in turns, each into a
new folder and in a new process whose start counts. At the end: sha256 of one file against
`sha256sum`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from dflash_desktop.domain.transfer import RepoRequest
from dflash_desktop.services.fetch_process import fetch_events
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.fetch_messages import (
    FetchRepos,
    HubAccess,
    PlanRepos,
    ReposFetched,
    ReposPlanned,
)
from dflash_desktop.workers.stream_digest import StreamDigest, feed_file
from tests.perf.report import Measured, show

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflash_desktop.services.worker_launch import WorkerCommand

ROOT = Path(__file__).resolve().parents[2]
REPO_ID = "team/large-model"
DOWNLOAD_BAR = 0.95
HASH_BAR = 0.9


@contextmanager
def hub(folder: Path, *, files: int, file_bytes: int) -> Iterator[str]:
    """The address of a fake hub in another process."""
    description = folder / "hub.json"
    listed = [
        {"path": f"part {n}.bin", "random_bytes": file_bytes, "seed": n} for n in range(files)
    ]
    description.write_text(json.dumps({"repos": [{"repo_id": REPO_ID, "files": listed}]}))
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.fakes.fake_hub", str(description)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        yield str(json.loads(server.stdout.readline())["url"])
    finally:
        server.stdin.close()
        server.wait(30)


def by_hf(url: str, folder: Path) -> float:
    """Seconds that `hf download` takes."""
    environment = os.environ | {
        "HF_ENDPOINT": url,
        "HF_HOME": str(folder / "home"),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    }
    environment.pop("HF_HUB_OFFLINE", None)
    program = Path(sysconfig.get_path("scripts")) / "hf"
    began = time.perf_counter()
    subprocess.run(
        [program, "download", REPO_ID, "--local-dir", str(folder / "model")],
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - began


async def by_us(worker: WorkerCommand, url: str, folder: Path) -> float:
    """Seconds that plan and fetch take, each in its process."""
    access = HubAccess(endpoint=url)
    began = time.perf_counter()
    plan = PlanRepos(1, (RepoRequest(REPO_ID),), access, folder)
    planned = await answer(worker, plan)
    assert isinstance(planned, ReposPlanned)
    await answer(worker, FetchRepos(2, planned.plan.repos, access, folder))
    return time.perf_counter() - began


async def answer(
    worker: WorkerCommand, job: PlanRepos | FetchRepos
) -> ReposPlanned | ReposFetched:
    """What a new process answers in the end."""
    async with aclosing(fetch_events(worker, job)) as events:
        async for event in events:
            if isinstance(event, ReposPlanned | ReposFetched):
                return event
    raise RuntimeError("the download did not end")


def hash_seconds(file: Path) -> tuple[float, float]:
    """(ours, sha256sum's) for one file that is in the page cache."""
    size = file.stat().st_size
    began = time.perf_counter()
    digest = StreamDigest(size, wants_git=False)
    feed_file(digest, file, size, on_block=lambda: None)
    ours = digest.result().sha256
    middle = time.perf_counter()
    theirs = subprocess.run(["sha256sum", file], check=True, capture_output=True).stdout
    assert theirs.decode().split()[0] == ours
    return middle - began, time.perf_counter() - middle


def measure(args: argparse.Namespace) -> list[Measured]:
    file_bytes = args.mb * 1_000_000 // args.files
    ours: list[float] = []
    theirs: list[float] = []
    hashed: list[float] = []
    with tempfile.TemporaryDirectory(dir=args.dir) as made:
        folder = Path(made)
        worker = WorkerLauncher(log_dir=folder / "logs").fetch()
        with hub(folder, files=args.files, file_bytes=file_bytes) as url:
            for number in range(args.rounds + 1):  # the first one only warms up
                for name in ("us", "hf") if number % 2 else ("hf", "us"):
                    target = folder / f"{name}{number}"
                    target.mkdir()
                    if name == "us":
                        ours.append(asyncio.run(by_us(worker, url, target)))
                        file = next(target.rglob("part 0.bin"))
                        own, sum_seconds = hash_seconds(file)
                        hashed.append(sum_seconds / own)
                    else:
                        theirs.append(by_hf(url, target))
                    shutil.rmtree(target)
    ratios = [hf / us for hf, us in zip(theirs[1:], ours[1:], strict=True)]
    return [
        Measured("hf download", args.mb / statistics.median(theirs[1:]), "MB/s"),
        Measured("fetch process, verified", args.mb / statistics.median(ours[1:]), "MB/s"),
        Measured(
            "ratio, median of the rounds",
            statistics.median(ratios),
            "",
            bar=DOWNLOAD_BAR,
            more_is_better=True,
            note=f"{min(ratios):.2f} to {max(ratios):.2f}",
        ),
        Measured(
            "sha256 against sha256sum",
            statistics.median(hashed[1:]),
            "",
            bar=HASH_BAR,
            more_is_better=True,
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=600, help="size of the model, in MB")
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dir", type=Path, help="where to write (default: the temporary folder)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()
    return show("Throughput of a download", measure(args), as_json=args.json)


if __name__ == "__main__":
    sys.exit(main())
