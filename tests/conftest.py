"""Guards around every test, and the fixtures that all of them share.

Works with and without Qt: where PySide6 is not installed, what needs it is not collected.
"""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import logging
import os
import sys
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.fakes.ir_models import ModelFiles, write_draft, write_target
from tests.guards import LeakWatch, UnexpectedLogs, no_network

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from _pytest.fixtures import SubRequest

# Importing openvino_genai reports the import to its maker; a None here makes that import fail.
sys.modules["openvino_telemetry"] = None  # type: ignore[assignment]  # documented use of None
# No test needs a screen; a person who wants to watch sets another platform.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

pytest_plugins = ["tests.starter_fixture", "tests.export_environment_fixture"]

HAS_QT = importlib.util.find_spec("PySide6") is not None
collect_ignore = [] if HAS_QT else ["app", "ui"]

_leaks = LeakWatch()


def pytest_configure(config: pytest.Config) -> None:
    """Announce the marker that only these guards read."""
    config.addinivalue_line(
        "markers",
        "expects_log(*patterns): warnings and errors that the test provokes in the program's log; "
        "each regular expression must match at least one",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the task guard around all other fixtures of coroutine tests."""
    for item in items:
        if isinstance(item, pytest.Function) and inspect.iscoroutinefunction(item.obj):
            item.fixturenames.insert(0, "_no_leaked_tasks")


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    with no_network(), _leaks.recording():
        yield


@pytest.fixture(autouse=True)
def _own_home(
    request: SubRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each test has an empty home folder, and its children stay off the network."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("DFLASH_HOME", str(home / "dflash"))
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    # Where windows listen for later starts; sockets need a short path.
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(home))
    if request.node.get_closest_marker("starter") is None:
        monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


@pytest.fixture(autouse=True)
def _no_leaks() -> Iterator[None]:
    threads, processes = _leaks.threads(), _leaks.processes()
    yield
    left = _leaks.left_processes(processes) + _leaks.left_threads(threads)
    if left:
        pytest.fail("the test left behind:\n" + "\n".join(left), pytrace=False)


@pytest.fixture(autouse=True)
def _no_unexpected_logs(request: SubRequest) -> Iterator[None]:
    marks = request.node.iter_markers("expects_log")
    handler = UnexpectedLogs([pattern for mark in marks for pattern in mark.args])
    logger = logging.getLogger("dflash_desktop")
    logger.addHandler(handler)
    yield
    logger.removeHandler(handler)
    if handler.unexpected:
        pytest.fail("unexpected in the log:\n" + "\n".join(handler.unexpected), pytrace=False)
    if handler.missing:
        pytest.fail(f"announced, but not in the log: {handler.missing}", pytrace=False)


@pytest_asyncio.fixture
async def _no_leaked_tasks() -> AsyncIterator[None]:
    _leaks.remember_tasks_of(asyncio.get_running_loop())
    yield
    # Tasks that were cancelled, or wait for nothing more, need a turn of the loop to end.
    for _ in range(5):
        await asyncio.sleep(0)
    left = _leaks.left_tasks()
    if left:
        pytest.fail("the test left behind:\n" + "\n".join(left), pytrace=False)


@pytest.fixture
def target(tmp_path: Path) -> ModelFiles:
    """A small target that the contract finds good, to be damaged."""
    return write_target(tmp_path / "target")


@pytest.fixture
def draft(tmp_path: Path) -> ModelFiles:
    """Its draft."""
    return write_draft(tmp_path / "draft")
