"""The real starter pair for tests: installed once into .cache/starter, then only looked up.

Tests that use the fixture `starter_pair` are marked `starter`. The installation runs before the
first test, since it may take longer than any test should, and waits if another run is at it.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import time
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflash_desktop.domain.problems import AppError
from dflash_desktop.domain.starter import StarterState
from dflash_desktop.paths import AppPaths, resources_dir
from dflash_desktop.services.engine import Engine
from dflash_desktop.services.starter import Starter
from dflash_desktop.services.worker_launch import WorkerLauncher

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import PairFolders

CACHE_DIR = Path(__file__).resolve().parent.parent / ".cache" / "starter"
WAIT_SECONDS = 900.0
POLL_SECONDS = 0.5

_problem = pytest.StashKey[str]()


def starter_paths() -> AppPaths:
    """Where the cached pair is, by what the program brings: other resources, another pair."""
    digest = hashlib.sha256()
    resources = resources_dir() / "starter"
    for path in (resources / "starter.json", *sorted((resources / "draft").iterdir())):
        digest.update(path.name.encode() + path.read_bytes())
    root = CACHE_DIR / digest.hexdigest()[:12]
    return AppPaths(root / "config", root / "data", root / "cache", root / "logs")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install the pair if a test that was collected needs it."""
    if session.config.option.collectonly:
        return
    if any("starter_pair" in getattr(item, "fixturenames", ()) for item in session.items):
        try:
            _ensure_installed(starter_paths())
        except AppError as error:
            problem = error.problem
            text = f"{problem.headline}\n{problem.advice}\n{problem.detail}"
            session.config.stash[_problem] = text


@pytest.fixture(scope="session")
def starter_pair(request: pytest.FixtureRequest) -> PairFolders:
    """The folders of the real starter pair, whole and checked; nobody may write to them."""
    problem = request.config.stash.get(_problem, "")
    if problem:
        pytest.fail(f"the starter pair could not be installed: {problem}", pytrace=False)
    starter, _ = _starter_and_engine(starter_paths())
    return starter.pair()


def _ensure_installed(paths: AppPaths) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            asyncio.run(_install(paths))
        except AppError as error:
            # Another run of the tests is at it.
            if error.problem.code != "starter_installing" or time.monotonic() > deadline:
                raise
        else:
            return
        time.sleep(POLL_SECONDS)


async def _install(paths: AppPaths) -> None:
    starter, engine = _starter_and_engine(paths)
    if starter.status().state is StarterState.READY:
        return
    for old in CACHE_DIR.glob("*"):
        if old != paths.data_dir.parent:
            shutil.rmtree(old, ignore_errors=True)
    try:
        async with aclosing(starter.install()) as steps:
            async for _ in steps:
                pass
    finally:
        await engine.stop()


def _starter_and_engine(paths: AppPaths) -> tuple[Starter, Engine]:
    launcher = WorkerLauncher(log_dir=paths.log_dir)
    engine = Engine(launcher=launcher)
    return Starter(paths=paths, launcher=launcher, engine=engine), engine
