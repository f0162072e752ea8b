"""Real export environments for tests: installed once into .cache/exporters, then looked up.

A test that uses `export_python` is marked `export` and asks with `@pytest.mark.export("ID")` for
other environments than the first. They are made before the first test, in a few seconds each, and
wait if another run is at it.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from dflash_desktop.domain.problems import AppError
from dflash_desktop.paths import AppPaths
from dflash_desktop.services.export_environments import ExportEnvironments

CACHE_DIR = (Path(__file__).resolve().parent.parent / ".cache").resolve() / "exporters"
DEFAULT_ID = "transformers-5.5"
WAIT_SECONDS = 900.0
POLL_SECONDS = 0.5

_problem = pytest.StashKey[str]()


def cached_environments() -> ExportEnvironments:
    """Those that tests share; nobody may change them."""
    return ExportEnvironments(paths=cached_paths())


def cached_paths() -> AppPaths:
    """Where they are."""
    root = CACHE_DIR
    return AppPaths(root / "config", root / "data", root / "cache", root / "logs")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Install what the tests that were collected need."""
    if session.config.option.collectonly:
        return
    needed = {
        environment_id
        for item in session.items
        if "export_python" in getattr(item, "fixturenames", ())
        for environment_id in _ids(item)
    }
    try:
        for environment_id in sorted(needed):
            _ensure_installed(environment_id)
    except AppError as error:
        problem = error.problem
        text = f"{problem.headline}\n{problem.advice}\n{problem.detail}"
        session.config.stash[_problem] = text


@pytest.fixture
def export_python(request: pytest.FixtureRequest) -> Path:
    """The interpreter of a real export environment; nobody may install anything into it."""
    problem = request.config.stash.get(_problem, "")
    if problem:
        pytest.fail(f"no export environment could be installed: {problem}", pytrace=False)
    assert isinstance(request.node, pytest.Item)
    return cached_environments().python(_ids(request.node)[0])


def _ids(item: pytest.Item) -> tuple[str, ...]:
    marker = item.get_closest_marker("export")
    assert marker is not None, "mark it: @pytest.mark.export"
    return marker.args or (DEFAULT_ID,)


def _ensure_installed(environment_id: str) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            asyncio.run(cached_environments().install(environment_id))
        except AppError as error:
            # Another run of the tests is at it.
            if error.problem.code != "export_installing" or time.monotonic() > deadline:
                raise
        else:
            return
        time.sleep(POLL_SECONDS)
